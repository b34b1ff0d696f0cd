"""Texts whose spans overlap, and span taggers of several chains of labels."""

import random

from skstruct import SpanTagger, StructuredPerceptron

NAMES = "IL-2 GATA-1 NFKB TCF".split()


def nested_corpus(n=60, seed=0):
    """Proteins inside of names of DNA, as in GENIA, and cells beside them."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        text, spans = "", []
        for _ in range(rng.randint(1, 3)):
            text += rng.choice(["The ", "In ", "Of "])
            name = rng.choice(NAMES)
            start = len(text)
            kind = rng.random()
            if kind < 0.5:
                text += f"{name} promoter"
                spans += [
                    (start, len(text), "DNA"),
                    (start, start + len(name), "protein"),
                ]
            elif kind < 0.75:
                text += name
                spans.append((start, len(text), "protein"))
            else:
                text += "T cells"
                spans.append((start, len(text), "cell"))
            text += rng.choice([" binds. ", " was seen. "])
        X.append(text)
        y.append(spans)
    return X, y


X, Y = nested_corpus()
TEST, GOLD = nested_corpus(20, 1)


def tagger(inner=None, **given):
    inner = StructuredPerceptron(random_state=0) if inner is None else inner
    return SpanTagger(inner, overlap="by-type", **given)


def of_types(y, types):
    return [[span for span in spans if span[2] in types] for spans in y]


def flat_taggers(X, y, **given):
    """A tagger for each chain of the spans, of its types alone."""
    return [
        SpanTagger(given.get("inner", StructuredPerceptron(random_state=0))).fit(
            X, of_types(y, types)
        )
        for types in ({"protein", "cell"}, {"DNA"})
    ]
