"""Labels of tokens that are probably wrong, where labels are no segments: tags, say.

The evidence is that of spans: probabilities by models that were not trained on the
sequence, and what the rest of the corpus says of the word and of words that look like
it. Errors are planted at random, and systematically into a share of the mentions of a
word: models have learned these, so that the words that look alike and the confusions
of the label elsewhere speak against them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._data.elements import word_of
from .chances import Ambiguous, Floats, Kind, Mixture, chances_of
from .error_lists import around
from .findings import Finding
from .out_of_fold import OutOfFold
from .planted_errors import MINORITY, learned_shares, number_rejected
from .span_evidence import LEAST, OFTEN, log, rejection_odds, shape_of
from .span_issues import LISTED
from .type_votes import PSEUDO_VOTES_OF_STRING, UNSURE, believed

Ints = NDArray[np.int64]

Matrix: TypeAlias = sparse.csr_matrix

PLANTED = 2_000
"""Systematic errors that are planted."""

LIKELIEST = 4
"""Labels of a token that may be right."""

PSEUDO_VOTES = 0.1
"""Words that have each label before any is seen."""

FEATURES = (
    "given",
    "other",
    "odds",
    "alike",
    "confused",
    "taken",
    "seen",
    "same",
    "differently",
    "rejected",
    "unseen",
    "unseen, given",
    "unseen, other",
)
"""The numbers that describe a label for a regression."""


class TokenFacts(NamedTuple):
    """The facts about n labels; each is an array of shape (n,).

    Attributes
    ----------
    given, other : ndarray
        Probability by the model of the label, and of the best other one.
    odds : ndarray
        Log-odds of the best other label against the given one, by the other tokens of
        the same word, backed off to the model.
    alike : ndarray
        How probable the label is by other words of the same shape and ending, each of
        which votes once.
    confused, taken : ndarray
        How often models give other words with the label the best other one, among those
        with the label, and among those that are given the other; smoothed as if there
        had been one such word.
    same, differently : ndarray
        Other tokens of the word with the same label, and with another.
    rejected : ndarray
        Those with the same label which the models reject.
    """

    given: Floats
    other: Floats
    odds: Floats
    alike: Floats
    confused: Floats
    taken: Floats
    same: Ints
    differently: Ints
    rejected: Ints

    def rows(self) -> Floats:
        """Return numbers in the order of `FEATURES`, of shape (n, n_features)."""
        given = log(self.given)
        other = log(self.other)
        seen = self.same + self.differently
        unseen = (seen == 0).astype(np.float64)
        return np.column_stack(
            [
                given,
                other,
                self.odds,
                np.log(self.alike),
                np.log(self.confused),
                np.log(self.taken),
                np.log1p(seen),
                np.log1p(self.same),
                np.log1p(self.differently),
                rejection_odds(self.same, self.rejected),
                unseen,
                unseen * given,
                unseen * other,
            ]
        )


class TokenEvidence:
    """The labels of n tokens, and what models of their folds say of them.

    Parameters
    ----------
    marginals : ndarray of shape (n, L)
    given : ndarray of shape (n,)
        The numbers of their labels.
    words : list of n words
    """

    def __init__(self, marginals: Floats, given: Ints, words: list[Any]) -> None:
        ids: dict[Any, int] = {}
        self.word = np.array([ids.setdefault(word, len(ids)) for word in words])
        self.marginals = marginals
        self.own = given
        best = marginals.argmax(axis=1)
        self.is_rejected = (best != given).astype(np.int64)
        self.total = np.bincount(self.word, minlength=len(ids))
        self.counts = self._by_word(given)
        self.rejections = self._by_word(given, self.is_rejected)
        self.best = self._by_word(best)
        labels = marginals.shape[1]
        pair = given * labels + best
        self.pairs = self._by_word(pair, self.is_rejected, labels**2)
        self.alike = _votes_alike(self.counts, list(ids))

    def _by_word(
        self, of: Ints, weights: Ints | None = None, size: int | None = None
    ) -> Matrix:
        """Count by word and by a number of each token."""
        ones = np.ones(len(of), np.int64) if weights is None else weights
        shape = len(self.total), size or self.marginals.shape[1]
        return sparse.csr_matrix((ones, (self.word, of)), shape)

    def _elsewhere(self, counts: Matrix, of: Ints) -> Floats:
        """Return how often a number occurs with other words, for each token."""
        everywhere = np.asarray(counts.sum(axis=0)).ravel()
        return everywhere[of] - self._here(counts, of)

    def _here(self, counts: Matrix, of: Ints) -> Ints:
        """Return how often a number occurs with the word of each token."""
        return np.asarray(counts[self.word, of]).ravel()

    def rivals(self, given: Ints) -> tuple[Ints, Floats]:
        """Return the best other label of each token, and its log-odds."""
        n = np.arange(len(given))
        votes = PSEUDO_VOTES_OF_STRING * (self.marginals + UNSURE)
        votes += self.counts[self.word].toarray()
        votes[n, self.own] -= 1.0
        mine = votes[n, given].copy()
        votes[n, given] = -1.0
        rival = votes.argmax(axis=1)
        return rival, np.log(votes[n, rival] / mine)

    def facts(self, given: Ints) -> TokenFacts:
        """Collect what is known of labels, as if they were given."""
        n = np.arange(len(given))
        rest = self.marginals.copy()
        p = rest[n, given].copy()
        rest[n, given] = 0.0
        best = rest.argmax(axis=1)
        odds = self.rivals(given)[1]
        mine = (given == self.own).astype(np.int64)
        same = self._here(self.counts, given)
        of_label = self._elsewhere(self.counts, given)
        taken = self._elsewhere(self.pairs, given * rest.shape[1] + best) + 0.5
        rejected = self._here(self.rejections, given) - mine * self.is_rejected
        return TokenFacts(
            given=p,
            other=rest.max(axis=1),
            odds=odds,
            alike=self.alike[self.word, given],
            confused=taken / (of_label + 1.0),
            taken=taken / (self._elsewhere(self.best, best) + 1.0),
            same=same - mine,
            differently=self.total[self.word] - 1 - same + mine,
            rejected=rejected,
        )


def _votes_alike(counts: Matrix, words: list[Any]) -> Floats:
    """Compute how probable each label is of each word, by other words of the same shape
    and ending, (n_words, L); each word has one vote, for its labels in proportion.
    """
    forms: dict[Any, int] = {}
    texts = map(str, words)
    form = np.array(
        [
            forms.setdefault((shape_of(text), text[-2:].casefold()), len(forms))
            for text in texts
        ]
    )
    own = counts.toarray() / np.asarray(counts.sum(axis=1))
    n, labels = own.shape
    of_forms = np.zeros((len(forms), labels))
    np.add.at(of_forms, form, own)
    alike = np.bincount(form)[form] - 1
    usual = own.sum(axis=0) - own + PSEUDO_VOTES
    usual /= n - 1 + PSEUDO_VOTES * labels
    return (of_forms[form] - own + usual) / (alike + 1.0)[:, None]


def issues_of_labels(found: OutOfFold) -> Iterator[Finding]:
    """Yield the tokens whose labels may be wrong."""
    values = found.classes.tolist()
    column = {label: k for k, label in enumerate(values)}
    rows = []
    places = []
    for i, (marginals, labels) in enumerate(zip(found.marginals, found.labels)):
        for t, label in enumerate(labels):
            if label is not None:
                rows.append(marginals[t])
                places.append((i, t, column[label]))
    if not rows or len(values) < 2:
        return
    marginals = np.asarray(rows)
    given = np.array([k for _, _, k in places])
    words = [word_of(found.tokens[i][t]) for i, t, _ in places]
    evidence = TokenEvidence(marginals, given, words)
    chance = _chances(evidence)
    best = marginals.argmax(axis=1)
    rival = np.where(best == given, evidence.rivals(given)[0], best)
    for n in np.flatnonzero((best != given) | (chance >= LISTED)).tolist():
        i, t, k = places[n]
        p = float(marginals[n, rival[n]])
        start = found.positions[i][t]
        yield Finding(
            i,
            start,
            start + 1,
            values[k],
            values[rival[n]],
            p,
            float(chance[n]),
            "other label",
            float(chance[n]),
            around(found.tokens[i], t, t + 1),
        )


def _chances(evidence: TokenEvidence) -> Floats:
    """Compute how probable it is that a label is wrong, (n,)."""
    given = evidence.own
    draw = np.random.RandomState(0)
    other = given[draw.permutation(len(given))]  # as often as labels are
    random = evidence.facts(other).rows()[other != given]
    planted = Kind(random), Kind(planted_repeatedly(evidence, draw), True)
    kinds = [each for each in planted if len(each.rows)]
    prior = np.zeros((len(FEATURES) + 1, len(kinds)))
    prior[FEATURES.index("given")] = -1.0
    prior[FEATURES.index("other")] = 1.0
    observed = evidence.facts(given).rows()
    mixture = Mixture(observed, kinds, prior, _ambiguous(evidence))
    return np.minimum(chances_of(mixture).sum(axis=1), 1.0)


def _ambiguous(evidence: TokenEvidence) -> Ambiguous:
    """Return the labels that models believe in, and prefer others to."""
    rows = []
    weights = []
    for label in np.argsort(-evidence.marginals, axis=1)[:, :LIKELIEST].T:
        facts = evidence.facts(label)
        chosen = (facts.given >= LEAST) & (facts.given < 0.5)
        rows.append(facts.rows()[chosen])
        weights.append(believed(facts.given, facts.other, facts.odds)[chosen])
    return Ambiguous(np.concatenate(rows), np.concatenate(weights))


def planted_repeatedly(evidence: TokenEvidence, draw: Any) -> Floats:
    """Describe labels as if a share of the mentions of words had them, wrongly, and the
    model had learned it; in rows.

    Whoever misunderstands something decides about a word: each counts once, however
    often it is mentioned. Half of the wrong labels are drawn by how frequent they are,
    and of the other half each label is as probable as any.
    """
    often = evidence.total[evidence.word] > OFTEN
    n = len(evidence.own)
    usual = draw.permutation(evidence.own)
    any_label = draw.randint(evidence.marginals.shape[1], size=n)
    label = np.where(draw.uniform(size=n) < 0.5, usual, any_label)
    weight = (often & (label != evidence.own)) / evidence.total[evidence.word]
    if not weight.any():
        return np.zeros((0, len(FEATURES)))
    chosen = draw.choice(n, PLANTED, p=weight / weight.sum())
    facts = TokenFacts(*(each[chosen] for each in evidence.facts(label)))
    share = draw.uniform(*MINORITY, PLANTED)
    mentions = facts.same + facts.differently
    wrong = np.round(share * mentions).astype(np.int64)
    level, learned = learned_shares(share, PLANTED, draw)
    lead = facts.other - facts.given
    new = facts._replace(
        given=learned + (1.0 - learned) * facts.given,
        other=(1.0 - learned) * facts.other,
        odds=np.log((1.0 - share) / share),
        same=wrong,
        differently=mentions - wrong,
        rejected=number_rejected(wrong, lead, level, draw),
    )
    return new.rows()[wrong > 0]
