"""The structured perceptron, and the passive-aggressive tagger, whose steps are as long
as a margin asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .._core.codes import VARIANTS
from .._saving.registry import savable
from .._training.parameters import documented, parameter, parametrized
from .online_tagger import OnlineTagger

if TYPE_CHECKING:
    from .._core.store import Rule


@savable
@documented()
@parametrized(kw_only=True)
class StructuredPerceptron(OnlineTagger):
    """Sequence tagger trained by the averaged structured perceptron.

    For each example the best labelling under the current weights is decoded; if it is
    wrong, the weights step towards the features of the right labelling and away from
    those of the wrong one [1]_. Averaging, penalties and dropout follow [2]_,
    corruption of features [3]_.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``epoch`` (counted from 1, and on over continued fits),
        ``updates`` (sequences predicted wrongly), ``sequence_error``, ``token_error``,
        ``loss`` (here the same as ``updates``), ``seconds``, ``complete`` (False if
        Ctrl-C cut the epoch short), and ``validation_score`` if sequences are held out.
    resumed_from_ : int
        Epochs that came from the checkpoint; there only if ``checkpoint`` is given.

    See Also
    --------
    skstruct.inspection.feature_weights : The weights learned, by name of the feature.
    skstruct.inspection.transition_weights : Those of pairs of labels.

    References
    ----------
    .. [1] M. Collins (2002). Discriminative training methods for hidden Markov models:
       theory and experiments with perceptron algorithms. EMNLP.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case
       study on Chinese word segmentation, POS tagging and parsing. EACL.
    .. [3] A. Søgaard (2013). Zipfian corruptions for robust POS tagging.
       NAACL.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """


@savable
@documented(
    class_weight="""A margin, the cost of missing a token of a label, and not
    scikit-learn's weight of a class: ``{"O": 0.1}`` makes ``O`` more frequent, not
    less. It is added to the margin of 1 asked for; with ``cost="hamming"`` it is in
    place of the cost 1 of a wrong token. A dict maps labels to costs; labels it lacks
    cost nothing extra. ``"balanced"`` is inverse to frequency, 1 on average over
    tokens."""
)
@parametrized(kw_only=True)
class PassiveAggressiveTagger(OnlineTagger):
    """Sequence tagger trained by the online passive-aggressive algorithm.

    For each example the best *wrong* labelling is decoded exactly; if the right one
    does not beat it by a margin, the weights take the smallest step that restores the
    margin ([1]_, equations 2 to 14; [2]_). Averaging, penalties and dropout follow
    [3]_, trigrams of labels [4]_.

    Attributes
    ----------
    classes_, n_iter_, history_, resumed_from_
        As in :class:`StructuredPerceptron`; the ``loss`` in the history is the sum of
        the hinge losses met.

    Notes
    -----
    Algorithm 1 of [1]_ prints ``w_0 ← 0`` inside the loop over epochs, which would
    forget every epoch and average ten models of one pass each. It is read as ``w_0 ←
    w_T`` of the epoch before, 0 for the first: otherwise a later epoch would learn no
    more than the first.

    References
    ----------
    .. [1] W. Gao, X. Qiu, X. Huang (2010). Adaptive Chinese word segmentation with
       online passive-aggressive algorithm. CIPS-SIGHAN.
    .. [2] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006). Online
       passive-aggressive algorithms. JMLR 7.
    .. [3] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case
       study on Chinese word segmentation, POS tagging and parsing. EACL.
    .. [4] M. Collins (2002). Discriminative training methods for hidden Markov models:
       theory and experiments with perceptron algorithms. EMNLP.

    Examples
    --------
    >>> from skstruct import PassiveAggressiveTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = PassiveAggressiveTagger(max_iter=5, random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    C: float = parameter(
        default=1.0,
        text="Aggressiveness: largest step (PA-I), or inverse softness (PA-II).",
        kind="float > 0",
    )
    variant: Literal["PA-I", "PA", "PA-II"] = parameter(
        default="PA-I",
        text="Step ``min(C, loss / ‖Δφ‖²)``, ``loss / ‖Δφ‖²`` or ``loss / (‖Δφ‖² + 1/2C)``.",
    )
    cost: Literal["one", "hamming"] = parameter(
        default="one",
        text="""The margin asked for: 1, or the number of wrong tokens (then also added
        in decoding, so that the labelling found is the worst offender).""",
    )
    average: Literal["step", "epoch"] | None = parameter(  # type: ignore[assignment]
        # other values than those of the perceptron
        default="step",
        text="""Average the weights after every example, or after every epoch ([1]_,
        algorithm 1), or use the last ones.""",
    )

    def _rule(self) -> Rule:
        return (
            super()
            ._rule()
            ._replace(
                update=VARIANTS[self.variant],
                aggressiveness=float(self.C),
                hamming=self.cost == "hamming",
            )
        )
