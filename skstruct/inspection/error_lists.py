"""The errors of a model: confusions, with examples, and unseen words apart.

They are counted from the differences between gold and predicted labels, segments, words
or trees, each with the words around it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .._data.elements import label_text, word_of
from .._data.inputs import SPANS, TREES, WORDS, flatten
from .._data.labels import check_gold
from .._data.places import counted
from .._data.segmented import as_pieces, as_words
from .._data.types import Corpus
from .._sklearn import innermost
from .._taggers.span_chains import has_chains, spans_by_chain
from ..metrics.counting import has_label, refuse_nothing, surroundings_known
from .explain_taggers import as_characters, read_by, words_of
from .findings import Finding, Places, as_places
from .html import Shown, bar, box, cell, escaped, note, readable, table
from .pictures import are_characters, checked, scheme_reader, segment_reader, tree_of
from .weight_tables import new_frame

if TYPE_CHECKING:
    from .._taggers.probability_tagger import Segment
    from .pictures import SegmentReader


Sequences: TypeAlias = Sequence[Sequence[Any]]

Compared: TypeAlias = tuple[Any, ...]
"""An item of gold, an error, or both: whether it counts as an item; None, or the names
(gold, predicted) of what differs; the words in it; and of an error its sequence, start
and stop, and the tokens of the sequence.
"""

EXAMPLES = 3
SHOWN = 20
"""Examples of a confusion, and confusions that are shown."""


class Confusion(NamedTuple):
    """A pair of labels that were confused.

    Attributes
    ----------
    gold, predicted : str
        Labels, types of segments, words or labels of arcs; ``"(none)"`` is no segment.
    count : int
    unseen : int or None
        Number of these with a word outside of the vocabulary; None without one.
    examples : list of Finding
        Given is the gold, suggested the prediction.
    """

    gold: str
    predicted: str
    count: int  # type: ignore[assignment]  # not the method of tuples
    unseen: int | None
    examples: list[Finding]


class Errors(Shown):
    """The errors that :func:`errors` found; ``print`` lists them, notebooks show a table.

    Attributes
    ----------
    kind : {"labels", "segments", "words", "spans", "trees"}
    n_items, n_errors : int
        Tokens, segments, words, spans or arcs of gold, and the errors among them and
        beside them.
    n_unseen, n_unseen_errors : int or None
        The same for those that hold an unseen word; None without a vocabulary.
    confusions : list of Confusion
        Most frequent first.
    """

    def __init__(
        self, kind: str, n_items: int, n_unseen: int | None, confusions: list[Confusion]
    ) -> None:
        self.kind = kind
        self.n_items = n_items
        self.n_unseen = n_unseen
        self.n_errors = sum(c.count for c in confusions)
        self.n_unseen_errors = (
            None if n_unseen is None else sum(c.unseen or 0 for c in confusions)
        )
        self.confusions = confusions

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as a dict; confusions and examples are dicts too."""
        confusions = [
            {**c._asdict(), "examples": [_as_dict(e) for e in c.examples]}
            for c in self.confusions
        ]
        return {**vars(self), "confusions": confusions}

    def to_frame(self) -> Any:
        """Return the confusions as a pandas DataFrame.

        Its columns are ``gold``, ``predicted``, ``count``, ``unseen`` and the first
        ``example``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [(*c[:4], c.examples[0].text) for c in self.confusions]
        return new_frame(rows, "Errors", columns=[*Confusion._fields[:4], "example"])

    def summary(self) -> str:
        """Say how many errors there are, in one sentence."""
        items = _ITEMS[self.kind].removesuffix("s")
        n = counted(self.n_items, items)
        text = f"{counted(self.n_errors, 'error')} in {n}"
        if self.n_unseen is not None:
            n_errors = counted(self.n_unseen_errors or 0, "error")
            text += f"; with unseen words {n_errors}, {counted(self.n_unseen, items)}"
        return text

    def __str__(self) -> str:
        lines = [self.summary()]
        for c in self.confusions[:SHOWN]:
            both = f"{readable(c.gold)} -> {readable(c.predicted)}"
            unseen = f" ({c.unseen:,} unseen)" if c.unseen else ""
            lines.append(f"{c.count:>6,}  {both}{unseen}   {_shown(c.examples[0])}")
        if len(self.confusions) > SHOWN:
            lines.append(f"{'':>6}  {len(self.confusions) - SHOWN:,} more confusions")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Errors: {self.summary()}>"

    def _repr_html_(self) -> str:
        parts = [f"<b>{self.summary()}</b>", _html(self.confusions)]
        unseen = [c._replace(count=c.unseen) for c in self.confusions if c.unseen]
        if unseen:
            unseen.sort(key=lambda c: -c.count)
            parts += [
                f"<details><summary>with unseen words</summary>{_html(unseen)}</details>"
            ]
        return box("".join(parts))


_ITEMS = {
    "labels": "tokens",
    "segments": "segments",
    "words": "words",
    "spans": "spans",
    "trees": "arcs",
}


def _html(confusions: list[Confusion]) -> str:
    if not confusions:
        return ""
    largest = confusions[0].count
    rows = []
    for c in confusions[:SHOWN]:
        examples = "<br>".join(escaped(_shown(x), 180) for x in c.examples)
        texts = escaped(c.gold), escaped(c.predicted), examples
        number = cell(f"{c.count:,}", "number")
        rows.append([number, cell(bar(-c.count, largest)), *map(cell, texts)])
    rest = len(confusions) - SHOWN
    head = ["", "", "gold", "predicted", "for example"]
    return table(rows, head, "long") + (
        note(f"{rest:,} more confusions") if rest > 0 else ""
    )


def errors(
    model: Any,
    X: Any,
    y: Corpus,
    *,
    vocabulary: Iterable[str] | None = None,
    scheme: str | None = None,
    words: Any = None,
    places: Places = None,
) -> Errors:
    """Find what a fitted model gets wrong on a corpus.

    Parameters
    ----------
    model : fitted estimator
        An estimator of any kind; its ``predict`` is called.
    X, y
        As of its ``score``. Of a pipeline over raw texts, examples show the tokens that
        reach the model. Labels that look like those of a scheme such as BIO are
        compared as segments. Tokens whose label is None do not count, nor do segments
        that hold or touch one.
    vocabulary : iterable of str, optional
        The words that are known, as a rule those of the training corpus; what holds
        another word is counted apart. By default what the model remembers of the words
        of its training; models of templates do.
    scheme : str, optional
        Scheme of the labels, which are then compared as segments: "IO", whose labels
        are types without a prefix. By default also where the model's ``constraints``
        are "IO".
    words : list of lists of str, optional
        The text to show for each token. By default tokens that are dicts or lists of
        features are shown as the word in them.
    places : list of Where, or of dict, optional
        The place of each sequence in a file, which examples then show; see
        :func:`label_issues`.

    Returns
    -------
    Errors
        Confusions by frequency, with examples. Of labels: which label was given for
        which. Of segments and spans: which type for which; one that was found with
        other boundaries, or not at all. Of words: which words were cut in another way,
        and which tags confused. Of trees: the labels of arcs, whose head is right or
        wrong.

    Raises
    ------
    ValueError
        If the lengths of ``X`` and ``y`` differ (the message names the sequence), a
        label is not of the scheme, or no token has one.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import errors
    >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
    >>> print(errors(tagger, [["the", "barks", "sleeps"], ["a", "cat"]], [["D", "N", "V"], ["D", "N"]]))
    1 error in 5 tokens; with unseen words 0 errors, 0 tokens
         1  N -> V   the [barks] sleeps
    """
    return errors_of(
        model,
        X,
        y,
        model.predict(X),
        vocabulary=vocabulary,
        scheme=scheme,
        words=words,
        places=places,
    )


def errors_of(
    model: Any,
    X: Any,
    y: Corpus,
    predicted: Corpus,
    *,
    vocabulary: Iterable[str] | None = None,
    scheme: str | None = None,
    words: Any = None,
    places: Places = None,
) -> Errors:
    """Find what is wrong in predictions made before; see also :func:`errors`."""
    if isinstance(vocabulary, str):
        raise ValueError(
            f"vocabulary must be a collection of words, got the str {vocabulary[:40]!r}"
        )
    inner, task, X, own_scheme = read_by(model, X, y)
    sides = [(y, predicted)]
    if has_chains(inner):  # spans overlap those of other chains
        both = (spans_by_chain(inner, X, each) for each in (y, predicted))
        sides = [*zip(*both)]
    if getattr(inner, "tokenizer", None) == "words":
        inner = innermost(inner.tagger_).estimator
    known = None if vocabulary is None else frozenset(vocabulary)
    if (
        known is None and hasattr(inner, "_model") and not hasattr(inner, "tagger_")
    ):  # which reads characters
        known = inner._model.words_of_training()
    where = as_places(places, len(y))
    compared = [
        _compared(task, X, *side, scheme or own_scheme, words) for side in sides
    ]
    kind = compared[0][0]
    items = chain.from_iterable(some for _, some in compared)
    n_items = 0
    n_unseen = 0
    groups: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for counts, names, words, *place in items:
        unseen = known is not None and any(
            word_of(token) not in known for token in words
        )
        n_items = n_items + counts
        n_unseen = n_unseen + (counts and unseen)
        if names is not None:
            groups.setdefault(names, []).append((unseen, *place))
    confusions = []
    for names, group in groups.items():
        n = None if known is None else sum(unseen for unseen, *_ in group)
        examples = [
            Finding(
                i,
                a,
                b,
                *names,
                kind=_kind_of(kind, *names),
                text=around(tokens, a, b),
                where=where[i],
            )
            for _, i, a, b, tokens in group[:EXAMPLES]
        ]
        confusions.append(Confusion(*names, len(group), n, examples))
    confusions.sort(key=lambda c: (-c.count, c.gold, c.predicted))
    return Errors(kind, n_items, None if known is None else n_unseen, confusions)


def _as_dict(example: Finding) -> dict[str, Any]:
    """Return an example, with what is known of the place, as a dict."""
    place = {
        name: value
        for name, value in example.where._asdict().items()
        if value is not None
    }
    return {
        "sequence": example.sequence,
        "position": example.position,
        "text": example.text,
        **place,
    }


def _shown(example: Finding) -> str:
    """Write an example, and where it stands if that is known."""
    where = str(example.where)
    return example.text + (f"   ({where})" if where else "")


NONE = "(none)"
"""The text where there is no segment."""

AROUND = 3
"""Tokens before and behind an example."""


def around(tokens: Sequence[Any], start: int, stop: int) -> str:
    """Write some tokens in [ ], and a few on both sides."""
    gap = "" if are_characters(tokens) else " "
    width = AROUND if gap else 3 * AROUND
    first = max(0, start - width)
    words = [readable(token, 30) for token in tokens[first : stop + width]]
    words[start - first] = f"[{words[start - first]}"
    words[stop - first - 1] += "]"
    before = "… " if first else ""
    behind = " …" if stop + width < len(tokens) else ""
    return f"{before}{gap.join(words)}{behind}"


def _compared(
    task: str,
    X: Any,
    y: Corpus,
    y_pred: Corpus,
    scheme: str | None,
    words: Any = None,
) -> tuple[str, Iterator[Compared]]:
    """Return what is compared ("labels", ...), and the items and errors."""
    if task == WORDS:
        return "words", _words(X, y, y_pred)
    if task == SPANS:
        texts = as_characters(X, y, y_pred)
        of_types = scheme_reader((), "BIO")
        return "spans", _segments(*texts, of_types, words_of, beside=0)
    tokens, gold, predicted = checked(X, y, y_pred, words)
    refuse_nothing(any(map(has_label, gold)))
    if task == TREES:
        return "trees", _trees(tokens, gold, predicted)
    check_gold(gold, chain.from_iterable(predicted), ("y", "the model"))
    segments_of = segment_reader(flatten([*gold, *predicted]), scheme)
    if segments_of is None:
        return "labels", _labels(tokens, gold, predicted)
    return "segments", _segments(tokens, gold, predicted, segments_of)


def _labels(X: Sequences, y: Sequences, y_pred: Sequences) -> Iterator[Compared]:
    """Yield the tokens that have a label, and where another one was predicted."""
    for i, (tokens, gold, predicted) in enumerate(zip(X, y, y_pred)):
        for t, (a, b) in enumerate(zip(gold, predicted)):
            if a is not None:
                names = (label_text(a), label_text(b)) if a != b else None
                yield True, names, tokens[t : t + 1], i, t, t + 1, tokens


def _segments(
    X: Sequences,
    y: Sequences,
    y_pred: Sequences,
    segments_of: SegmentReader,
    words_of: Callable[[Any], list[Any]] = list,
    beside: int = 1,
) -> Iterator[Compared]:
    """Yield the segments of gold, and those that were only predicted.

    ``beside`` is the number of tokens on both sides of a segment that must have labels,
    too.
    """
    for i, (tokens, labels, predicted) in enumerate(zip(X, y, y_pred)):
        gold = segments_of(labels)
        predicted = segments_of(predicted)
        met_by = _between(predicted)
        met_in = _between(gold)
        for a, b, kind in gold:
            if surroundings_known(labels, a, b, beside):
                met = met_by(a, b)
                names = None
                if (a, b, kind) not in met:
                    same_place = len(met) == 1 and met[0][:2] == (a, b)
                    names = kind, met[0][2] if same_place else _elsewhere(met)
                yield True, names, words_of(tokens[a:b]), i, a, b, tokens
        for a, b, kind in predicted:
            if surroundings_known(labels, a, b, beside) and not met_in(a, b):
                yield False, (NONE, kind), words_of(tokens[a:b]), i, a, b, tokens


def _between(spans: list[Segment]) -> Callable[[int, int], list[Segment]]:
    """Make a function that finds the spans that share a token with ``a`` ... ``b - 1``.

    The spans are in order, and do not overlap.
    """
    starts, stops, _ = zip(*spans) if spans else ((), (), ())
    return lambda a, b: spans[bisect_right(stops, a) : bisect_left(starts, b)]


def _kind_of(kind: str, gold: str, predicted: str) -> str:
    """Say what kind of finding a confusion of gold and prediction is."""
    if kind == "labels":
        return "other label"
    if NONE in (gold, predicted):
        return "superfluous" if gold == NONE else "missing"
    return "other boundary" if predicted.endswith(_OTHER) else "other type"


_OTHER = "(other boundaries)"


def _elsewhere(met: list[Segment]) -> str:
    """Name what a segment met that was not found: other boundaries, or nothing."""
    if not met:
        return NONE
    kinds = " + ".join(kind for _, _, kind in met)
    return f"{kinds} {_OTHER}" if kinds.strip(" +") else _OTHER


def _words(X: Any, y: Corpus, y_pred: Corpus) -> Iterator[Compared]:
    """Yield the words of gold, and stretches of text that are cut in another way."""
    pieces = as_pieces(X)
    gold, gold_tags = as_words(pieces, y)
    words, tags = as_words(pieces, y_pred)
    for i in range(len(pieces)):
        yield from ((True, None, [word]) for word in gold[i])
        for a, b, c, d in _stretches(gold[i], words[i]):
            mine = list(gold[i][a:b])
            theirs = list(words[i][c:d])
            names = None
            if mine != theirs:
                names = " ".join(mine), " ".join(theirs)
            elif gold_tags and tags and gold_tags[i][a] != tags[i][c]:
                names = gold_tags[i][a], tags[i][c]
            yield False, names, mine, i, a, b, list(gold[i])


def _stretches(
    gold: Sequence[str], words: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the shortest stretches of two segmentations that spell the same text.

    Each is (a, b, c, d), for the words ``gold[a:b]`` and ``words[c:d]``.
    """
    stops = {end: b for b, end in enumerate(accumulate(map(len, gold)), start=1)}
    others = {end: d for d, end in enumerate(accumulate(map(len, words)), start=1)}
    a = c = 0
    for end, b in stops.items():
        if end in others:
            yield a, b, c, others[end]
            a = b
            c = others[end]


def _trees(X: Sequences, y: Sequences, y_pred: Sequences) -> Iterator[Compared]:
    """Yield the arcs of gold, and where another head or label was predicted."""
    for i, (tokens, gold, predicted) in enumerate(zip(X, y, y_pred)):
        pairs = zip(tree_of(i, gold), tree_of(i, predicted))
        for t, ((head, label), (other, other_label)) in enumerate(pairs):
            names = (label, other_label) if label and label != other_label else None
            if head != other:
                names = label, f"{other_label} (other head)".strip()
            yield True, names, tokens[t : t + 1], i, t, t + 1, tokens
