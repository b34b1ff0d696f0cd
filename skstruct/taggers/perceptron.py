"""The structured perceptron."""

from dataclasses import dataclass

from ..saving.registry import savable
from ..training.parameters import documented
from .online_tagger import OnlineTagger


@savable
@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class StructuredPerceptron(OnlineTagger):
    """Sequence tagger trained by the averaged structured perceptron.

    For each example the best labelling under the current weights is decoded; if it is wrong, the
    weights step towards the features of the right labelling and away from those of the wrong one
    [1]_. Averaging, penalties and dropout follow [2]_, corruption of features [3]_.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``epoch`` (counted from 1, and on over continued fits), ``updates`` (sequences
        predicted wrongly), ``sequence_error``, ``token_error``, ``loss`` (here the same as ``updates``),
        ``seconds``, ``complete`` (False if Ctrl-C cut the epoch short), and ``validation_score`` if sequences
        are held out.
    resumed_from_ : int
        Epochs that came from the checkpoint; there only if ``checkpoint`` is given.

    References
    ----------
    .. [1] M. Collins (2002). Discriminative training methods for hidden Markov models: theory and
       experiments with perceptron algorithms. EMNLP.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case study on Chinese
       word segmentation, POS tagging and parsing. EACL.
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
