"""
A promised recall, and corpora that annotate different types
============================================================

Who has to find every name in a text, to hide them say, needs more than the best guess:
a set of spans that holds 95 % of the true ones. And two corpora often annotate
different things. The texts here are made up by patterns, in which a surname may be a
person, a place or a firm.
"""

# %%
# Texts
# -----
import random

import matplotlib.pyplot as plt

from skstruct import L1CRF, PartialSpans, SpanSets, SpanTagger
from skstruct.metrics import span_f1_score

NAMES = "Alder Brandt Costa Dunne Engel Fischer Grant Haas Ivers Jansen Keller Lind Moran Okoye Paris".split()
PATTERNS = (
    "{PER} works for {ORG} in {LOC}.",
    "The train from {LOC} to {LOC} was late, said {PER}.",
    "{ORG} and {ORG} want to build in {LOC}.",
    "We have heard of {PER} again.",
    "We have heard of {LOC} again.",
    "We have heard of {ORG} again.",
    "It rained all Monday.",
)


def make_text(draw):
    """A text and its spans."""
    text, spans = "", []
    for part in draw.choice(PATTERNS).replace("}", "{").split("{"):
        start = len(text)
        text += draw.choice(NAMES) if part in ("PER", "ORG", "LOC") else part
        if part in ("PER", "ORG", "LOC"):
            spans.append((start, len(text), part))
    return text, spans


draw = random.Random(0)
X, y = map(list, zip(*[make_text(draw) for _ in range(600)]))
X, X_test, y, y_test = X[:300], X[300:], y[:300], y[300:]

# %%
# Sets with a promised recall
# ---------------------------
# Where a sentence leaves open what a name is, the set offers all that it may be. The
# promise is a mean over texts.


def recall(found):
    """Share of the true spans that are found, by text; on average."""
    shares = [
        sum(span in spans for span in true) / len(true)
        for spans, true in zip(found, y_test)
        if true
    ]
    return sum(shares) / len(shares)


tagger = SpanTagger(L1CRF(c1=0.1, c2=0.1, random_state=0))
sets = SpanSets(tagger, recall=0.95, precision=0.9).fit(X, y)
offered = [[span for span, _ in spans] for spans in sets.predict_sets(X_test)]
n_true, n_offered = sum(map(len, y_test)), sum(map(len, offered))
print(f"The best spans hold {recall(sets.predict(X_test)):.1%} of the true ones")
print(
    f"Sets hold {recall(offered):.1%}, with {n_offered / n_true:.2f} spans for each true one"
)
unclear = "We have heard of Paris again."
for span, p in sets.predict_sets([unclear])[0]:
    print(f"  {unclear[span.start : span.end]} {span.label} {p:.2f}")

# %%
# Spans that are sure
# -------------------

sure = sets.predict_sure(X_test)
right = sum(span in true for spans, true in zip(sure, y_test) for span in spans)
n_sure = sum(map(len, sure))
print(f"{n_sure} spans are sure: {right / n_sure:.1%} of them are right")

# %%
# Two corpora
# -----------
# One annotates persons, the other places and firms. Read as they are, each says that
# what it does not annotate is nothing; :class:`~skstruct.PartialSpans` says what is
# annotated.

kinds = {"PER"}, {"LOC", "ORG"}
halves = [
    [[span for span in spans if span[2] in kind] for spans in y[k::2]]
    for k, kind in enumerate(kinds)
]
texts = X[::2] + X[1::2]
partial = [
    PartialSpans(spans, kind) for half, kind in zip(halves, kinds) for spans in half
]
for name, spans in ("as they are", halves[0] + halves[1]), ("as annotated", partial):
    score = span_f1_score(y_test, tagger.fit(texts, spans).predict(X_test))
    print(f"Two corpora {name}: F1 {score:.3f}")

# %%
# A higher promise
# ----------------
# What a set costs: spans offered for each true one, and the recall that they reach.

promises = 0.8, 0.9, 0.95, 0.98
reached, cost = [], []
for promise in promises:
    sets = SpanSets(tagger, recall=promise, precision=0.9).fit(X, y)
    offered = [[span for span, _ in spans] for spans in sets.predict_sets(X_test)]
    reached.append(recall(offered))
    cost.append(sum(map(len, offered)) / n_true)
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(cost, reached, marker="o", label="sets")
for promise, x, height in zip(promises, cost, reached):
    axis.annotate(f" promised {promise:.0%}", (x, height), fontsize=8)
axis.set(xlabel="spans offered for each true one", ylabel="recall on new texts")
plt.show()
