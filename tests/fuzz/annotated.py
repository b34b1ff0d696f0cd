"""Random texts with spans of characters, as people mark them: well, badly, or not at
all.
"""

from skstruct._data.spans import Span

from .corpora import form

GAPS = (
    " ",
    " ",
    " ",
    "",
    "  ",
    "\n",
    "\r\n",
    "\n\n",
    "\t",
    "\u00a0",
    "\u200b",
    "\u2028",
    ", ",
    ". ",
)
ODD = (
    "🚒",
    "👩🏽\u200d🚒",
    "🇳🇴🇳",
    "e\u0301",
    "\u0301",
    "北京",
    "한국",
    "क्षि",
    "...",
    "“x”",
    "\ufeff",
    "a-b",
    "𝒜1",
    "\x00",
)


class Annotated:
    """(X, y) of texts whose words say which label they have; new ones of the same kind.

    Attributes
    ----------
    X : list of str
    y : list of lists of (start, end, label)
        Spans may overlap, be moved or empty, occur twice, or have the label None.
    """

    def __init__(self, draw, budget):
        self.labels = ["PER", "LOC", "ü 🚒-x"][: draw.int(1, 3)]
        self.moved = draw.one(0.0, 0.0, 0.2, 1.0)
        self.n_words = draw.one(3, 10, 60)
        self.odd = draw.one(0.0, 0.1, 0.5)
        draw.note(
            moved=self.moved,
            n_words=self.n_words,
            odd=self.odd,
            labels=len(self.labels),
        )
        self.X, self.y = self.made(draw, draw.int(6, 30), budget)

    def made(self, draw, n, budget):
        """(X, y) of n texts."""
        pairs = [
            self._text(draw, draw.one(0, 1, 5, 20, budget // n + 1)) for _ in range(n)
        ]
        pairs.append(("wa\n", [(0, 2, self.labels[0])]))
        return [list(each) for each in zip(*pairs)]

    def _text(self, draw, n_words):
        text, spans = draw.one("", "", " ", "\ufeff", "\r\n"), []
        while n_words > 0:
            k = draw.int(0, self.n_words - 1)
            start, length = len(text), min(draw.one(1, 1, 2, 3), n_words)
            for t in range(length):
                text += (draw.one(*GAPS) if t else "") + (
                    draw.one(*ODD) if draw.chance(self.odd) else form(k)
                )
            if k % 3:
                spans.append((start, len(text), self.labels[k % len(self.labels)]))
            text += draw.one(*GAPS)
            n_words -= length
        if self.moved:
            spans = [
                each for span in spans for each in self._moved(draw, span, len(text))
            ]
        return text, spans

    def _moved(self, draw, span, size):
        if not draw.chance(self.moved):
            return [span]
        start, end = sorted(
            min(max(edge + draw.int(-3, 3), 0), size) for edge in span[:2]
        )
        other = Span(start, end, draw.one(span[2], None, *self.labels))
        return draw.one(
            [other], [span, other], [span, span], [list(span)], [other._asdict()]
        )


def check_tokens(texts, tokens):
    """Tokens are in the text, in order, and none is empty."""
    for text, pairs in zip(texts, tokens):
        edges = [0, *(edge for pair in pairs for edge in pair), len(text)]
        assert edges == sorted(edges) and all(a < b for a, b in pairs), (
            f"tokens {pairs} of {text!r}"
        )


def check_spans(texts, tokens, found):
    """Spans begin and end where tokens do, in order, and do not overlap."""
    for text, pairs, spans in zip(texts, tokens, found):
        starts, ends = {a for a, _ in pairs}, {b for _, b in pairs}
        assert all(
            s.start in starts and s.end in ends and s.start < s.end for s in spans
        ), f"{spans} of {text!r}"
        assert all(a.end <= b.start for a, b in zip(spans, spans[1:])), (
            f"{spans} of {text!r} overlap"
        )


def check_report(texts, y, tokens, report):
    """Every span is counted once, and becomes whole tokens or nothing."""
    changed = [name for *_, name, _ in report.moves]
    assert report.counts == {
        "spans": sum(
            Span(*(s.values() if isinstance(s, dict) else s)).label is not None
            for r in y
            for s in r
        ),
        **{name: changed.count(name) for name in list(report.counts)[1:]},
    }, f"counts {report.counts}"
    assert (
        0.0 <= report.reachable <= 1.0
        and str(report)
        and report._repr_html_() is not None
    )
    for i, *_, result in report.moves:
        if result is not None:
            check_spans(texts[i : i + 1], tokens[i : i + 1], [[result]])
