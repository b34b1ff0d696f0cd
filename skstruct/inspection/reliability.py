"""The reliability diagram: accuracy by predicted probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.calibration import CalibrationDisplay

from .._data.inputs import SPANS, check_same_lengths
from .._data.scheme_rules import LabelTable, check_scheme
from .._data.segmented import as_pieces
from .._data.spans import trimmed_spans
from .._data.text import as_texts
from .._data.types import Corpus, Self, Weights
from .._sklearn import final_step
from ..metrics.checks import check_pairs
from ..metrics.confidence import Floats, Strategy, reliability
from ..metrics.counting import check_weight, surroundings_known, with_one_label
from ..metrics.label_scores import segment_spans
from ..metrics.text_scores import judged
from .curves import check_matplotlib
from .explain_taggers import positions_of
from .pictures import word_marks

if TYPE_CHECKING:
    from .._data.spans import Span


class ReliabilityDisplay(CalibrationDisplay):
    """Reliability diagram: accuracy against confidence.

    Use :meth:`from_estimator` or :meth:`from_predictions`. On the diagonal, what is
    said to be sure to 90 % is right nine times in ten; below it the model is too sure
    of itself.

    As scikit-learn's ``CalibrationDisplay``, for tokens, segments and words.

    Parameters
    ----------
    confidence, accuracy, count : ndarray of shape (n_bins,)
        As in `skstruct.metrics.Reliability`.
    name : str, optional
        The name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Artist
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        confidence: Floats,
        accuracy: Floats,
        count: Floats,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(accuracy, confidence, confidence, estimator_name=name)
        self.confidence = confidence
        self.accuracy = accuracy
        self.count = count
        self.name = name

    def plot(
        self,
        *,
        ax: Any = None,
        name: str | None = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax, name, ref_line
            As of scikit-learn's display: by default new axes, the display's name, and
            the diagonal too.
        **kwargs
            For ``Axes.plot``.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib("ReliabilityDisplay")
        super().plot(ax=ax, name=name, ref_line=ref_line, **kwargs)
        self.ax_.set(
            xlabel="confidence: mean probability",
            ylabel="accuracy (share of correct labels)",
        )
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Corpus,
        y: Corpus,
        *,
        scheme: str | None = None,
        sample_weight: Weights = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of a fitted model's predictions.

        Parameters
        ----------
        estimator : CalibratedTagger, L1CRF, Segmenter or SpanTagger over one, or a
        Pipeline that ends in one X, y
            As of its ``fit``.
        scheme : str, optional
            Take the predicted segments under this label scheme instead of tokens. Of a
            segmenter it is always the words, of a span tagger the spans. Those that
            hold or touch a token without label do not count.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies the counts of a sequence.
        **kwargs
            As of :meth:`from_predictions`; ``name`` is by default that of the
            estimator's class.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        ValueError
            As the estimator's methods, or if no prediction counts.
        """
        check_matplotlib(cls.__name__)
        model, X = final_step(estimator, X)
        options = {"name": type(model).__name__, **kwargs}
        if scheme is None and hasattr(model, "predict_marginals"):
            options |= {"labels": model.classes_, "sample_weight": sample_weight}
            return cls.from_predictions(y, model.predict_marginals(X), **options)
        right, p, weight = _segments(model, X, y, scheme, sample_weight)
        return cls.from_predictions(right, p, sample_weight=weight, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Corpus | ArrayLike,
        y_proba: Corpus | ArrayLike,
        *,
        labels: ArrayLike | None = None,
        n_bins: int = 10,
        strategy: Strategy = "quantile",
        sample_weight: Weights = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of predictions.

        Parameters
        ----------
        y_true, y_proba, labels, n_bins, strategy, sample_weight
            As of `skstruct.metrics.reliability`.
        name : str, optional
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            As `skstruct.metrics.reliability`.

        Examples
        --------
        >>> from skstruct.inspection import ReliabilityDisplay
        >>> right, probability = [True, True, False, True], [0.9, 0.8, 0.5, 0.6]
        >>> display = ReliabilityDisplay.from_predictions(right, probability, n_bins=2)  # doctest: +SKIP
        """
        found = reliability(
            y_true,
            y_proba,
            labels=labels,
            n_bins=n_bins,
            strategy=strategy,
            sample_weight=sample_weight,
        )
        return cls(*found, name=name).plot(**kwargs)


def _segments(
    model: Any, X: Any, y: Corpus, scheme: str | None, weight: Weights
) -> tuple[list[bool], list[float], np.ndarray]:
    """Judge each segment that a model finds and that counts.

    Returns
    -------
    right, probability, weight
        Of each.
    """
    found = model.predict_segment_proba(
        X, **({} if scheme is None else {"scheme": scheme})
    )
    if scheme is not None:
        table = LabelTable(check_scheme(scheme), strict=False)
        checked = check_pairs(y, y, names=("y", "y"))
        labels = [
            (true, true) for true in (with_one_label(each) for each, _ in checked)
        ]
        gold = [set(segments) for segments, _ in segment_spans(labels, table)]
        check_same_lengths(*(np.zeros(len(each), np.int64) for each in (found, gold)))
        found = [
            [
                (span, p)
                for span, p in some
                if surroundings_known(true, span[0], span[1])
            ]
            for some, (true, _) in zip(found, labels)
        ]
    elif model.inputs.task == SPANS:
        gold, found = _judged(as_texts(X), y, found)
    else:
        places = zip(word_marks(as_pieces(X), y), positions_of(model, X) or ())
        gold = [
            {(at[m.start], at[m.stop - 1] + 1, m.text) for m in marks}
            for marks, at in places
        ]
    check_same_lengths(*(np.zeros(len(each), np.int64) for each in (found, gold)))
    pairs = [
        (span in right, p) for spans, right in zip(found, gold) for span, p in spans
    ]
    n = [len(spans) for spans in found]
    return (
        [right for right, _ in pairs],
        [p for _, p in pairs],
        np.repeat(check_weight(weight, len(n)), n),
    )


def _judged(
    texts: list[str], y: Corpus, found: list[list[tuple[Span, float]]]
) -> tuple[list[set[Any]], list[list[tuple[Span, float]]]]:
    """Return the right spans of texts, and the found ones that count.

    Those do not count that touch what is not annotated.
    """
    spans = trimmed_spans(texts, [[span for span, _ in each] for each in found])
    proba = [dict(zip(some, (p for _, p in each))) for some, each in zip(spans, found)]
    gold = []
    counted = []
    for true, known in zip(trimmed_spans(texts, y), proba):
        right, those = judged(true, known)
        gold.append(right)
        counted.append([(span, known[span]) for span in those])
    return gold, counted
