"""The word-based segmenter: beam search over words, trained by the structured
perceptron.

What is searched and learned is in :mod:`.word_epoch` and :mod:`.word_beam`, a training
run in :mod:`.word_model`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._core.codes import UPDATES, WORD_TEMPLATES
from .._data.inputs import (
    NothingToLearn,
    Sequences,
    check_positive,
    renumbered,
    take,
)
from .._data.segmented import as_dictionary, as_pieces, as_words, with_characters
from .._data.types import Corpus, Given, Self, Texts, Weights
from .._saving.registry import savable
from .._sklearn import BaseEstimator, sample_weights, text_tags, with_callbacks
from .._training.learner import OnlineLearner, warn_if_few_are_long
from .._training.parameters import documented, parameter, parametrized
from .._training.run import TrainingState, new_key
from .._training.tables import check_unchanged, copy_state
from ..metrics.text_scores import word_f1_score
from .boundaries import as_gold, as_limits, white_space_limits
from .word_epoch import new_model
from .word_model import WordModel, WordRun, held_out_texts, make_task

if TYPE_CHECKING:
    from .boundaries import Boundaries, Pieces


@savable
@documented(
    dropout="""Probability that a character is masked for one visit of its text ([2]_,
    equation 18). Features of words see all characters; the mask removes features of the
    characters around a decision (``"zc14"``: of pairs of characters across a boundary
    and inside of a word).""",
    edge_noise="""The same for the feature of the two decisions before, the only one of
    transitions; ``"same"`` follows ``feature_noise``. ``"zc14"`` has none.""",
    min_count="""Weights that fewer updates changed do not count: features are met while
    searching.""",
    warm_start="Start ``fit`` from the weights of the last one.",
)
@parametrized()
class WordSegmenter(OnlineLearner, BaseEstimator):
    """Raw text in, words out: segmentation by words instead of labels of characters.

    A beam search reads the text and decides before each character whether a word starts
    there, with features of the word in progress and the one before it, besides those of
    the characters around [1]_, [2]_. Trained by the averaged structured perceptron, on
    the part of a text up to which the search went wrong [3]_.

    Attributes
    ----------
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``updates`` (texts learned from), ``sequence_error``,
        ``token_error`` (wrong decisions in what was learned from, by character),
        ``seconds``, and ``validation_score`` if texts are held out.

    Notes
    -----
    White space, that is what ``str.split`` splits at, separates words and belongs to
    none, in training as in prediction: the words of a text spell it without its white
    space, and no word reaches over white space.

    *Flags* say what is known character by character: True where a word starts, False
    where a word goes on, None where nothing is known. There is one for each character
    of a text, white space included, whose own flag says nothing. ``y`` may hold flags
    instead of words, for texts that are segmented in part; the right segmentation is
    then the best one that agrees with them. In prediction they are constraints.

    With ``update="max-violation"`` only texts whose best segmentation in the end is
    wrong are learned from; of a text that was wrong for a while nothing is learned
    (:class:`ShiftReduceParser` differs). Texts that are segmented in part are not held
    out by ``early_stopping``.

    Words may have any length. All features are exact: no two share a weight.

    References
    ----------
    .. [1] K. Zhang, M. Sun, C. Zhou (2012). Word segmentation on Chinese micro-blog
       data with a linear-time incremental model. CIPS-SIGHAN.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case
       study on Chinese word segmentation, POS tagging and parsing. EACL.
    .. [3] M. Collins, B. Roark (2004). Incremental parsing with the perceptron
       algorithm. ACL.
    .. [4] Y. Zhang, S. Clark (2007). Chinese segmentation with a word-based perceptron
       algorithm. ACL.
    .. [5] L. Huang, S. Fayong, Y. Guo (2012). Structured perceptron with inexact
       search. NAACL.

    Examples
    --------
    >>> from skstruct import WordSegmenter
    >>> from skstruct.datasets import load_segmentation
    >>> X, y = load_segmentation()
    >>> segmenter = WordSegmenter(random_state=0).fit(X, y)
    >>> segmenter.predict(["他在北京大学图书馆看书。"])
    [['他', '在', '北京', '大学', '图书馆', '看', '书', '。']]
    >>> segmenter.predict(["他在北京大学图书馆看书。"], dictionary=["北京大学"])
    [['他', '在', '北京大学', '图书馆', '看', '书', '。']]
    """

    accepts_dictionary = True
    """``predict`` takes ``dictionary``."""

    templates: Literal["zsz18", "zc14"] = parameter(
        default="zsz18",
        text="""Features: the 18 of [1]_, which score decisions in linear time, or the
        14 of [4]_, which score pairs of adjacent words.""",
    )
    _: KW_ONLY
    beam_size: int | None = parameter(
        default=8,
        text="""States kept at each character, in training and in prediction; may be
        changed for prediction. None keeps all: the search is exact, its time grows with
        the third power of the length of a text, its memory with the second.""",
    )
    update: Literal["max-violation", "early", "standard"] = parameter(
        default="max-violation",
        text="""Part of the text for an update: up to where the score of the right
        segmentation falls back most [5]_, up to where it left the beam [3]_, or the
        whole text (which may do harm unless the search is exact). See Notes.""",
    )

    _model: WordModel = field(init=False)
    _training: TrainingState = field(init=False)
    _model_class = WordModel
    explained_as = "words"

    def __sklearn_tags__(self) -> Any:
        return text_tags(super().__sklearn_tags__())

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
    ) -> Self:
        """Learn from segmented texts.

        Parameters
        ----------
        X : list of str
            Texts; empty ones are ignored.
        y : list of lists of str, or of flags
            The words of each text, which spell it; :class:`PartialWords` or flags (see
            Notes) for texts segmented in part.
        sample_weight : array-like of shape (n_texts,), optional
            Multiplies a text's update. Texts of weight 0 are left out altogether.
        X_val, y_val : list of str and list of lists of str, optional
            Held-out texts and their words, on which the model is scored after each
            epoch (``scoring``); the scores are ``validation_score`` in ``history_``.
            With ``early_stopping`` they decide when to stop and which epoch to keep, in
            place of a part of ``X``; otherwise they have no influence.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
            The segmenter is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; the completed epochs are kept, and the model can be used.
        """
        run, callback_context = self._begin_fit(X, y, sample_weight, X_val, y_val)
        return run.train(X, y, callback_context)

    def partial_fit(
        self, X: Texts, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> Self:
        """One pass over more texts.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.

        Returns
        -------
        self

        Notes
        -----
        After a ``fit``, the pass starts from the (averaged) weights of the fit and
        begins a new average. ``early_stopping``, ``checkpoint`` and callbacks do not
        apply.
        """
        return self._partial_fit(X, y, sample_weight)

    def _prepare(
        self,
        X: Any,  # Texts
        y: Corpus,
        sample_weight: Weights,
        given: tuple[Given, Given] | None = None,
        continued: bool = False,
        stream: bool = False,
    ) -> WordRun:
        """Check and encode everything; what is left to do is to train."""
        rule = self._rule()
        pieces = as_pieces(X)
        gold, words = as_gold(X, pieces, y)
        weight = sample_weights(sample_weight, pieces)
        used = np.zeros(len(pieces), np.bool_)
        used[with_characters(pieces)] = True
        if weight is not None:
            used &= weight > 0.0
            if not used.any():
                raise NothingToLearn(
                    "all texts with a positive sample_weight are empty"
                )
        held_out = None
        if self.early_stopping and not stream and given is None:
            whole = np.array([items is not None for items in words], np.bool_)
            test = self._held_out(np.flatnonzero(used & whole))
            with renumbered(test):
                part = take(pieces, test), take(words, test)
                held_out = held_out_texts(self, *part, test)
            used[test] = False
        # What is left out stays as an empty text, so that positions are those of X.
        pieces = [parts if keep else [] for parts, keep in zip(pieces, used.tolist())]
        known = np.concatenate(take(gold, np.flatnonzero(used)))
        task = make_task(
            ["".join(parts) for parts in pieces],
            white_space_limits(pieces),
            known,
            weight,
        )
        if continued:
            model = self._training.model
            templates = WORD_TEMPLATES[self.templates]
            check_unchanged(
                self,
                templates=(templates, model.templates),
                min_count=(int(self.min_count), model.features.min_count),
            )
            beam = self.beam_size or 0
            update = UPDATES[self.update]
            state = copy_state(self._training, rule, stream, beam=beam, update=update)
        else:
            state = self._fresh_state(new_key(self.random_state))
        run = WordRun(self, state, task, held_out)
        if not stream:
            warn_if_few_are_long(np.diff(task.token))
        run.hold_out(given)
        return run

    def _fresh_state(self, key: int) -> TrainingState:
        """Return a training state without features and weights."""
        rule = self._rule()
        templates = WORD_TEMPLATES[self.templates]
        update = UPDATES[self.update]
        model = new_model(
            templates, self.beam_size or 0, update, int(self.min_count), rule
        )
        return TrainingState(model, rule, key)

    # -- prediction --------------------------------------------------------------------
    def _limited(
        self, X: Texts, dictionary: Collection[str] | None, boundaries: Boundaries
    ) -> tuple[Pieces, np.ndarray]:
        """Return the texts cut at white space, and the decisions that must be taken."""
        check_is_fitted(self)
        pieces = as_pieces(X)
        known = None if dictionary is None else as_dictionary(dictionary)
        return pieces, as_limits(X, pieces, boundaries, known)

    def _best(
        self,
        X: Texts,
        dictionary: Collection[str] | None = None,
        boundaries: Boundaries = None,
    ) -> tuple[list[list[str]], np.ndarray]:
        pieces, limit = self._limited(X, dictionary, boundaries)
        return self._model.predict(pieces, limit, self.n_jobs, self._beam())

    def predict(
        self,
        X: Texts,
        dictionary: Collection[str] | None = None,
        boundaries: Collection[Collection[bool | None] | None] | None = None,
    ) -> list[list[str]]:
        """Segment texts into words.

        Parameters
        ----------
        X : list of str
            Texts.
        dictionary : collection of str, optional
            Words to be found as such, with no training: where a text holds one, it
            becomes a word. From left to right the longest word that begins at a
            character is taken and the search goes on behind it, so that the first of
            two words that overlap wins. The best segmentation of the rest around them
            is found.
        boundaries : list of (list of flags, or None), optional
            For each text None, or flags (see Notes): True forces a boundary before a
            character, False forbids it. Words of the dictionary that contradict flags
            are ignored.

        Returns
        -------
        list of lists of str
            The words of each text, in order; [] for a text that is empty or white
            space.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, or flags do not fit their text (the message
            names the sequence); or the dictionary holds what is no word, or white
            space.
        """
        return Sequences(self._best(X, dictionary, boundaries)[0])

    def predict_kbest(
        self,
        X: Texts,
        k: int = 5,
        dictionary: Collection[str] | None = None,
        boundaries: Collection[Collection[bool | None] | None] | None = None,
    ) -> list[list[tuple[list[str], float]]]:
        """Return the k best segmentations of each text.

        Parameters
        ----------
        X : list of str
        k : int, default=5
        dictionary, boundaries : optional
            As in :meth:`predict`; all of the k obey them.

        Returns
        -------
        list of lists of (words, score)
            For each text up to k different segmentations, best first; ties are broken
            deterministically. The first is that of :meth:`predict`, with the score of
            :meth:`decision_function`. They are the k best of those whose states the
            beam kept: the k best of all if ``beam_size`` is None, fewer than k if the
            beam leaves no more. A text that is empty or white space has one, [], with
            score 0.

        Raises
        ------
        ValueError
            As :meth:`predict`, or if ``k`` is no int of at least 1.

        Notes
        -----
        Features look at the word in progress and the one before it, so that prefixes
        that agree in both have the same future. The search keeps the k best of them
        where it keeps one for :meth:`predict`, and scores no feature twice [1]_. Its
        memory grows with k.

        References
        ----------
        .. [1] L. Huang, D. Chiang (2005). Better k-best parsing.
           IWPT.
        """
        pieces, limit = self._limited(X, dictionary, boundaries)
        check_positive("k", k)
        return Sequences(
            self._model.predict_kbest(pieces, int(k), limit, self.n_jobs, self._beam())
        )

    def decision_function(self, X: Texts) -> NDArray[np.float64]:
        """Return the scores of the best segmentations.

        Parameters
        ----------
        X : list of str

        Returns
        -------
        ndarray of shape (n_texts,)
            Not normalised: comparable between segmentations of one text only. 0 for an
            empty text.
        """
        return self._best(X)[1]

    def score(
        self, X: Texts, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> float:
        """F1 of the words.

        Parameters
        ----------
        X : list of str
        y : list of lists of str
        sample_weight : array-like of shape (n_texts,), optional
            Multiplies the counts of a text's words.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        pieces = as_pieces(X)
        words, tags = as_words(pieces, y)
        if tags is not None:
            raise ValueError(
                "y: expected words, got (word, tag) pairs: WordSegmenter knows no tags"
            )
        weight = sample_weights(sample_weight, pieces)
        predicted, _ = self._best(X)
        return word_f1_score(words, predicted, tagged=False, sample_weight=weight)
