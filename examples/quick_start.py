"""
Quick start
===========

The main things in one script: segmenting Chinese text into words, chunking English
sentences, constraints, forced labels, the k best labellings, and saving a model.

The corpora are the small samples that come with the package, so that the script runs
anywhere in seconds. They are too small for claims about accuracy.
"""

# %%
# Word segmentation
# -----------------
# A :class:`~skstruct.Segmenter` takes raw text and gives lists of words. Inside of it
# is a tagger of characters, here a structured perceptron with the seven features of the
# preset ``"char"``.

import os
import tempfile

import matplotlib.pyplot as plt

import skstruct
from skstruct import Segmenter, StructuredPerceptron
from skstruct.datasets import load_chunking, load_segmentation
from skstruct.inspection import LabelConfusionDisplay
from skstruct.metrics import segment_f1_score, segment_report

X, y = load_segmentation()  # texts, and the words of each
segmenter = Segmenter(StructuredPerceptron(features="char", random_state=0))
segmenter.fit(X[:120], y[:120])
print("Words of a new text:")
print("  " + " | ".join(segmenter.predict(["他在北京大学图书馆看书。"])[0]))
print(f"Word F1 on held-out sentences: {segmenter.score(X[120:], y[120:]):.3f}\n")

# %%
# Chunking
# --------
# A tagger takes sequences of tokens, here of (form, part of speech), and gives one
# label for each token. ``features="chunk"`` names a set of templates over both columns;
# a list of your own templates, a CRF++ template file, or ready-made features as dicts
# would do as well.

X, y = load_chunking()
X_train, y_train, X_test, y_test = X[:120], y[:120], X[120:], y[120:]
chunker = StructuredPerceptron(features="chunk", random_state=0)
predicted = chunker.fit(X_train, y_train).predict(X_test)
print(segment_report(y_test, predicted), "\n")

# %%
# Constraints
# -----------
# An I-NP can only follow B-NP or I-NP. With ``constraints="BIO"`` neither training nor
# prediction considers anything else.

constrained = StructuredPerceptron(features="chunk", constraints="BIO", random_state=0)
predicted = constrained.fit(X_train, y_train).predict(X_test)
print(
    f"Segment F1 under constraints: {segment_f1_score(y_test, predicted, scheme='BIO'):.3f}\n"
)
LabelConfusionDisplay.from_predictions(y_test, predicted, errors_only=True)
plt.show()

# %%
# The k best, and how sure the model is
# -------------------------------------
# Scores compare the labellings of one sentence with each other.

sentence = X_test[1]
print("The three best labellings of:", " ".join(form for form, _ in sentence))
for labels, score in constrained.predict_kbest([sentence], k=3)[0]:
    print(f"  {score:8.2f}  {' '.join(labels)}")

# %%
# Forced labels
# -------------
# ``allowed`` says, token by token, what you already know: None for nothing, a label, or
# several labels to choose from. The best labelling that agrees with it is found, so the
# neighbours may change too.

best = constrained.predict([sentence])[0]
position = best.index("I-NP")
allowed = [None] * len(sentence)
allowed[position] = {"B-NP", "O"}
print(f"\nThe best one in which {sentence[position][0]!r} is not inside of a phrase:")
print(
    f"            {' '.join(constrained.predict([sentence], allowed=[allowed])[0])}\n"
)

# %%
# Saving and loading
# ------------------
# One file, without code in it: loading a model from a stranger cannot run anything.

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "chunker.skstruct")
    constrained.save(path)
    loaded = skstruct.load(path)
    print(f"Saved and loaded: {loaded}")
    print(f"Same predictions: {loaded.predict(X_test) == predicted}")
