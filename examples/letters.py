"""
Letters read with and without structure
=======================================

A word is a sequence of pictures, a picture is a row of pixels. Reading each letter by
itself is classification; reading words is a chain, in which a letter that is hard to
read is helped by its neighbours.

The pictures are those of R. Kassel's hand-written words, 128 pixels each, in the ten
parts that B. Taskar made of them (``ocr/ocr_letters.npz`` in the folder
``SKSTRUCT_DATA``). Only 55 different words occur, and a model that looks two letters
back learns them. Where they are absent, words are put together from the digits that
come with scikit-learn: 40 codes of five digits.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from _study import DATA, no_options, table
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import L1CRF, NumericFeatures, SequenceMatrix, StructuredPerceptron
from skstruct.features import TokenTransformer

no_options(__doc__)

# %%
# Words as rows
# -------------
# A ``SequenceMatrix`` holds the rows of all tokens, and where sequences end.


def kassel():
    """(X, y, shape of a picture, which words are for training) of the hand-written
    words.
    """
    data = np.load(DATA / "ocr" / "ocr_letters.npz")
    X = SequenceMatrix(np.unpackbits(data["pixels"], axis=1)[:, :128], data["length"])
    return (
        X,
        X.split([chr(97 + label) for label in data["label"].tolist()]),
        (16, 8),
        data["fold"] == 0,
    )


def codes():
    """The same of codes put together from digits."""
    rng = np.random.default_rng(0)
    pictures, digits = load_digits(return_X_y=True)
    words = rng.integers(0, 10, (40, 5))[rng.integers(0, 40, 600)]
    noisy = np.concatenate(
        [pictures[rng.choice(np.flatnonzero(digits == d), 1)] for d in words.ravel()]
    )
    X = SequenceMatrix(noisy + rng.normal(0, 6, noisy.shape), [5] * 600)
    return X, X.split([str(d) for d in words.ravel()]), (8, 8), np.arange(600) < 150


X, y, shape, train = kassel() if (DATA / "ocr").exists() else codes()
X_train, X_test = X[train], X[~train]
y_train, y_test = (
    [labels for labels, use in zip(y, which) if use] for which in (train, ~train)
)
print(f"{len(X_train)} words to learn from, {len(X_test)} to read")

# %%
# One letter at a time, a chain, and a chain that looks two letters back
# ----------------------------------------------------------------------
# ``NumericFeatures()`` is what ``features="auto"`` means for rows of numbers. The
# perceptrons scale them by themselves; columns in different units would have to be
# standardised first, as in the pipeline below.

flat = np.concatenate([np.array(labels) for labels in y_train])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    classifier = LogisticRegression(max_iter=300).fit(X_train.matrix, flat)
models = {
    "perceptron": StructuredPerceptron(random_state=0),
    "standardised": make_pipeline(
        TokenTransformer(StandardScaler()), StructuredPerceptron(random_state=0)
    ),
    "CRF": L1CRF(NumericFeatures(), c1=0.01, c2=1.0, random_state=0),
    "order 2": StructuredPerceptron(order=2, random_state=0),
}
read = {"letter by letter": X_test.split(classifier.predict(X_test.matrix).tolist())}
for name, model in models.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        read[name] = model.fit(X_train, y_train).predict(X_test)

rows = []
for name, found in read.items():
    pairs = [(a, b) for p, q in zip(found, y_test) for a, b in zip(p, q)]
    right = np.mean([a == b for a, b in pairs])
    whole = np.mean([list(p) == list(q) for p, q in zip(found, y_test)])
    rows.append([name, f"{right:.4f}", f"{whole:.4f}"])
table(["model", "letters right", "words right"], rows)

# %%
# Where the chain helps
# ---------------------

alone, chained = read["letter by letter"], read["order 2"]
better = {
    "".join(q): i
    for i, q in enumerate(y_test)
    if list(alone[i]) != q == list(chained[i])
}
better = list(better.values())[:5]  # five different words
for i in better:
    print(f"{''.join(alone[i]):>14} by letters, {''.join(y_test[i])} by words")

figure, axes = plt.subplots(5, 1, figsize=(7, 8))
for axis, i in zip(axes, better):
    pictures = np.hstack([row.reshape(shape) for row in X_test[i]])
    axis.imshow(pictures, cmap="binary", aspect="equal")
    names = [
        f"{name}: {''.join(read[name][i])}"
        for name in ("letter by letter", "perceptron", "order 2")
    ]
    axis.set_title("   ".join(names), fontsize=9)
    axis.set_axis_off()
figure.tight_layout()
plt.show()
