"""
A trained model of CRFsuite
===========================

Somebody has trained an address parser with sklearn-crfsuite; only the model file is
there. It is loaded, asked why it labels an address as it does, taught a kind of address
that it has never seen, and written back for programs that have CRFsuite only. The file
itself is made here first, from a few made-up addresses.
"""

# %%
# The model
# ---------
# Addresses, and the features of their words: a dict for each word, with the neighbours
# nested in it.

import itertools
import pathlib
import tempfile

import matplotlib.pyplot as plt

from skstruct import L1CRF
from skstruct.inspection import TransitionDisplay, explain, feature_weights
from skstruct.interchange import load_crfsuite, save_crfsuite
from skstruct.metrics import token_accuracy_score


def look_of(word):
    """Features of a word alone."""
    return {
        "word": word.lower().strip(",."),
        "digits": str(len(word)) if word.isdigit() else False,
        "comma": word.endswith(","),
        "upper": word.isupper() and word.isalpha(),
    }


def features(words):
    """Features of each word of an address."""
    looks = [look_of(word) for word in words]
    tokens = [dict(look) for look in looks]
    for t, token in enumerate(tokens):
        token["bias"] = 1.0
        if t:
            token["previous"] = looks[t - 1]
        if t + 1 < len(looks):
            token["next"] = looks[t + 1]
    return tokens


def addresses(streets, kinds, cities):
    """Addresses as words, and their labels."""
    X, y = [], []
    for n, (street, kind, (city, state)) in enumerate(
        itertools.product(streets, kinds, cities)
    ):
        number, code = str(17 * n % 900 + 10), str(10000 + 731 * n % 80000)
        X.append([number, street, f"{kind},", f"{city},", state, code])
        y.append(["Number", "Street", "Kind", "Place", "State", "Zip"])
    return X, y


X, y = addresses(
    ["Maple", "Second", "Lincoln", "Lake"],
    ["Street", "Ave.", "Road"],
    [("Springfield", "IL"), ("Salem", "OR"), ("Dover", "DE")],
)
folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name, "addresses.crfsuite")
save_crfsuite(L1CRF(c1=0.05, random_state=0).fit([features(x) for x in X], y), path)

# %%
# Loading it
# ----------
# ``load_crfsuite`` reads a model file, a pickled ``sklearn_crfsuite.CRF`` (without
# running its code), or such an object. What comes back is a fitted ``L1CRF``.

crf = load_crfsuite(path)
print(f"{path.name}: {len(crf.classes_)} labels, {crf.n_features()} attributes")
for name, label, weight in feature_weights(crf, top=3):
    print(f"  {weight:+.2f}  {name} -> {label}")
TransitionDisplay.from_estimator(crf)
plt.show()

# %%
# Why?
# ----
# It has never seen a post-office box. What it says about one, and from which features,
# word by word:

box = ["PO", "Box", "114,", "Salem,", "OR", "97301"]
truth = ["BoxType", "BoxType", "Box", "Place", "State", "Zip"]
explanation = explain(crf, features(box))
print(explanation.describe(2))

# %%
# Training on
# -----------
# ``warm_start`` begins with the weights of the file. ``fit`` then fits the data that it
# is given: what this data does not show is forgotten. The old training data is not
# there, but addresses without labels are, and the model itself labels them.

unlabelled, _ = addresses(
    ["Oak", "Lake", "First"], ["Street", "Road"], [("Salem", "OR"), ("Dover", "DE")]
)
X_old = [features(x) for x in unlabelled]
boxes = [["PO", "Box", f"{n},", *place] for n, place in enumerate([
    ("Dover,", "DE", "19901"), ("Springfield,", "IL", "62701"), ("Salem,", "OR", "97302"),
], start=31)]  # fmt: skip
X_new = [features(x) for x in boxes]

crf.set_params(warm_start=True, c1=0.05, random_state=0)
crf.fit([*X_old, *X_new], [*crf.predict(X_old), *([truth] * len(X_new))])
print("after training:", " ".join(crf.predict([features(box)])[0]))
accuracy = token_accuracy_score(y, crf.predict([features(x) for x in X]))
print(f"on the addresses of the first training: {accuracy:.4f}")

# %%
# Back
# ----
# CRFsuite reads the file as one of its own.

save_crfsuite(crf, path)
again = load_crfsuite(path)
print("labels:", ", ".join(again.classes_))
print("the same from the file:", again.predict([features(box)]) == [truth])
folder.cleanup()
