"""Labels of tokens that are probably wrong, where labels are no segments: tags, say.

The evidence is that of spans: probabilities by models that were not trained on the
sequence, and what the rest of the corpus says of the word. Errors are planted at
random, and systematically into a share of the mentions of a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._data.elements import word_of
from .chances import Floats, Mixture, chances_of
from .error_lists import around
from .findings import Finding
from .out_of_fold import OutOfFold
from .planted_errors import SHARES
from .span_evidence import LEAST, OFTEN, USUALLY_REJECTED
from .span_issues import LISTED
from .type_votes import PSEUDO_VOTES_OF_STRING, UNSURE

Ints = NDArray[np.int64]

FEATURES = (
    "given",
    "other",
    "odds",
    "confused",
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
    confused : ndarray
        How often the model takes that other label for the given one.
    same, differently : ndarray
        Other tokens of the word with the same label, and with another.
    rejected : ndarray
        Those with the same label which the models reject.
    """

    given: Floats
    other: Floats
    odds: Floats
    confused: Floats
    same: Ints
    differently: Ints
    rejected: Ints

    def rows(self) -> Floats:
        """Return numbers in the order of `FEATURES`, of shape (n, n_features)."""
        given = np.log(np.maximum(self.given, LEAST / 2))
        other = np.log(np.maximum(self.other, LEAST / 2))
        seen = self.same + self.differently
        unseen = (seen == 0).astype(np.float64)
        usual = (self.rejected + USUALLY_REJECTED) / (self.same + 1.0)
        return np.column_stack(
            [
                given,
                other,
                self.odds,
                np.log(self.confused),
                np.log1p(seen),
                np.log1p(self.same),
                np.log1p(self.differently),
                np.log((usual + 0.01) / (1.01 - usual)),
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
        n, labels = marginals.shape
        shape = len(ids), labels
        ones = np.ones(n, np.int64)
        self.counts = sparse.csr_matrix((ones, (self.word, given)), shape)
        rejected = (marginals.argmax(axis=1) != given).astype(np.int64)
        self.is_rejected = rejected
        self.rejections = sparse.csr_matrix((rejected, (self.word, given)), shape)
        self.total = np.bincount(self.word, minlength=len(ids))
        self.confused = np.full((labels, labels), 0.5)
        rival, odds = self.rivals(given)
        np.add.at(self.confused, (given, rival), odds > 0.0)
        self.confused /= np.bincount(given, minlength=labels) + 1.0

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
        rival, odds = self.rivals(given)
        mine = (given == self.own).astype(np.int64)
        same = np.asarray(self.counts[self.word, given]).ravel() - mine
        rejected = np.asarray(self.rejections[self.word, given]).ravel()
        return TokenFacts(
            given=p,
            other=rest.max(axis=1),
            odds=odds,
            confused=self.confused[given, rival],
            same=same,
            differently=self.total[self.word] - 1 - same,
            rejected=rejected - mine * self.is_rejected,
        )


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
    wrong = other != given
    planted = evidence.facts(other)
    random = planted.rows()[wrong]
    repeated = _repeated(planted, draw)
    often = wrong & (planted.same + planted.differently >= OFTEN)
    kinds = [each for each in (random, repeated.rows()[often]) if len(each)]
    prior = np.zeros((len(FEATURES) + 1, len(kinds)))
    prior[FEATURES.index("given")] = -1.0
    prior[FEATURES.index("other")] = 1.0
    observed = evidence.facts(given).rows()
    return np.minimum(chances_of(Mixture(observed, kinds, prior)).sum(axis=1), 1.0)


def _repeated(facts: TokenFacts, draw: Any) -> TokenFacts:
    """Return what would be known if a share of the mentions of the words had these
    labels, as the model has learned then.
    """
    share = draw.uniform(*SHARES, len(facts.given))
    n = facts.same + facts.differently
    wrong = np.round(share * n).astype(np.int64)
    return facts._replace(
        given=share + (1.0 - share) * facts.given,
        other=(1.0 - share) * facts.other,
        odds=np.log((1.0 - share) / share),
        same=wrong,
        differently=n - wrong,
        rejected=wrong,
    )
