"""Texts, and sequences of their tokens, that several models read one after the other.

A span tagger with several chains of labels finds the tokens of its texts once, and
encodes them once for all chains whose features have the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .corpus import ListCorpus, TokenCorpus
from .inputs import as_tokens

if TYPE_CHECKING:
    from ..features.base import Encoder

T = TypeVar("T")


class Kept:
    """Values that are made once, however many models ask for them."""

    def __init__(self) -> None:
        self._lock = RLock()  # a value may be made of others
        self._values: list[tuple[Any, Any]] = []

    def find(self, key: Any) -> Any:
        """Return the value of a key, or None."""
        values = self._values
        return next((value for k, value in values if k is key or k == key), None)

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """Return the value of a key, which ``make`` makes if there is none yet."""
        with self._lock:
            found: T | None = self.find(key)
            if found is None:
                found = make()
                self._values = [*self._values, (key, found)]
            return found


class SharedTexts(list[str]):
    """Texts, checked by :func:`.text.as_texts`, of which what one model has made is
    kept for the next; they do not change.
    """

    def __init__(self, texts: list[str]) -> None:
        super().__init__(texts)
        self.kept = Kept()

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class SharedCorpus(ListCorpus):
    """A corpus that several models read: encoders that were made for it, and what they
    made of it, are kept. Parts of it are corpora like others, but for pieces that
    prediction asks for.
    """

    _encoders: Kept
    _encoded: Kept
    _pieces: Kept

    @classmethod
    def of_lists(cls, sequences: list[Any]) -> TokenCorpus:
        """Return the corpus of lists of tokens."""
        return cls._of(as_tokens(sequences))

    @classmethod
    def _of(cls, corpus: TokenCorpus) -> SharedCorpus:
        found = cls(corpus.lists(), corpus.kinds, corpus.like)
        vars(found).update(_encoders=Kept(), _encoded=Kept(), _pieces=Kept())
        return found

    def encoder_of(self, settings: Any, make: Callable[[], Encoder]) -> Encoder:
        """Return the encoder that a fit with these settings begins with; one that
        another fit has made already.
        """
        return self._encoders.get(settings, make)

    def encoded_by(self, encoder: Encoder, grow: bool = False) -> Any:
        """Return what an encoder made of it before; None if nothing is kept."""
        return self._encoded.find(_Same(encoder))

    def keep_encoded(self, encoder: Encoder, encoded: Any) -> None:
        """Keep what an encoder has made of it."""
        self._encoded.get(_Same(encoder), lambda: encoded)

    def piece(self, first: int, last: int) -> TokenCorpus:
        """Return the sequences from ``first`` on, before ``last``; itself if these are
        all. Pieces are kept.
        """
        if last - first == len(self):
            return self

        def cut() -> SharedCorpus:
            some = ListCorpus(self._sequences[first:last], self.kinds, self.like)
            return type(self)._of(some)

        return self._pieces.get((first, last), cut)

    def take(self, sequences: Collection[int]) -> TokenCorpus:
        """Return the sequences at some positions; itself if these are all, in order."""
        if np.array_equal(sequences, np.arange(len(self))):  # type: ignore[arg-type]
            return self
        return super().take(sequences)

    def __getitem__(self, key: Any) -> Any:
        return ListCorpus(self._sequences, self.kinds, self.like)[key]

    def emptied(self, keep: Any) -> TokenCorpus:
        """Return the sequences, with those emptied for which ``keep`` is False."""
        return ListCorpus(self._sequences, self.kinds, self.like).emptied(keep)

    def __reduce__(self) -> tuple[Any, ...]:
        return ListCorpus, (self._sequences, self.kinds, self.like)


class _Same:
    """An object as a key, equal to itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
