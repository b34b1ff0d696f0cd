"""Words in groups that were learned from raw text: what templates read as
``%cluster[0,0]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from .._data.corpus import STRINGS
from .._saving.fields import Field, Table, array, built, distinct
from .._saving.states import KeptAsBytes
from .._saving.values import savable_value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import ArrayLike

    from .._data.corpus import TokenCorpus
    from .._data.types import Self

UNKNOWN = "_"
"""The cluster of words that have none."""

CLUSTER = "cluster"
"""The function of templates that reads one."""

EXAMPLES = 3
"""Words that stand for a cluster where a person reads of it."""


def normal_form(word: str) -> str:
    """Write a word in Unicode's normal form C, in which words are learned."""
    return word if word.isascii() else normalize("NFC", word)


class WordClusters(KeptAsBytes):
    """The cluster of each word, as ``WordVectors.table()`` returns it; it never
    changes.

    ``clone`` and ``deepcopy`` give it itself, so that folds, members of averages and
    grids share it.

    Parameters
    ----------
    words : list of str
        Distinct; the most frequent first.
    clusters : ndarray of shape (n_words,)
        The number of each word's cluster.
    """

    def __init__(self, words: Iterable[str], clusters: ArrayLike) -> None:
        self.clusters = np.asarray(clusters, np.int32)
        self.clusters.flags.writeable = False
        labels = {number: f"c{number}" for number in np.unique(self.clusters).tolist()}
        self._label = dict(zip(words, map(labels.__getitem__, self.clusters.tolist())))

    @property
    def words(self) -> list[str]:
        """The words, most frequent first."""
        return list(self._label)

    def __len__(self) -> int:
        return len(self._label)

    def __repr__(self) -> str:
        return f"<{len(set(self._label.values())):,} clusters of {len(self):,} words>"

    def __eq__(self, other: object) -> bool:
        return (
            self is other
            or isinstance(other, WordClusters)
            and self._label == other._label
        )

    def __hash__(self) -> int:
        return hash((len(self), self.clusters.tobytes()))

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def table(self) -> Self:
        """Return this, as a fitted ``WordVectors`` would."""
        return self

    __sklearn_clone__ = table

    def label(self, word: str) -> str:
        """Look up the name of the cluster of a word; ``"_"`` without one.

        A word that is not known is looked up in lower case, then in normal form C.
        """
        found = self._label.get(word) or self._label.get(word.lower())
        if found is None and not word.isascii():
            normal = normal_form(word)
            found = self._label.get(normal) or self._label.get(normal.lower())
        return found or UNKNOWN

    def described(self, labels: Iterable[str]) -> list[str]:
        """Describe clusters: their names, each with the first of its words in
        parentheses.
        """
        of = self.by_label()
        return [
            f"{name} ({', '.join(of[name][:EXAMPLES])}, ...)" if name in of else name
            for name in labels
        ]

    def by_label(self) -> dict[str, list[str]]:
        """List the words of each cluster, {name of the cluster: words}."""
        found: dict[str, list[str]] = {}
        for word, label in self._label.items():
            found.setdefault(label, []).append(word)
        return found


def check_strings_in(corpus: TokenCorpus) -> None:
    """Raise unless tokens of a corpus are strings, which clusters are of."""
    if corpus.block(STRINGS) is None:
        raise ValueError(
            "words: clusters are of tokens that are str or tuples of str, read by "
            "templates"
        )


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
WORD_CLUSTERS = Table(
    "`$clusters`",
    Field("words", distinct),
    Field("clusters", array("int32", "words", low=0)),
    make=built(WordClusters, "words clusters"),
)

savable_value("$clusters", WordClusters, WORD_CLUSTERS, shared=True)
