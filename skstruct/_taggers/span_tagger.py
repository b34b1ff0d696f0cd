"""Labelled spans of raw text through any sequence tagger: texts in, (start, end, label)
out.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._data.alignment_report import AlignmentReport, align_spans
from .._data.inputs import SPANS, Inputs, Sequences, flatten, renumbered
from .._data.known_spans import KnownLabels, as_known, known_in_tokens
from .._data.lexicon import Lexicon
from .._data.pieces import MOST_TOKENS, chosen, cut_texts, marked_across
from .._data.places import by_sequence
from .._data.scheme_rules import LabelTable, read_spans
from .._data.shared import SharedTexts
from .._data.spans import Span, as_spans, check_annotated, trimmed_spans
from .._data.text import as_texts, groups_of, tokenized
from .._data.types import Corpus, Given, Self, Texts, Weights
from .._saving.container import require
from .._saving.registry import savable
from .._saving.states import FITTED
from .._sklearn import sample_weights, with_callbacks
from .._training.callbacks import epoch_context
from .._training.parameters import (
    documented,
    inner_estimator,
    parameter,
    parameters_named,
    parametrized,
)
from ..metrics.counting import refuse_nothing
from ..metrics.label_scores import f1_of
from ..metrics.text_scores import NO_TEXT, count_spans
from .shared_encoders import share_encoders
from .span_chains import (
    BY_TYPE,
    asked,
    at_positions,
    has_chains,
    joined_parts,
    merged,
    parts_by_type,
)
from .span_training import SpanTraining, summed
from .text_probabilities import SpanAnalyses, placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._data.known_spans import KnownSpans
    from .._data.pieces import Pieces
    from .probability_tagger import MinProba
    from .span_chains import Part


SCHEMES = "BIOES", "BILOU", "BIO", "IOB1", "BMES"
"""Schemes with labels for tokens in no span, and for spans of one type that touch."""


@savable
@documented()
@parametrized()
class SpanTagger(SpanAnalyses, SpanTraining):
    """Raw text in, labelled spans out: entities, say, as annotation tools store them.

    Texts become tokens, and spans become labels of tokens under a scheme [1]_, which
    any sequence tagger learns; predicted labels become spans of the text again. Spans
    that do not end where tokens do are aligned with them; :meth:`alignment_report`
    lists them.

    Attributes
    ----------
    tagger_ : estimator
        The fitted tagger.
    pieces_ : {"lines", "paragraphs", "texts"}
        What texts are cut into.
    alignment_ : dict of str to int
        The counts of the :class:`skstruct.datasets.AlignmentReport` of the training
        texts.
    history_ : list of dict
        That of ``tagger_``, if it has one.
    n_iter_ : int
        Epochs of ``tagger_``, if it counts them.
    chains_ : list of SpanTagger
        Only with ``overlap="by-type"``: one for each further group of types. Types that
        never overlap share a chain; ``tagger_`` has the group of the most frequent.

    Notes
    -----
    A span whose label is None says that its part of a text is not annotated: tokens
    that it touches have the label None, unless another span has them, and :meth:`score`
    ignores predictions that touch it.

    White space at the ends of a span is cut off. Of two spans that claim one token
    after alignment, the one with more of its characters has it.

    Tokens are compared in Unicode's normal form C. Offsets are those of the text as it
    is, in code points: those of tools that count UTF-16 units are converted by
    ``skstruct.datasets.from_utf16``.

    Every ``fit`` begins with a clone of ``tagger``, whose ``warm_start`` is refused;
    ``partial_fit`` continues; its first call decides ``pieces_``. Held-out
    texts are cut into pieces as training texts are, by their own spans. Parameters that
    are set after ``fit`` are for the next one: until then, another ``tokenizer``,
    ``scheme`` or ``layout`` is an error.

    References
    ----------
    .. [1] L. Ratinov and D. Roth (2009). Design challenges and misconceptions in named
       entity recognition. CoNLL.

    Examples
    --------
    >>> from skstruct import SpanTagger, StructuredPerceptron
    >>> X = ["Ann Lee lives in Rome.", "Bob Lee left Paris.", "In Rome, Ann met Bob."]
    >>> y = [[(0, 7, "PER"), (17, 21, "LOC")], [(0, 7, "PER"), (13, 18, "LOC")],
    ...      [(3, 7, "LOC"), (9, 12, "PER"), (17, 20, "PER")]]
    >>> tagger = SpanTagger(StructuredPerceptron(random_state=0)).fit(X, y)
    >>> tagger.predict(["Bob Lee lives in Paris."])
    [[Span(start=0, end=7, label='PER'), Span(start=17, end=22, label='LOC')]]
    """

    tagger: Any = inner_estimator(
        """Learns and predicts labels of tokens. None means an average of perceptrons
        with input dropout, ``BaggingShuffleAverager(StructuredPerceptron(dropout=0.1,
        max_iter="auto"), n_estimators="auto", random_state=0)``: ten members of twenty
        epochs below 200 sequences, ten of ten below 500, then five, from 10,000 on
        three. It takes two to seven times the processor time of one perceptron, 7 to 20
        times below 500 sequences. It gains 5 to 6 points of F1 with 50 sentences, 3
        with 200, and on average 2 with 1,000 and 1 with thousands. In a mixture it is
        the perceptron of this average. If its ``constraints``, or those of an estimator
        inside of it, are None, they are set to ``scheme``. ``features="auto"`` means
        the preset ``"text"`` here, which also reads the white space between tokens."""
    )
    _: KW_ONLY
    tokenizer: Any = parameter(
        default="words",
        text="""``"words"``: runs of letters, runs of digits, and other characters one
        by one, as are letters of scripts without spaces and Hangul; ``"characters"``:
        all that are not white space; a regular expression, whose matches are tokens; or
        a function of a text that returns (start, end) pairs, or strings that spell it.
        With a function a model can be pickled, not saved.""",
        kind="str or callable",
        allowed="no_validation",
    )
    scheme: Literal["BIOES", "BILOU", "BIO", "IOB1", "BMES"] = parameter(
        default="BIOES",
        text="How spans are written as labels; see `skstruct.schemes`.",
    )
    align: Literal["nearest", "expand", "contract", "unknown", "error"] = parameter(
        default="nearest",
        text="""Tokens of a span that begins or ends inside of a token. ``"nearest"``: the
        tokens of which at least half is in the span (if there are none, the tokens it
        touches are unknown); ``"expand"``: all that it touches; ``"contract"``: only
        whole tokens; ``"unknown"``: all that it touches are unknown; ``"error"``: the
        span is refused.""",
    )
    overlap: Literal["error", "longest", "by-type"] = parameter(
        default="error",
        text="""Treatment of spans that overlap: refuse them, or keep the longest first,
        of equally long ones the first in the text. ``"by-type"`` learns all: types that
        overlap in training texts get separate chains of labels. Two spans of one type
        that overlap are refused.""",
    )
    pieces: Literal["auto", "lines", "paragraphs", "texts"] = parameter(
        default="auto",
        text="""Unit that is one sequence for the tagger. ``"auto"``: lines, paragraphs
        (between blank lines) or texts, the first that would cut at most one in a
        hundred training spans. In training no span is cut. Spans across several pieces
        are never predicted; a warning counts them.""",
    )
    max_length: int | None = parameter(
        default=200,
        text="""Tokens of a piece in training; longer ones are cut in their second half
        where the text has the largest gap outside of spans. Prediction does not cut
        them, so that spans may be of any length; pieces of 50,000 tokens are its
        limit.""",
    )
    layout: bool = parameter(
        default=True,
        text="""Tokens are `skstruct.features.TextToken`, which know the white space
        before them; else they are str.""",
    )

    pieces_: str = field(init=False)
    alignment_: dict[str, int] = field(init=False)
    chains_: list[Any] = field(init=False)

    explained_as = "spans"

    _reads_later = "tokenizer", "scheme", "layout"

    inputs = Inputs(SPANS, str, 1)
    """Inputs and outputs of the fitted model."""

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Any, where: str
    ) -> dict[str, Any]:
        chains = fitted.get("chains_") or []
        if chains:
            well = all(isinstance(each, SpanTagger) for each in chains)
            require(well, f"{where}: chains_ must be SpanTaggers")
            share_encoders([fitted.get("tagger_"), *(each.tagger_ for each in chains)])
        return {}

    # -- fitting -----------------------------------------------------------------------
    @with_callbacks
    def fit(
        self,
        X: Texts,
        y: Corpus,
        sample_weight: Weights = None,
        *,
        X_val: Given = None,
        y_val: Given = None,
        **params: Any,
    ) -> Self:
        """Learn from annotated texts.

        Parameters
        ----------
        X : list of str
            Texts; those without a token are ignored.
        y : list of lists of (start, end, label)
            The spans of each text, in any order: tuples, lists, or dicts with these
            keys. ``start`` and ``end`` count code points, ``end`` is exclusive.
        sample_weight : array-like of shape (n_texts,), optional
            Handed to the tagger.
        X_val, y_val : list of str and list of lists, optional
            Held-out texts and their spans, handed to the tagger as tokens and labels:
            what it scores is labels, with its own ``scoring``.
        **params
            Metadata that the tagger asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
            The model is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; what the tagger kept can be used.

        Warns
        -----
        UserWarning
            If spans do not end where tokens do; are left out, since they hold no token
            or overlap others; or are across several pieces.
        """
        self._validate_params()
        if self.overlap == BY_TYPE:
            parts = parts_by_type(X, y, X_val, y_val)
            if self.align == "error":
                self._report_by_type(as_texts(X), y)  # errors name places in all of y
            if len(parts) > 1:
                return self._fit_chains(parts, X, y, sample_weight, X_val, params)
        before = vars(self).get("tagger_")
        try:
            return self._fit_tagger(X, y, sample_weight, X_val, y_val, params)
        finally:  # an interrupt may leave a new tagger, too
            if vars(self).get("tagger_") is not before:
                vars(self).pop("chains_", None)
                if self.overlap == BY_TYPE:
                    self.chains_ = []

    def _fit_chains(
        self,
        parts: list[Part],
        X: Texts,
        y: Corpus,
        sample_weight: Weights,
        X_val: Given,
        params: dict[str, Any],
    ) -> Self:
        """Fit a chain of labels for each part of the spans; ``fit`` calls it.

        If a callback stops the fit, or Ctrl-C, those that were begun are kept.
        """
        context = self._init_callback_context(max_subtasks=len(parts))
        events = epoch_context(context, self, X, y)
        texts = SharedTexts(as_texts(X))
        held_out = None if X_val is None else SharedTexts(as_texts(X_val, "X_val"))
        done: list[Any] = []
        events.begin_fit()
        for part in parts:
            chain = clone(self).set_params(overlap="error")
            if hasattr(chain, "set_callbacks"):
                chain.set_callbacks()  # this fit tells them
            given = {"X_val": held_out, "y_val": part.y_val, **params}
            try:
                with events.member(chain, None, X, part.y, "fit-chain"):
                    chain.fit(texts, part.y, sample_weight, **given)
            except KeyboardInterrupt as error:
                done += [chain] if hasattr(chain, "tagger_") else []
                if done:
                    error.args = ()  # more is kept than the chain may have said
                    self._take_chains(done)
                raise
            done.append(chain)
            if events.stopped:
                break
        events.end_fit(None)
        self._take_chains(done)
        return self

    def _take_chains(self, chains: list[Any]) -> None:
        """Become the model of some chains."""
        own, *others = chains
        fitted = {a: v for a, v in vars(own).items() if FITTED.match(a)}
        vars(self).update(fitted, chains_=others)
        self._note_settings()
        self.alignment_ = summed([each.alignment_ for each in chains])
        share_encoders(each.tagger_ for each in chains)

    # -- before fitting ----------------------------------------------------------------
    def tokens(self, X: Texts) -> list[list[tuple[int, int]]]:
        """Return the tokens of texts, with their places; also before ``fit``.

        Parameters
        ----------
        X : list of str

        Returns
        -------
        list of lists of (start, end)
        """
        self._validate_params()
        return Sequences(tokenized(as_texts(X), self.tokenizer).pairs())

    def alignment_report(self, X: Texts, y: Corpus) -> AlignmentReport:
        """Report how training changes spans; also before ``fit``.

        Parameters
        ----------
        X, y
            As of :meth:`fit`.

        Returns
        -------
        AlignmentReport
            ``print`` lists the spans that change, notebooks show a table.

        Raises
        ------
        ValueError
            As :meth:`fit`.
        """
        self._validate_params()
        if self.overlap == BY_TYPE:
            return self._report_by_type(as_texts(X), y)
        tokens, given, aligned = self._aligned(X, y)
        kind = getattr(self, "pieces_", None) or chosen(tokens, aligned, self.pieces)
        sizes = np.diff(cut_texts(tokens, kind, None, aligned).bounds)
        most = len(tokens.start) if self.max_length is None else self.max_length
        n_long = int(np.count_nonzero(sizes > most))
        aligned = marked_across(tokens, aligned, kind)
        return AlignmentReport(tokens, given, aligned, n_long)

    def _report_by_type(self, texts: list[str], y: Corpus) -> AlignmentReport:
        """Report how training changes spans that several chains learn."""
        given = as_spans(y, texts)
        tokens = tokenized(texts, self.tokenizer)
        parts = []
        n_long = 0
        for part in parts_by_type(texts, y):
            with at_positions(part.positions, "y"):
                aligned = align_spans(tokens, as_spans(part.y, texts), self.align)
            kind = chosen(tokens, aligned, self.pieces)
            sizes = np.diff(cut_texts(tokens, kind, None, aligned).bounds)
            most = len(tokens.start) if self.max_length is None else self.max_length
            n_long = max(n_long, int(np.count_nonzero(sizes > most)))
            parts.append((marked_across(tokens, aligned, kind), part.which(given)))
        return AlignmentReport(tokens, given, joined_parts(given, parts), n_long)

    # -- prediction --------------------------------------------------------------------
    @property
    def accepts_known(self) -> bool:
        """True if ``predict`` takes ``known``, that is if the tagger takes ``allowed``."""
        return self._why_nothing_is_known() is None

    def _why_nothing_is_known(self) -> str | None:
        """Say why ``known`` cannot be decoded; None if it can."""
        if self.scheme == "IOB1":
            return "scheme='IOB1' tells where spans begin by their neighbours alone"
        tagger = self._inside()
        if not getattr(tagger, "accepts_allowed", False):
            return f"its tagger, a {type(tagger).__name__}, takes no labels allowed"
        named = parameters_named(tagger, "constraints").values()
        if any(not isinstance(each, str) for each in named):
            return f"the constraints of its tagger are not those of {self.scheme}"
        return None

    def predict(
        self, X: Texts, known: Given = None, *, min_proba: MinProba = None
    ) -> list[list[Span]]:
        """Find the labelled spans of texts.

        Parameters
        ----------
        X : list of str
            Texts.
        known : list of lists of (start, end, label), or Lexicon, optional
            What is known of each text: spans that must stand, of this type; of one of
            several, where the label is a collection of them; of any, where it is None;
            and with the label ``"O"`` parts of the text that no span may touch. The
            best of all labellings in which this is so is found. They are whole tokens,
            and do not overlap. A `Lexicon` finds them in the texts.
        min_proba : float in (0, 1], or dict, optional
            Of the spans found keep those that are at least so probable; of a dict the
            number of their type, or under the key None that of types not named.
            :meth:`predict_segment_proba` has the probabilities.

        Returns
        -------
        list of lists of Span
            The spans of each text, in order; [] for a text without a token.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str; the message names the sequence. If something
            known holds no whole tokens, contradicts something else, has an unknown
            type, or is longer than the labels learned can spell; or if the tagger takes
            nothing known. If the tagger has no probabilities for ``min_proba``, or it
            is no such number, names a type that no label has, or leaves one out.
        """
        check_is_fitted(self)
        least = self._least(min_proba)
        texts = as_texts(X)
        found: list[list[Span]]
        if has_chains(self):
            parts = asked(
                self, texts, known, lambda q: q.chain.predict(q.texts, q.known)
            )
            found = Sequences(merged(parts))
        else:
            found = self._predict(texts, known)
        return found if least is None else self._likely(texts, found, known, least)

    def _predict(self, texts: list[str], known: Given) -> list[list[Span]]:
        """Find the spans of the only chain."""
        result = Sequences()
        for part, allowed in self._parts(texts, known):
            with renumbered(part.text):
                labels = (
                    self.tagger_.predict(
                        part.sequences(self.layout, self.tagger_), **allowed
                    )
                    if len(part.text)
                    else []
                )
            spans = self._spans(labels, part, np.arange(len(part.text)))
            result += map(flatten, by_sequence(spans, part.of_text()))
        return result

    def _parts(
        self, texts: list[str], known: Given = None
    ) -> Iterator[tuple[Pieces, dict[str, Any]]]:
        """Yield the pieces of texts, about as many at once as `AT_ONCE` says, with the
        arguments of the tagger's ``predict``. Their numbers count all texts.
        """
        self._validate_params()  # parameters may have been set since ``fit``
        self._check_settings()
        given = None if known is None else self._checked_known(known, texts)
        groups = groups_of(texts)
        for first, stop in groups:
            some = texts if len(groups) == 1 else texts[first:stop]
            tokens = tokenized(some, self.tokenizer)
            whole = None
            options: dict[str, Any] = {}
            if given is not None:
                here = given[0].of_texts(first, stop)
                whole, allowed = known_in_tokens(here, tokens, given[1], first)
            pieces = cut_texts(tokens, self.pieces_, MOST_TOKENS, whole)
            if given is not None:
                options["allowed"] = by_sequence(allowed, pieces.bounds)
            yield pieces._replace(text=pieces.text + first), options

    def _checked_known(
        self, known: Given, texts: list[str]
    ) -> tuple[KnownSpans, KnownLabels]:
        """Return the known spans of texts, checked against the labels that the tagger
        has.
        """
        wrong = self._why_nothing_is_known()
        if wrong is not None:
            raise ValueError(
                f"known: this SpanTagger does not support known spans: {wrong}"
            )
        if isinstance(known, Lexicon):
            known = known.find(texts, self.tokenizer)
        given = as_known(known, texts)
        classes = np.asarray(self.tagger_.classes_).tolist()
        return given, KnownLabels(classes, self.scheme)

    def _spans(
        self, labels: list[list[str]], part: Pieces, which: np.ndarray
    ) -> list[list[Span]]:
        """Return the spans that the labels of pieces spell, in a list for each;
        ``which`` are the pieces.
        """
        if list(map(len, labels)) != np.diff(part.bounds)[which].tolist():
            raise ValueError(
                "the tagger must predict one label for each token of each text"
            )
        table = LabelTable()
        segments = [
            read_spans(line, table) if line.count("O") < len(line) else []
            for line in (each if type(each) is list else list(each) for each in labels)
        ]
        return placed(part, segments, which)

    def score(self, X: Texts, y: Corpus, sample_weight: Weights = None) -> float:
        """F1 of the spans, which are right if start, end and label are.

        Parameters
        ----------
        X : list of str
        y : list of lists of (start, end, label)
            As of :meth:`fit`; white space at the ends of spans does not count, as with
            ``texts`` in :func:`skstruct.metrics.span_f1_score`. They may overlap, and
            are not aligned with tokens: those that the model cannot predict are missed.
        sample_weight : array-like of shape (n_texts,), optional
            Multiplies the counts of a text's spans.

        Returns
        -------
        float
            0.0, with a warning, if no span is true and none is predicted.

        Raises
        ------
        ValueError
            If spans with the label None hold all that there is in the texts, so that
            nothing counts.
        """
        check_is_fitted(self)
        texts = as_texts(X)
        true = trimmed_spans(texts, y)
        given = sample_weights(sample_weight, texts)
        check_annotated(
            texts, true, [1] * len(texts) if given is None else given.tolist()
        )
        weight: Any = sample_weights(sample_weight, texts)
        weight = [1] * len(texts) if weight is None else weight.tolist()
        refuse_nothing(weight, NO_TEXT)
        counts = count_spans(true, trimmed_spans(texts, self.predict(texts)), weight)
        return f1_of(counts, "micro", "warn")
