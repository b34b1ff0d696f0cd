"""
A model without the package
===========================

A fitted tagger becomes one file of Python, and one of JavaScript, that need nothing
else: no numpy, no environment of 400 MB. Labels and scores are those of the model, to
the last bit.
"""

# %%
# A tagger, written
# -----------------
# The report compares the file with the model on sentences that we give.
import importlib.util
import os
import tempfile

import matplotlib.pyplot as plt

from skstruct import L1CRF
from skstruct.datasets import load_chunking
from skstruct.interchange import export

X, y = load_chunking()
tagger = L1CRF("chunk", c1=0.1, constraints="BIO", random_state=0).fit(X[:120], y[:120])
folder = tempfile.mkdtemp()
path = os.path.join(folder, "tagger.py")
report = export(tagger, path, check=X[120:])
print("\n".join(str(report).splitlines()[1:]))

# %%
# The file, run
# -------------
# Any Python from 3.8 on imports it; here we do, as if it were the program of somebody
# else.
spec = importlib.util.spec_from_file_location("tagger", path)
file = importlib.util.module_from_spec(spec)
spec.loader.exec_module(file)
sentence = X[120]
print("Same labels:", file.predict([sentence]) == tagger.predict([sentence]))
print(
    "Same score:",
    file.decision_function([sentence]) == tagger.decision_function([sentence]).tolist(),
)

# %%
# Why a token has its label: what tells it from the runner-up.
token = file.explain(sentence)[1]
print(
    f"{token['token'][0]}: {token['label']}, not {token['runner_up']} by {token['margin']:+.2f}"
)
reasons = [(name, mine - other) for name, mine, other in token["features"]]
reasons = sorted(reasons, key=lambda reason: -abs(reason[1]))[:8]
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
names, amounts = zip(*reasons[::-1])
axis.barh(names, amounts, color=["tab:red" if a < 0 else "tab:blue" for a in amounts])
axis.axvline(0, color="black", linewidth=0.8)
axis.set_xlabel(f"for {token['label']} and against {token['runner_up']}")
plt.show()

# %%
# Other files
# -----------
# JavaScript for Node and browsers, with smaller weights; and a page, which works
# offline.
for name in ("tagger.js", "tagger.html"):
    report = export(
        tagger,
        os.path.join(folder, name),
        weights="int16",
        check=X[120:],
        title="Chunks",
    )
    print(
        f"{name}: {report.n_bytes / 1000:.0f} kB, {report.n_sequences_differ} sentences otherwise"
    )
