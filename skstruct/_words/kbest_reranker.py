"""Re-ranking: the analyses of a base model judged again, with features of words.

What is searched and learned is in :mod:`.reranker_epoch`; what comes from the base is
in :mod:`.word_lattice`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._data.folds import check_groups
from .._data.inputs import (
    LABELS,
    WORDS,
    Inputs,
    Sequences,
    offsets_of,
    renumbered,
    take,
)
from .._data.labels import check_gold_of_model, distinct_labels
from .._data.places import numbered
from .._data.types import Corpus, Given, Self, Weights
from .._saving.registry import savable
from .._sklearn import (
    BaseEstimator,
    cut_metadata,
    fit_some,
    safe_indexing,
    sample_weights,
    sequence_tags,
    tags_around,
    with_callbacks,
)
from .._taggers.meta_learner import OffersDefault, ShowsColumns
from .._taggers.metadata import asking_for_weights, fit_routing, routed
from .._taggers.perceptron import StructuredPerceptron
from .._taggers.segmenter import Segmenter
from .._training.checkpoint import seed_of_data, seed_of_draws
from .._training.chunks import map_chunks, threads
from .._training.epochs import epoch_order
from .._training.held_out import HeldOut, of_held_out
from .._training.learner import OnlineLearner
from .._training.parameters import (
    documented,
    inner_estimator,
    parameter,
    parameters_named,
    parametrized,
)
from .._training.run import TrainingState, new_key
from .._training.tables import check_unchanged, copy_state
from ..metrics.checks import in_order
from ..metrics.counting import has_label
from .reranker_epoch import ABSENT, new_model
from .reranker_model import RerankModel, RerankRun, f1_of
from .word_lattice import adapter_of, lattices_of, make_task, paths

if TYPE_CHECKING:
    from .reranker_epoch import LatticeTask
    from .word_lattice import Adapter, Item, Node


@savable
@documented(
    dropout="""Probability that the words that begin at a character (with a tagger: the
    token there) lose their forms for one visit: features of these words are left out,
    features of tags and lengths stay.""",
    edge_noise="""The same for features of tags alone that read more than one;
    ``"same"`` follows ``feature_noise``.""",
    min_count="Weights that fewer updates changed do not count.",
    warm_start="""Start ``fit`` from the weights of the last one; the base is trained
    again.""",
    n_jobs="""Threads, for the bases of jackknifing and in prediction. Results do not
    depend on it.""",
    random_state="""Determines folds, orders, noise and the held-out sequences; not the
    base.""",
)
@parametrized()
class KBestReranker(ShowsColumns, OffersDefault, OnlineLearner, BaseEstimator):
    """Re-rank the k best analyses of a base model, with features of words and of their
    neighbours.

    A tagger of characters sees words only label by label. Here the k best segmentations
    of the base, with tags or without, are cut into words; these make a lattice, in
    which the best path is searched, exactly, under a linear model of words, tags,
    lengths, their pairs and triples ([1]_, section 6). Of the base's score a word keeps
    its margin: how much lower than the best analysis the best one with this word
    scores. Since paths may combine words of several of the k analyses, the result need
    not be one of these.

    Training needs analyses as the base makes them for text it has not seen. So the
    corpus is divided into ``cv`` parts; the lattices of each come from a clone of the
    base that was trained on the others (jackknifing). The base that predicts is trained
    on everything.

    Attributes
    ----------
    base_ : estimator
        The base, trained on everything.
    classes_ : ndarray of shape (n_labels,)
        If the base has labels.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        As in :class:`StructuredPerceptron`.
    oracle_ : float
        F1 of the paths learned from: what perfect re-ranking of the training lattices
        would reach.

    Notes
    -----
    Differs from the lattices of [1]_'s first author, which hold all words up to a fixed
    margin: here k decides which. The margins of the words that are there are the same.

    What ``early_stopping`` takes away from ``X`` are lattices, which are not learned
    from and are scored by the F1 of their nodes; the base is trained on all sequences.
    ``checkpoint`` keeps the state of re-ranking: the bases are trained again by a fit
    that is resumed, unless they have checkpoints of their own.

    References
    ----------
    .. [1] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case
       study on Chinese word segmentation, POS tagging and parsing. EACL.

    Examples
    --------
    >>> from skstruct import KBestReranker, Segmenter, StructuredPerceptron
    >>> from skstruct.datasets import load_segmentation
    >>> X, y = load_segmentation()
    >>> base = Segmenter(StructuredPerceptron(features="char", random_state=0))
    >>> reranker = KBestReranker(base, k=5, cv=3, random_state=0).fit(X, y)
    >>> reranker.predict(["他在北京大学图书馆看书。"])
    [['他', '在', '北京', '大学', '图书馆', '看', '书', '。']]
    """

    _not_combinable = (
        "its weights refer to candidates of its own base, so that they cannot be "
        "averaged; use {} inside of its base"
    )
    """The reason why ``BaggingShuffleAverager`` does not take it."""

    base: Any = inner_estimator(
        """A ``Segmenter``, whose tagger has ``predict_kbest``, a ``WordSegmenter``, a
        mixture of either, or a tagger that has it; None means
        ``Segmenter(StructuredPerceptron("char"))``, since a base is trained ``cv + 1``
        times. With a tagger the words are tokens and the tags their labels."""
    )
    k: int = parameter(default=20, text="Analyses of the base.")
    cv: int = parameter(
        default=10,
        text="Parts of the corpus for jackknifing, or of the groups that ``fit`` is "
        "given.",
        kind="int >= 2",
    )

    _model: RerankModel = field(init=False)
    _training: TrainingState = field(init=False)
    _around = "base"
    _model_class = RerankModel
    explained_as = "lattice"

    base_: Any = field(init=False)
    oracle_: float = field(init=False)

    def __sklearn_tags__(self) -> Any:
        return tags_around(sequence_tags(super().__sklearn_tags__()), self._template())

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that the base knows, where it is a tagger."""
        check_is_fitted(self)
        if not hasattr(self.base_, "classes_"):
            raise AttributeError(
                "KBestReranker has no attribute 'classes_': its base has none"
            )
        return self.base_.classes_

    @property
    def inputs(self) -> Inputs:
        """Return what the fitted model reads and predicts, a
        :class:`skstruct.features.Inputs`.
        """
        check_is_fitted(self)
        return self.base_.inputs

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
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Train the bases, then the model that judges their analyses.

        Parameters
        ----------
        X, y
            As the base takes them: texts and their words, or (word, tag) pairs; or
            sequences of tokens and their labels, where None marks a token that is not
            labelled.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's update, and is handed to the bases, divided by its
            mean, since margins are told apart by their size; with metadata routing if
            the base asks for it. Sequences of weight 0 are left out.
        X_val, y_val : optional
            Held-out sequences, as ``X`` and ``y``, on which re-ranking is scored after
            each epoch (``scoring``); the scores are ``validation_score`` in
            ``history_``. With ``early_stopping`` they decide when to stop and which
            epoch to keep, in place of a part of ``X``; otherwise they have no
            influence. The bases do not see them.
        groups : array-like of shape (n_sequences,), optional
            For instance documents: no base scores a part of a group of which it has
            seen another. With metadata routing handed to the base, if it asks for them.
        **params
            Metadata that the base asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
            The estimator is then as it was before.
        KeyboardInterrupt
            After Ctrl-C. Once re-ranking has begun its completed epochs are kept; an
            interrupt before, while bases are trained, leaves the estimator as it was.

        Warns
        -----
        UserWarning
            If ``y_val`` has labels that training lacks; once, naming them. They count
            as wrong.
        """
        run, callback_context = self._begin_fit(
            X, y, sample_weight, X_val, y_val, groups=groups, **params
        )
        return run.train(X, y, callback_context)

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing of this object and of the base.

        scikit-learn's user guide explains it.
        """
        return fit_routing(self, base=self._template())

    @classmethod
    def _default(cls) -> Any:
        """Return what None stands for as the base, not fitted."""
        tagger = asking_for_weights(StructuredPerceptron(features="char"))
        return asking_for_weights(Segmenter(tagger))

    def _new_base(self) -> Any:
        """Return a base to train, not fitted.

        Analyses of a base that draws otherwise are other data, so that where a
        checkpoint is kept a base has a seed.
        """
        base = clone(self._template())
        if self.checkpoint is not None:
            given = parameters_named(base, "random_state")
            seedless = [name for name, value in given.items() if value is None]
            seed = seed_of_data(self, np.array([self.k]))
            base.set_params(**dict.fromkeys(seedless, seed))
        return base

    def _new_key(self, lengths: np.ndarray) -> int:
        """Draw the random key of a fit on sequences of these lengths."""
        return new_key(seed_of_draws(self, lengths, self.checkpoint is not None))

    def _prepare(
        self,
        X: Corpus,
        y: Corpus,
        sample_weight: Weights,
        given: tuple[Given, Given] | None = None,
        continued: bool = False,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> RerankRun:
        """Check everything, train the bases, and encode their analyses."""
        rule = self._rule()
        adapter = adapter_of(clone(self._to_fit()))
        X, y = adapter.check(X, y)
        given = self._checked_held_out(adapter, given, y)
        weight = sample_weights(sample_weight, X)
        metadata = routed(
            self,
            "fit",
            "base",
            {"sample_weight": weight, **params},
            shared={"groups": groups},
        )
        lengths = adapter.lengths(X)
        used, group = self._used(lengths, weight, groups)
        if continued:
            check_unchanged(
                self,
                min_count=(
                    int(self.min_count),
                    self._training.model.features.min_count,
                ),
            )
        key = self._training.key if continued else self._new_key(lengths)
        metadata = _with_relative_weights(cut_metadata(X, metadata, used))
        X = safe_indexing(X, used)
        y = take(y, used)
        lengths = lengths[used]
        n = used.shape[0]
        weight = None if weight is None else weight[used]
        test: list[int] = []
        if self.early_stopping and given is None:
            test = self._drawn(adapter, X, y, used)
        with renumbered(used):
            base = fit_some(self._new_base(), X, y, np.arange(n), metadata)
            lattices = self._jackknife(adapter, X, y, metadata, key, group)
        words, tags = self._known(continued)
        gold = adapter.gold(X, y)
        train = np.setdiff1d(np.arange(n), test).tolist()
        corpus = (lattices, lengths, gold)
        of_train = None if weight is None else weight[train]
        task, n_items = _encode(*corpus, train, words, tags, of_train)
        held_out = None
        if test:
            # What only these have stays unknown: such words get numbers that no feature
            # knows.
            encoded = (*_encode(*corpus, test, dict(words), dict(tags)), None)
            part = safe_indexing(X, test), take(y, test), encoded
            held_out = HeldOut(self, None, *part, positions=used[test], from_X=True)
        state = (
            copy_state(self._training, rule) if continued else self._fresh_state(key)
        )
        oracle = f1_of(task, task.target != ABSENT, n_items)
        run = RerankRun(self, state, task, words, tags, base, oracle, held_out)
        run.hold_out(given)
        return run

    def _checked_held_out(
        self, adapter: Adapter, given: tuple[Given, Given] | None, y: Any
    ) -> tuple[Any, Any] | None:
        """Check the user's held-out sequences, if there are any: what is wrong there
        should not come up after the bases are trained. ``y`` is that of training.
        """
        if given is None:
            return None
        with of_held_out():
            checked = adapter.check(*given)
            self._check_scoring(adapter, *checked, y)
        return checked

    def _drawn(self, adapter: Adapter, X: Any, y: Any, used: np.ndarray) -> list[int]:
        """Draw the sequences that early stopping judges by; ``used`` has the numbers of
        all in the user's ``X``.
        """
        test = self._held_out(np.flatnonzero([has_label(items) for items in y]))
        with renumbered(used[test]):
            self._check_scoring(adapter, safe_indexing(X, test), take(y, test), y)
        return test

    def _check_scoring(self, adapter: Adapter, X: Any, y_held_out: Any, y: Any) -> None:
        """Raise, before bases are trained, unless the scorer can count what held-out
        sequences hold; ``y`` has the labels of all.
        """
        if not adapter.finds_words:
            distinct_labels(y_held_out, offsets_of(adapter.lengths(X)))
        if self.scoring is not None:
            from ..metrics.countable import labels_in, refuse_uncountable

            known = () if adapter.finds_words else in_order(labels_in(y))
            task = WORDS if adapter.finds_words else LABELS
            refuse_uncountable(self, task, X, y_held_out, known)

    def _known(self, continued: bool) -> tuple[dict[Any, int], dict[Any, int]]:
        """Return the numbers of words and of tags to go on with; none at the start."""
        if not continued:
            return {}, {}
        return dict(self._model.words), dict(self._model.tags)

    def _used(
        self, lengths: np.ndarray, weight: np.ndarray | None, groups: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the sequences that are neither empty nor of weight 0,
        and the numbers of their groups.

        Raises
        ------
        ValueError
            If sequences or groups are fewer than folds.
        """
        counts = True if weight is None else weight > 0.0
        used = np.flatnonzero((lengths > 0) & counts)
        if used.shape[0] < self.cv:
            raise ValueError(
                f"cv={self.cv} folds need at least as many sequences that are not "
                f"empty, got {used.shape[0]}"
            )
        if groups is None:
            return used, np.arange(used.shape[0])
        check_groups(groups, lengths.shape[0])
        group, known = numbered(take(list(groups), used))
        if len(known) < self.cv:
            raise ValueError(
                f"cv={self.cv} folds need at least as many groups, got {len(known)}"
            )
        return used, group

    def _fresh_state(self, key: int) -> TrainingState:
        """Return a training state without features and weights."""
        rule = self._rule()
        return TrainingState(new_model(int(self.min_count), rule), rule, key)

    def _jackknife(
        self,
        adapter: Adapter,
        X: Any,
        y: Any,
        metadata: dict[str, Any],
        key: int,
        group: np.ndarray,
    ) -> list[list[Node]]:
        """Make the lattice of each sequence, from a base that has not seen it."""
        n = len(X)
        order = epoch_order(key, 2**31, int(group.max()) + 1)
        parts = [
            np.flatnonzero(np.isin(group, part))
            for part in np.array_split(order, self.cv)
        ]

        def work(part: np.ndarray) -> list[list[Node]]:
            others = np.setdiff1d(np.arange(n), part)
            base = fit_some(self._new_base(), X, y, others, metadata)
            with renumbered(part):
                return lattices_of(adapter, base, safe_indexing(X, part), self.k)

        with threads(self.n_jobs, len(parts)) as map_all:
            found = [nodes for lattices in map_all(work, parts) for nodes in lattices]
        return [found[place] for place in np.argsort(np.concatenate(parts))]

    # -- prediction --------------------------------------------------------------------
    def predict(self, X: Corpus) -> list[list[Any]]:
        """Predict as the base does, from the best path through each lattice.

        Parameters
        ----------
        X : list of sequences
            As the base takes them.

        Returns
        -------
        list
            As the base's ``predict`` returns it.

        Raises
        ------
        ValueError
            If the input is not what the base takes; the message names the sequence.
        """
        return Sequences(self._best(X)[0])

    def decision_function(self, X: Corpus) -> NDArray[np.float64]:
        """Return the scores of the best paths.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        ndarray of shape (n_sequences,)
            Not normalised: comparable between paths of one sequence only. 0 for an
            empty sequence.
        """
        return self._best(X)[1]

    def _best(self, X: Corpus) -> tuple[list[Any], np.ndarray]:
        """Return what the best paths are as predictions, and their scores, (n,)."""
        check_is_fitted(self)
        base = self.base_
        model = self._model
        adapter = adapter_of(base)
        checked = adapter.check_X(X)

        def work(bounds: tuple[int, int, int, int]) -> tuple[list[Any], np.ndarray]:
            part = checked[bounds[0] : bounds[1]]
            lattices = lattices_of(adapter, base, part, self.k)
            task = make_task(lattices, adapter.lengths(part), model.words, model.tags)
            out, scores = model.choose(task)
            return [
                adapter.decode(base, items) for items in paths(lattices, out)
            ], scores

        found = map_chunks(work, offsets_of(adapter.lengths(checked)), self.n_jobs)
        scores = np.concatenate([of_part for _, of_part in found])
        return [items for part, _ in found for items in part], scores

    def score(
        self, X: Corpus, y: Corpus, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the base's score: word F1 of a segmenter, token accuracy of a tagger.

        Parameters
        ----------
        X, y
            As of :meth:`fit`.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        adapter = adapter_of(self.base_)
        X, y = adapter.check(X, y)
        if not adapter.finds_words:
            check_gold_of_model(y, adapter.tags(self.base_))
        return float(
            adapter.score(y, self.predict(X), sample_weights(sample_weight, X))
        )


def _with_relative_weights(metadata: dict[str, Any]) -> dict[str, Any]:
    """Divide the weights that the base gets by their mean.

    Scores of a base may grow with its weights, but lattices know sizes of margins.
    """
    of_base = metadata.get("sample_weight")
    if of_base is None:
        return metadata
    return {**metadata, "sample_weight": np.asarray(of_base) / np.mean(of_base)}


def _encode(
    lattices: list[list[Node]],
    lengths: np.ndarray,
    gold: list[list[Item]],
    keep: list[int],
    words: dict[Any, int],
    tags: dict[Any, int],
    weight: np.ndarray | None = None,
) -> tuple[LatticeTask, int]:
    """Make the task of some sequences, and return it with the number of right items in
    them. ``words`` and ``tags`` grow.
    """
    some = take(gold, keep)
    task = make_task(take(lattices, keep), lengths[keep], words, tags, some, weight)
    return task, sum(map(len, some))
