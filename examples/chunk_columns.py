"""
Chunks from the columns of a table
==================================

A corpus is a data frame with one row a token: the sentence it belongs to, its form, its
part of speech, and its label. There are two ways to learn from it. Taggers give columns
of strings to templates and take columns of numbers as rows. Or a ``ColumnTransformer``
says what becomes of each column, as for any table, and a tagger learns from the rows
that it makes, and from those of the neighbours.

The corpus is that of CoNLL-2000 (``conll2000`` in the folder ``SKSTRUCT_DATA``), or 162
embedded sentences.
"""

import matplotlib.pyplot as plt
import pandas
from _study import DATA, no_options, table
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skstruct import NumericFeatures, SequenceMatrix, StructuredPerceptron
from skstruct.datasets import load_chunking, read_columns
from skstruct.features import TokenTransformer
from skstruct.metrics import segment_f1_score

SENTENCES = 4000
"""To learn from."""

no_options(__doc__)


# %%
# One row a token
# ---------------
def as_frame(sentences, labels):
    """The corpus as people keep it in a table."""
    rows = [
        (k, form, tag, label)
        for k, (sentence, chunks) in enumerate(zip(sentences, labels))
        for (form, tag), label in zip(sentence, chunks)
    ]
    df = pandas.DataFrame(rows, columns=["sentence", "form", "tag", "chunk"])
    return df.assign(length=df.form.str.len(), upper=df.form.str[0].str.isupper())


def conll2000(part):
    rows = read_columns(DATA / "conll2000" / f"{part}.txt")
    return [[t[:2] for t in s] for s in rows], [[t[2] for t in s] for s in rows]


if (DATA / "conll2000").exists():
    learn, test = conll2000("train"), conll2000("test")
else:
    X, y = load_chunking()
    learn, test = (X[:120], y[:120]), (X[120:], y[120:])
learn_df, test_df = as_frame(*(part[:SENTENCES] for part in learn)), as_frame(*test)
X, y = SequenceMatrix.from_frame(learn_df, "sentence", label="chunk")
X_test, y_test = SequenceMatrix.from_frame(test_df, "sentence", label="chunk")
print(learn_df.head(4).to_string(index=False))

# %%
# What becomes of each column
# ---------------------------
# Names are those of the table. ``NumericFeatures(window=(-1, 1))`` makes the columns of
# both neighbours features too.

letters = HashingVectorizer(
    analyzer="char_wb",
    ngram_range=(1, 4),
    n_features=2**18,
    norm=None,
    binary=True,
    lowercase=False,
)
parts = {
    "form": ("form", OneHotEncoder(handle_unknown="ignore"), ["form"]),
    "letters": ("letters", letters, "form"),
    "tag": ("tag", OneHotEncoder(handle_unknown="ignore"), ["tag"]),
}


def pipeline(names):
    columns = ColumnTransformer([parts[name] for name in names])
    tagger = StructuredPerceptron(NumericFeatures(window=(-1, 1)), random_state=0)
    return make_pipeline(TokenTransformer(columns), tagger)


models = {
    "form": pipeline(["form"]),
    "form, letters": pipeline(["form", "letters"]),
    "tag": pipeline(["tag"]),
    "form, tag": pipeline(["form", "tag"]),
    "form, letters, tag": pipeline(["form", "letters", "tag"]),
    "templates and numbers": StructuredPerceptron("chunk", random_state=0),
}
f1, found = {}, None
for name, model in models.items():
    found = model.fit(X, y).predict(X_test)
    f1[name] = segment_f1_score(y_test, found, scheme="BIO")
table(["columns", "F1"], [[name, f"{value:.4f}"] for name, value in f1.items()])

# %%
# Predictions as a column
# -----------------------

done = test_df.assign(found=X_test.column(found))
print()
print(
    done[done.chunk != done.found]
    .head(4)[["form", "tag", "chunk", "found"]]
    .to_string(index=False)
)

figure, axis = plt.subplots(figsize=(7, 3.2))
names, scores = list(f1)[::-1], list(f1.values())[::-1]
axis.scatter(scores, names, color=["tab:orange", *["tab:blue"] * (len(names) - 1)])
axis.grid(axis="y", linewidth=0.3)
axis.set_xlim(min(f1.values()) - 0.05, 1.0)
axis.set_xlabel("F1 of chunks")
for place, value in enumerate(scores):
    axis.text(value + 0.004, place, f"{value:.3f}", va="center", fontsize=8)
figure.tight_layout()
plt.show()
