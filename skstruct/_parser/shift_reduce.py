"""The dependency parser: beam search over shift-reduce actions, trained by the
structured perceptron.

What is searched and learned is in :mod:`.parser_epoch` and :mod:`.parser_beam`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._core.codes import UPDATES
from .._data.elements import exact_strings
from .._data.inputs import (
    TREES,
    Sequences,
    as_sequences,
    check_positive,
    check_X_y,
    offsets_of,
    renumbered,
    take,
)
from .._data.labels import Labels
from .._data.types import Corpus, Given, Ranked, Self, Weights
from .._saving.registry import savable
from .._sklearn import (
    BaseEstimator,
    StrOptions,
    sample_weights,
    sequence_tags,
    with_callbacks,
)
from .._training.held_out import HeldOut
from .._training.learner import OnlineLearner
from .._training.parameters import documented, parameter, parametrized
from .._training.run import TrainingState, new_key
from .._training.tables import check_unchanged
from .atoms import AtomEncoder, check_words, count_parts
from .dependency_trees import check_trees, encode_trees, mark_lifted_trees, split_arcs
from .parser_epoch import new_model
from .parser_model import ParserModel, make_task, state_to_continue
from .parser_run import (
    ParseRun,
    encode_learned_labels,
    select_sentences,
    unlabeled_attachment,
)
from .template_sets import TEMPLATE_SETS, lines_of

if TYPE_CHECKING:
    from .atoms import Columns
    from .dependency_trees import Tree
    from .template_sets import Lines


@savable
@documented(
    dropout="""Probability that a form is masked for one visit of its sentence ([2]_,
    equation 18), with all that is derived from it. Tags never are.""",
    edge_noise="""The same for features that look at decisions before: at children and
    their numbers. ``"same"`` follows ``feature_noise``.""",
    min_count="""Features whose weights fewer updates changed do not count: they are met
    while searching.""",
)
@parametrized()
class ShiftReduceParser(OnlineLearner, BaseEstimator):
    """Dependency parser in linear time: shift-reduce actions, beam search with state
    merging.

    Words are read from left to right; an action puts the next word on a stack or joins
    the two trees on its top. The beam keeps the best states at each step, with
    equivalent states merged, so that it covers many more trees than it has states [1]_.
    The label of an arc is chosen with the arc, its score counts in the search, and
    later steps can read it; if no template reads labels (as in ``"hs28"``) they are
    chosen after the search, for the arcs of the tree that was found. Trained by the
    averaged structured perceptron [2]_ on the actions up to where the search went wrong
    [3]_, [4]_.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted; with ``labeled`` only. With ``projectivize="pseudo"`` those
        of lifted arcs, as ``nmod↑obj``, are among them.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``updates`` (sentences learned from), ``sequence_error``,
        ``token_error`` (wrong heads in what was learned from and wrong labels of right
        trees, by word), ``seconds``, and ``validation_score`` if sentences are held
        out.

    Notes
    -----
    A tree is given, and predicted, as a list with the head of each word: 1-based, 0 at
    the root, of which there is exactly one. Empty sentences have empty trees; training
    passes over them.

    With ``update="max-violation"`` sentences are learned from whenever some prefix of
    the right actions was not the best of the beam, even if the tree found in the end is
    right (:class:`WordSegmenter` differs).

    Sentences may have any length; time grows with it linearly. All features are exact:
    no two share a weight. Up to 4,093 distinct tags are possible.

    References
    ----------
    .. [1] L. Huang, K. Sagae (2010). Dynamic programming for linear-time incremental
       parsing. ACL.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case
       study on Chinese word segmentation, POS tagging and parsing. EACL.
    .. [3] M. Collins, B. Roark (2004). Incremental parsing with the perceptron
       algorithm. ACL.
    .. [4] L. Huang, S. Fayong, Y. Guo (2012). Structured perceptron with inexact
       search. NAACL.
    .. [5] J. Nivre, J. Nilsson (2005). Pseudo-projective dependency parsing.
       ACL.

    Examples
    --------
    >>> from skstruct import ShiftReduceParser
    >>> X = [[("the", "D"), ("dog", "N"), ("barks", "V")],
    ...      [("cats", "N"), ("see", "V"), ("dogs", "N")]]
    >>> y = [[(2, "det"), (3, "nsubj"), (0, "root")],
    ...      [(2, "nsubj"), (0, "root"), (2, "obj")]]
    >>> parser = ShiftReduceParser(max_iter=5, random_state=0).fit(X, y)
    >>> parser.predict([[("the", "D"), ("cat", "N"), ("sees", "V"), ("dogs", "N")]])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root'), (3, 'obj')]]
    """

    templates: str | list[str] | tuple[str, ...] = parameter(
        default="auto",
        text="""Features of states: ``"hs28"`` (the 28 of [1]_), ``"hs29"`` (one more,
        as that parser was released), ``"zsz28"`` (those of [2]_), ``"rich"`` (ours:
        distances, numbers of children, affixes, the word after the next), ``"auto"``
        (``"rich"``, and more for each column after the tag), or lines such as ``"s0.w
        s1.t"``. Words are ``s0`` ``s1`` ``s2`` (stack, from the top), ``q0`` ``q1``
        ``q2`` (queue), and of s0 and s1 the outermost children ``s0.lc`` ``s0.rc`` and
        those next to them, ``s0.lc2`` ``s0.rc2``. Attributes are ``w`` form, ``t`` tag,
        ``l`` form in lower case, ``x2`` ``x3`` its last characters, ``f`` its shape,
        ``c2`` ``c3`` ... further columns, ``p2`` ... their parts between bars; numbers
        ``vl`` ``vr`` (children on the left, on the right) and ``d`` (distance).""",
        kind="str or list of str",
        allowed=[StrOptions({"auto", *TEMPLATE_SETS}), list, tuple],
    )
    _: KW_ONLY
    beam_size: int = parameter(
        default=8, text="States kept at each step; may be changed for prediction."
    )
    merge_states: bool = parameter(
        default=True, text="Merge states that no feature can tell apart."
    )
    update: Literal["max-violation", "early", "standard"] = parameter(
        default="max-violation",
        text="""Actions of an update: up to where the right ones fall back most [4]_, up
        to where they left the beam [3]_, or all (which does harm unless the beam is
        wide). See Notes.""",
    )
    labeled: bool = parameter(
        default=True,
        text="Learn and predict labels of arcs; if false, only heads.",
    )
    projectivize: Literal["lift", "pseudo", "skip"] = parameter(
        default="lift",
        text="""Training trees that are not projective: move dependents up until they
        are (labels unchanged); write into the labels, too, where from, so that
        predicted trees need not be projective [5]_; or leave the sentence out.""",
    )

    root_step: bool = parameter(
        default=False,
        text="""Score the choice of the root as an action of its own, the last one, with
        features of the whole tree. Without, the word that is left over is the root.""",
    )

    classes_: NDArray[Any] = field(init=False)
    _model: ParserModel = field(init=False)
    _training: TrainingState = field(init=False)

    _model_class = ParserModel
    explained_as = "tree"

    def __sklearn_tags__(self) -> Any:
        return sequence_tags(super().__sklearn_tags__())

    # -- fitting -----------------------------------------------------------------------
    @with_callbacks
    def fit(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights = None,
        *,
        X_val: Given = None,
        y_val: Given = None,
    ) -> Self:
        """Learn from trees.

        Parameters
        ----------
        X : list of lists of (form, tag) or (form, tag, ...)
            Sentences. Columns behind the tag are symbols of any kind; the parts of
            morphological features such as ``Case=Nom|Number=Sing`` are features too.
            All words have equally many.
        y : list of lists of (head, label), or of heads if not ``labeled``
            Trees. A label of None is not known: nothing is learned from it.
        sample_weight : array-like of shape (n_sentences,), optional
            Multiplies a sentence's update. Sentences of weight 0 are left out
            altogether.
        X_val, y_val : lists of sentences, and their trees, optional
            Held-out sentences, on which the model is scored after each epoch
            (``scoring``); the scores are ``validation_score`` in ``history_``. With
            ``early_stopping`` they decide when to stop and which epoch to keep, in
            place of a part of ``X``; otherwise they have no influence on the model.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described, or heads form no tree; the message names
            sequence and position. The parser is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; the completed epochs are kept, and the model can be used.

        Warns
        -----
        UserWarning
            If ``y_val`` has labels that training lacks; once, naming them. They count
            as wrong.
        """
        run, callback_context = self._begin_fit(X, y, sample_weight, X_val, y_val)
        return run.train(X, y, callback_context)

    def partial_fit(
        self, X: Corpus, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> Self:
        """One pass over more trees; words, tags and labels may be new.

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
        X: Corpus,
        y: Corpus,
        sample_weight: Weights,
        given: tuple[Given, Given] | None = None,
        continued: bool = False,
        stream: bool = False,
    ) -> ParseRun:
        """Check and encode everything; what is left to do is to train."""
        if self.projectivize == "pseudo" and not self.labeled:
            raise ValueError(
                "projectivize='pseudo' writes what was lifted into labels: it needs "
                "labeled=True"
            )
        rule = self._rule()
        X, y, token = check_X_y(X, y)
        weight = sample_weights(sample_weight, X)
        columns = check_words(
            X, token, self._model.encoder.width if continued else None
        )
        lines = self._lines(columns, continued)
        trees, arcs = split_arcs(y, self.labeled)
        heads = check_trees(trees)
        actions, lifted, skipped = encode_trees(
            heads, token, self.projectivize != "skip"
        )
        if self.projectivize == "pseudo" and arcs is not None:
            arcs = mark_lifted_trees(
                list(map(exact_strings, arcs)), heads, lifted, token
            )
        used = select_sentences(token, skipped, weight, self.projectivize)
        held_out = None
        if self.early_stopping and not stream and given is None:
            test = self._held_out(np.flatnonzero(used))
            with renumbered(test):
                part = take(X, test), take(y, test)
                held_out = HeldOut(self, TREES, *part, positions=test, from_X=True)
            used[test] = False
        # What is left out stays as an empty sentence, so that positions are those of X.
        words = np.flatnonzero(np.repeat(used, np.diff(token)))
        lengths = np.where(used, np.diff(token), 0)
        old_labels = self._model.labels if continued else Labels()
        gold = None
        labels = old_labels
        if arcs is not None:
            gold, labels = encode_learned_labels(
                arcs, token, used, labels, self._is_part
            )
            gold = gold[words]
        columns = [take(column, words) for column in columns]
        encoder = (
            self._model.encoder
            if continued
            else AtomEncoder(lines.attributes(), len(columns))
        )
        atoms, encoder = encoder.grown(columns)
        actions = actions.reshape(-1, 2)[words].ravel()
        task = make_task(
            atoms,
            encoder.rows,
            offsets_of(lengths),
            actions,
            lifted[words],
            gold,
            weight,
        )
        if continued:
            known = lines, encoder, old_labels, labels
            state = state_to_continue(
                self._training, *known, self._settings(), rule, stream
            )
        else:
            state = self._fresh_state(
                lines, encoder, labels, new_key(self.random_state)
            )
        run = ParseRun(self, state, task, lines, encoder, labels, held_out)
        run.hold_out(given)
        return run

    def _settings(self) -> dict[str, Any]:
        """Return how to search, and what to learn from, as the kernels read it."""
        return {
            "beam": int(self.beam_size),
            "merge": bool(self.merge_states),
            "update": UPDATES[self.update],
            "root_step": bool(self.root_step),
        }

    def _fresh_state(
        self, lines: Lines, encoder: AtomEncoder, labels: Labels, key: int
    ) -> TrainingState:
        """Return a training state without features and weights."""
        lines.check_labels(len(labels))
        templates = lines.compiled(encoder.rows)
        rule = self._rule()
        if not templates[0].slot.size:
            raise ValueError(
                "templates give no feature of states: each reads labels, which "
                "labeled=False leaves out, or parts of a column, such as "
                "Case=Nom|Number=Sing, where no word has some"
            )
        min_count = int(self.min_count)
        model = new_model(
            *templates, len(labels), rule=rule, min_count=min_count, **self._settings()
        )
        return TrainingState(model, rule, key)

    def _lines(self, columns: Columns, continued: bool) -> Lines:
        """Return the templates for words of these columns; those of the fit to go on
        from, which have to agree.
        """
        parts = self._model.encoder.parts if continued else count_parts(columns)
        lines = lines_of(self.templates, self.labeled, len(columns), parts)
        lines.check_columns(len(columns))
        if continued:
            check_unchanged(
                self,
                templates=(self._model.templates.states, lines.states),
                labeled=(bool(self.labeled), len(self._model.labels) > 0),
                projectivize=(self.projectivize == "pseudo", self._model.pseudo),
                root_step=(bool(self.root_step), self._model.arrays.root_step),
                min_count=(
                    int(self.min_count),
                    self._training.model.state_features.min_count,
                ),
            )
        return self._model.templates if continued else lines

    # -- prediction --------------------------------------------------------------------
    def _best(self, X: Corpus) -> tuple[list[Tree], np.ndarray]:
        """Return the best trees and their scores, (n,) float64."""
        check_is_fitted(self)
        return self._model.predict(as_sequences(X), self.n_jobs, self._beam())

    def predict(self, X: Corpus) -> list[list[Any]]:
        """Predict the trees of sentences.

        Parameters
        ----------
        X : list of lists of (form, tag) or (form, tag, ...)
            Sentences.

        Returns
        -------
        list of lists of (head, label), or of heads if not ``labeled``
            One for each word of each sentence, with one root; projective unless
            ``projectivize="pseudo"``.

        Raises
        ------
        ValueError
            If a word has not as many columns as in training, or one is no str or empty;
            the message names sequence and position.
        """
        return Sequences(self._best(X)[0])

    def predict_kbest(self, X: Corpus, k: int = 5) -> Ranked:
        """Return the best trees of each sentence.

        Parameters
        ----------
        X : list of lists of (form, tag) or (form, tag, ...)
        k : int, default=5

        Returns
        -------
        list of lists of (tree, score)
            For each sentence up to k different trees, best first: the best of all that
            can be put together of the states that the search kept, fewer than k if
            there are no more. With a beam that keeps all states they are the best of
            all trees. The first is that of :meth:`predict`, with the score of
            :meth:`decision_function`. Without ``merge_states`` only trees with which
            the search ends.

        Raises
        ------
        ValueError
            As :meth:`predict`, or if ``k`` is no int of at least 1.
        """
        check_is_fitted(self)
        check_positive("k", k)
        return Sequences(
            self._model.predict_kbest(
                as_sequences(X), int(k), self.n_jobs, self._beam()
            )
        )

    def decision_function(self, X: Corpus) -> NDArray[np.float64]:
        """Return the scores of the trees that :meth:`predict` returns.

        Parameters
        ----------
        X : list of lists of (form, tag) or (form, tag, ...)

        Returns
        -------
        ndarray of shape (n_sentences,)
            Of the actions that build the tree, and of the labels if templates read
            labels, as those of ``"auto"`` do. Not normalised: comparable between trees
            of one sentence only. 0 for an empty sentence.
        """
        return self._best(X)[1]

    def score(
        self, X: Corpus, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> float:
        """Unlabeled attachment score: the share of words with the right head, over all
        words.

        Parameters
        ----------
        X : list of lists of (form, tag) or (form, tag, ...)
        y : list of lists of (head, label), or of heads
            Words whose head is None do not count.
        sample_weight : array-like of shape (n_sentences,), optional
            Multiplies the counts of a sentence's words.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the input is not as described (the message names sequence and position),
            or there is no word to score.
        """
        check_is_fitted(self)
        X, y, _ = check_X_y(X, y)
        weight = sample_weights(sample_weight, X)
        return unlabeled_attachment(y, self._best(X)[0], weight)
