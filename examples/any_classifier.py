"""
Any classifier of letters, and a chain over what it says
========================================================

A classifier reads letters one at a time. Its scores are rows of numbers, and a tagger
over these rows learns what letter follows what, and how much to believe the classifier.
The scores that the tagger learns from are those of classifiers which have not seen the
word: ``TokenPredictions`` trains one for each part of the words.

The pictures are those of R. Kassel's hand-written words (``ocr/ocr_letters.npz`` in the
folder ``SKSTRUCT_DATA``): one of ten parts to learn from, the others to read. Only 55
different words occur, so that a model which looks two letters back reads that well.
Where they are absent, words are put together from the digits that come with
scikit-learn: 40 codes of five digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from _study import DATA, no_options, table
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skstruct import SequenceMatrix, StructuredPerceptron
from skstruct.features import SequenceUnion, TokenPredictions, TokenTransformer

TREES = 100

no_options(__doc__)


# %%
# Words as rows of pixels
# -----------------------
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
right = np.concatenate([np.array(labels) for labels in y_test])
print(f"{len(X_train)} words to learn from, {len(X_test)} to read")

# %%
# Four classifiers, alone and under a chain
# -----------------------------------------
# In a pipeline this is ``make_pipeline(TokenPredictions(classifier),
# StructuredPerceptron())``. Here the scores are made once for two taggers.

classifiers = {
    "naive Bayes": make_pipeline(MinMaxScaler(), BernoulliNB(binarize=0.5)),
    "logistic regression": make_pipeline(
        MinMaxScaler(), LogisticRegression(max_iter=200)
    ),
    "nearest neighbours": KNeighborsClassifier(5, weights="distance"),
    "extra trees": ExtraTreesClassifier(TREES, random_state=0),
}
accuracy, read = {}, {}
for name, classifier in classifiers.items():
    predictions = TokenPredictions(classifier)
    scores = predictions.fit_transform(
        X_train, y_train
    )  # of each word by a classifier that has not seen it
    test = predictions.transform(X_test)
    found = [predictions.classes_[test.matrix.argmax(axis=1)].tolist()]
    for order in (1, 2):
        tagger = StructuredPerceptron(order=order, random_state=0).fit(scores, y_train)
        found.append(test.column(tagger.predict(test)))
    accuracy[name] = [np.mean(np.array(labels) == right) for labels in found]
    read[name] = [test.split(labels) for labels in found]
table(
    ["classifier", "alone", "chain", "order 2"],
    [
        [name, *(f"{share:.4f}" for share in shares)]
        for name, shares in accuracy.items()
    ],
)

# %%
# With the pixels besides
# -----------------------
# Scores of two classifiers, and the pixels themselves, side by side: the steps of a
# pipeline are transformers of sequences, and a union of them is one too.

union = SequenceUnion(
    [
        ("trees", TokenPredictions(classifiers["extra trees"])),
        ("neighbours", TokenPredictions(classifiers["nearest neighbours"])),
        ("pixels", TokenTransformer(MinMaxScaler())),
    ]
)
pipeline = make_pipeline(union, StructuredPerceptron(random_state=0)).fit(
    X_train, y_train
)
print(
    f"\nchain over two classifiers and the pixels: {pipeline.score(X_test, y_test):.4f}"
)

# %%
# A word, letter by letter
# ------------------------

alone, _, second = read["extra trees"]
better = {"".join(q): i for i, q in enumerate(y_test) if alone[i] != q == second[i]}
better = list(better.values())  # different words
for i in better[:3]:
    print(f"{''.join(alone[i]):>14} by letters, {''.join(y_test[i])} by words")

figure, (points, picture, heat) = plt.subplots(
    3, 1, figsize=(7, 9), height_ratios=[3, 1, 3]
)
places = np.arange(len(accuracy))
for k, name in enumerate(("alone", "chain", "order 2")):
    points.plot(
        places,
        [shares[k] for shares in accuracy.values()],
        "o",
        label=name,
    )
points.set_xticks(places, list(accuracy))
points.set_ylabel("letters right")
points.legend()
i = better[0]
picture.imshow(
    np.hstack([row.reshape(shape) for row in X_test[i]]), cmap="binary", aspect="equal"
)
picture.set_title(
    f"by letters: {''.join(alone[i])}   by words: {''.join(second[i])}", fontsize=9
)
picture.set_axis_off()
heat.imshow(np.exp(np.asarray(test[i])).T, cmap="Blues", aspect="auto")
heat.set_yticks(range(len(predictions.classes_)), predictions.classes_, fontsize=6)
heat.set_xticks(range(len(y_test[i])), y_test[i])
heat.set_title("probabilities of the extra trees", fontsize=9)
figure.tight_layout()
plt.show()
