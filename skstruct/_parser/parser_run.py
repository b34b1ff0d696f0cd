"""A training run of the parser: what epochs, shards and held-out sequences need."""

from __future__ import annotations

from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.inputs import TREES, NothingToLearn, check_X_y
from .._data.labels import UNLABELLED, Labels, encode_known, encode_labels
from .._shards.vocabulary import Vocabulary, merged_labels
from .._training.held_out import NAMES, HeldOut
from .._training.run import Run
from ..metrics.counting import NO_WEIGHT, refuse_nothing
from ..metrics.tree_scores import NO_HEADS, split_heads
from .atoms import AtomEncoder, check_words
from .dependency_trees import check_trees, split_arcs
from .parser_beam import new_work
from .parser_epoch import epoch
from .parser_model import ParserModel, final_model, make_task
from .states import SPECIAL
from .template_sets import lines_of

if TYPE_CHECKING:
    from .._data.types import Corpus
    from .._training.run import TrainingState
    from .parser_beam import ParseTask, ParseWork
    from .shift_reduce import ShiftReduceParser
    from .state_features import ParseModel
    from .template_sets import Lines

NO_LABEL = "y holds no label: all are None; for heads alone, labeled=False"


class ParseRun(Run):
    """A training run of a parser.

    Parameters
    ----------
    estimator, state, task, held_out
        As of :class:`.Run`.
    lines : Lines
    encoder : AtomEncoder
    labels : Labels
    """

    estimator: ShiftReduceParser

    epoch = staticmethod(epoch)
    score_name = "UAS"
    model_class = ParserModel

    def __init__(
        self,
        estimator: ShiftReduceParser,
        state: TrainingState,
        task: ParseTask,
        lines: Lines,
        encoder: AtomEncoder,
        labels: Labels,
        held_out: HeldOut | None,
    ) -> None:
        super().__init__(estimator, state, task, held_out)
        self.lines = lines
        self.encoder = encoder
        self.labels = labels

    def finished(self, model: ParseModel, reuse: bool = False) -> ParserModel:
        """Return the :class:`.ParserModel` that prediction would use by now."""
        pseudo = self.estimator.projectivize == "pseudo"
        return final_model(
            model,
            self.state.rule,
            self.lines,
            self.encoder,
            self.labels,
            pseudo,
            reuse,
            self.ended,
        )

    def fitted(self) -> dict[str, Any]:
        """Return ``classes_`` if trees have labels."""
        return {"classes_": self.labels.array} if len(self.labels) else {}

    def scratch(self) -> ParseWork:
        """Return scratch for the longest sentence of the task."""
        return new_work(self.task, self.state.model)

    def held_out_part(self, X: Corpus, y: Corpus) -> tuple[HeldOut, list[Any]]:
        """Check held-out sentences and their trees, which stay as they are.

        Returns them, and the labels that training lacks.
        """
        X, y, token = check_X_y(X, y, NAMES)
        check_words(X, token, self.encoder.width)
        heads, arcs = split_arcs(y, len(self.labels) > 0)
        check_trees(heads)
        others = [] if arcs is None else encode_known(arcs, token, self.labels)[2]
        return HeldOut(self.estimator, TREES, X, y), others

    def held_out_score(self, model: ParserModel) -> float:
        """Return the unlabeled attachment score on the held-out sentences."""
        assert self.held_out is not None
        X = self.held_out.X
        y = self.held_out.y
        return unlabeled_attachment(y, model.predict(X, self.estimator.n_jobs)[0])

    def fresh(self, key: int) -> TrainingState:
        """Return a state without weights, over the same words and labels."""
        return self.estimator._fresh_state(self.lines, self.encoder, self.labels, key)

    def vocabulary(self, min_count: int) -> Vocabulary:
        """Return the alphabets and the labels of a shard; features are counted as they
        are met.
        """
        return Vocabulary(self.encoder, self.labels)

    @classmethod
    def merged(  # type: ignore[override] # the shards of a parser are learned by one
        cls, vocabularies: list[Vocabulary], learner: ShiftReduceParser, key: int
    ) -> tuple[ParseRun, list[dict[str, Any]]]:
        """Unite the words and labels of all shards; a plan says what each one's ids
        become.
        """
        labels = Labels()
        label_maps = [np.full(1, UNLABELLED, np.int32) for _ in vocabularies]
        if learner.labeled:
            labels, label_maps = merged_labels(vocabularies, NO_LABEL)
        encoders = [v.encoder for v in vocabularies]
        encoder, lines, atom_maps = _merged_encoder(encoders, learner)
        state = learner._fresh_state(lines, encoder, labels, key)
        task = make_task(
            np.zeros((len(encoder.rows), 0), np.int32),
            encoder.rows,
            np.zeros(1, np.int64),
        )
        run = cls(learner, state, task, lines, encoder, labels, None)
        known = lines, encoder, labels
        return run, [
            {"known": known, "ids": i, "atoms": a}
            for i, a in zip(label_maps, atom_maps)
        ]

    def adopt(self, plan: dict[str, Any]) -> None:
        """Translate the atoms and labels of this shard's sentences to those of all
        shards, and begin without weights.
        """
        before = self.encoder
        self.lines, self.encoder, self.labels = plan["known"]
        names = self.encoder.rows
        rows = np.array(names)
        mine = np.array(before.rows)
        atoms = np.full((len(rows), self.task.atoms.shape[1]), -1, np.int32)
        for name in before.alphabets:
            old = self.task.atoms[mine == name]
            new = np.concatenate(
                [np.full(SPECIAL, -1), plan["atoms"][name] + SPECIAL, [-1]]
            )
            atoms[np.flatnonzero(rows == name)[: len(old)]] = new[old]
        n_forms = make_task(atoms, names, self.task.token).n_forms
        label = plan["ids"][self.task.label]
        self.task = self.task._replace(atoms=atoms, n_forms=n_forms, label=label)
        self.state = self.fresh(self.state.key)


def _merged_encoder(
    encoders: list[AtomEncoder], learner: ShiftReduceParser
) -> tuple[AtomEncoder, Lines, list[dict[str, np.ndarray]]]:
    """Make the encoder that knows the words of all shards.

    Returns it, its templates, and by shard the new ids of each attribute's symbols.
    """
    first = encoders[0]
    for s, encoder in enumerate(encoders):
        if encoder.width != first.width:
            raise ValueError(
                f"shard {s}: its words have {encoder.width} columns, those of shard 0 "
                f"have {first.width}"
            )
    parts = {
        c: max(each.parts.get(c, 0) for each in encoders)
        for encoder in encoders
        for c in encoder.parts
    }
    lines = lines_of(learner.templates, learner.labeled, first.width, parts)
    out = AtomEncoder(lines.attributes(), first.width, parts)
    maps: list[dict[str, np.ndarray]] = [{} for _ in encoders]
    for name in out.alphabets:
        for mine, encoder in zip(maps, encoders):
            if name in encoder.alphabets:
                strings = list(encoder.alphabets[name])
                mine[name], out.alphabets[name] = out.alphabets[name].interned(strings)
    out.check_tags()
    return out, lines, maps


def unlabeled_attachment(
    y: Corpus, predicted: Corpus, weight: np.ndarray | None = None
) -> float:
    """Score the heads of sentences (UAS), over the words with a true head.

    Parameters
    ----------
    y, predicted : lists of lists of (head, label), or of heads
    weight : ndarray of shape (n,), optional
        Multiplies the counts of a sentence.

    Raises
    ------
    ValueError
        If a head is no integer (the message names the place), or there is no word to
        score.
    """
    true = [split_heads(i, tree, partial=True)[0] for i, tree in enumerate(y)]
    right = [sum(map(eq, a, b)) for a, b in zip(true, split_arcs(predicted, False)[0])]
    counts = np.array(
        [right, [len(heads) - heads.count(None) for heads in true]], float
    )
    right, total = counts.sum(axis=1) if weight is None else counts @ weight
    refuse_nothing(counts, NO_HEADS)
    refuse_nothing(total, NO_WEIGHT)
    return float(right / total)


def select_sentences(
    token: np.ndarray, skipped: list[int], weight: np.ndarray | None, projectivize: str
) -> np.ndarray:
    """Select the sentences to train on.

    Parameters
    ----------
    token : ndarray of shape (n + 1,), int64
        First word of each sentence.
    skipped : list of int
        Sentences that are not projective, if these are left out.
    weight : ndarray of shape (n,), or None
    projectivize : str
        The parameter, for the error.

    Returns
    -------
    ndarray of shape (n,), bool

    Raises
    ------
    NothingToLearn
        If no sentence is left.
    """
    used = np.diff(token) > 0
    used[skipped] = False
    if weight is not None:
        used &= weight > 0.0
    if not used.any():
        raise NothingToLearn(
            "no sentence is left to train on: all are empty, of sample_weight 0, or "
            f"not projective (projectivize={projectivize!r})"
        )
    return used


def encode_learned_labels(
    arcs: list[list[Any]],
    token: np.ndarray,
    used: np.ndarray,
    labels: Labels,
    is_part: bool = False,
) -> tuple[np.ndarray, Labels]:
    """Translate the labels of training trees to ids.

    Labels of sentences that are not ``used``, (n,) bool, are as unknown as None:
    nothing is learned of them, and a label without weights scores 0, which wins
    wherever the scores of all others are negative.

    Parameters
    ----------
    arcs : list of lists
        Labels of each sentence.
    token : ndarray of shape (n + 1,), int64
    used : ndarray of shape (n,), bool
    labels : Labels
        Those known before.
    is_part : bool
        Whether other shards may have all the labels.

    Returns
    -------
    ids : ndarray of shape (N,), int32
    labels : Labels
        With those that are new.

    Raises
    ------
    ValueError
        If there is no label at all.
    """
    arcs = [
        names if keep else [None] * len(names)
        for names, keep in zip(arcs, used.tolist())
    ]
    gold, labels = encode_labels(arcs, token, labels, grow=True, with_sets=False)
    if len(labels) == 0 and not is_part:
        raise ValueError(NO_LABEL)
    return gold.ids, labels
