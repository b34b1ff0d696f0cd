"""
Annotate, train, correct
========================

Texts are annotated in a tool, a model learns from them, and the tool shows its
predictions for more texts, which a person only has to correct. This script goes round
that loop once, with the files of Label Studio. The texts are made up by patterns, so
that we know what a careful person would mark; real ones are harder.
"""

# %%
# Texts, and what is right
# ------------------------
# Spans are (start, end, label), in characters. Half of the texts begin with an emoji,
# which Label Studio counts as two characters; the readers and writers of the package
# convert.
import json
import os
import random
import tempfile

import matplotlib.pyplot as plt

from skstruct import CalibratedTagger, SpanTagger, StructuredPerceptron
from skstruct.datasets import read_spans, write_spans
from skstruct.inspection import render
from skstruct.metrics import span_report

FIRST = (
    "Ada Boris Chen Dora Emil Farah Gita Hugo Ines Jun Kofi Lena Marco Nora Omar Pia Rosa Sven Tara Yusuf"
).split()
LAST = "Alder Brandt Costa Dunne Engel Fischer Grant Haas Ivers Jansen Keller Lind Moran Novak Okoye".split()
CITY = "Bergen Cairo Delft Essen Faro Ghent Hanoi Jena Kyoto Lagos Lyon Malmö Oulu Porto Quito Riga".split()
FIRM = (
    "Northgate Bluefin Carbonet Deltaworks Evermore Fontline Greenleaf Highmark".split()
)
PATTERNS = (
    "{PER} works for {ORG} in {LOC}.",
    "On Monday {PER} met {PER} at the station of {LOC}.",
    "{ORG} opens an office in {LOC}, says {PER}.",
    "Did {PER} call {ORG} about the invoice?",
    "The train from {LOC} to {LOC} was late again.",
    "{ORG} and {ORG} want to build in {LOC}.",
    "Please send the keys to {PER}, {LOC}.",
)


def name(label, draw):
    if label == "PER":
        return draw.choice(FIRST) + (
            " " + draw.choice(LAST) if draw.random() < 0.6 else ""
        )
    if label == "LOC":
        return draw.choice(CITY)
    return draw.choice(FIRM if draw.random() < 0.5 else LAST) + draw.choice(
        (" Bank", " & Co", " Ltd", "")
    )


def make_text(draw):
    """A text and its spans."""
    text, spans = draw.choice(("", "🚂 ")), []
    for part in draw.choice(PATTERNS).replace("}", "{").split("{"):
        if part in ("PER", "ORG", "LOC"):
            start = len(text)
            text += name(part, draw)
            spans.append((start, len(text), part))
        else:
            text += part
    return text, spans


draw = random.Random(0)
texts, truth = zip(*[make_text(draw) for _ in range(540)])
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "tasks.json")

# %%
# Forty annotated texts
# ---------------------
# This is the tool's part: what it exports after forty texts were annotated by hand.
# ``read_spans`` takes the file as it is.


def export(texts, spans):
    """A file as Label Studio exports it, with the annotations of one person."""
    write_spans(path, texts, spans, "label-studio")
    with open(path, encoding="utf-8") as file:
        tasks = json.load(file)
    for number, task in enumerate(tasks):
        (prediction,) = task.pop("predictions")
        task.update(
            id=number, annotations=[{"completed_by": 1, "result": prediction["result"]}]
        )
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tasks, file)


export(texts[:40], truth[:40])
X, y = read_spans(path)
print(
    f"{len(X)} texts with {sum(map(len, y))} spans; the first: {[X[0][s.start : s.end] for s in y[0]]}"
)

# %%
# A model
# -------
# :class:`~skstruct.CalibratedTagger` gives it probabilities.

model = SpanTagger(
    CalibratedTagger(StructuredPerceptron(random_state=0), random_state=0)
).fit(X, y)
X_test, y_test = texts[240:], truth[240:]
first = model.score(X_test, y_test)
print(f"Trained on  40 texts: F1 {first:.3f} on 300 others")

# %%
# Predictions for two hundred more
# --------------------------------
# They are written as tasks with predictions, which Label Studio shows for review: each
# span with its probability, each text with the mean of these, by which the tool can
# sort. Spans of which the model is less sure are more often wrong.

more, right = list(texts[40:240]), truth[40:240]
found = model.predict_segment_proba(more)
predicted = [[span for span, _ in each] for each in found]
write_spans(path, more, predicted, "label-studio", proba=found, model_version="first")
for low, high in (0.0, 0.5), (0.5, 0.9), (0.9, 1.01):
    pairs = [(span in gold, p) for each, gold in zip(found, right) for span, p in each]
    hits = [hit for hit, p in pairs if low <= p < high]
    print(
        f"Probability from {low:.1f}: {len(hits):3} spans, {sum(hits) / max(len(hits), 1):.0%} right"
    )
render(more[:3], predicted[:3])

# %%
# Corrected
# ---------
# A person who corrects them changes what is wrong, and leaves alone what is right: far
# fewer marks than from scratch. Here the corrections come from the patterns.

kept = sum(span in gold for spans, gold in zip(predicted, right) for span in spans)
n_right, n_predicted = sum(map(len, right)), sum(map(len, predicted))
print(
    f"By hand: {n_right} spans to mark; to correct: {n_predicted - kept} to remove, {n_right - kept} to add"
)
figure, axis = plt.subplots(figsize=(6, 2), layout="constrained")
axis.barh("by hand", n_right, color="tab:gray", label="to mark")
axis.barh("to correct", n_predicted - kept, color="tab:red", label="to remove")
axis.barh(
    "to correct",
    n_right - kept,
    left=n_predicted - kept,
    color="tab:blue",
    label="to add",
)
axis.set_xlabel("marks in 200 texts")
axis.legend()
plt.show()

export(more, right)
X_more, y_more = read_spans(path)

# %%
# Better
# ------
model = model.fit(X + X_more, y + y_more)
second = model.score(X_test, y_test)
print(f"Trained on 240 texts: F1 {second:.3f} on the same 300; before {first:.3f}")
print(span_report(y_test, model.predict(X_test)))
folder.cleanup()
