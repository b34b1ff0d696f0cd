"""Word segmentation: texts in, words out.

Characters are labelled; white space always ends a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .calls import Tagger
from .reading import PARTS, refuse


class WordTagger(Tagger):
    """Cuts texts into words, or into words with tags."""

    holds = "texts"
    hint = "; use [text] for one text"

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        super().__init__(header, arrays)
        self.words = header["words"]
        first, last = (
            {y for y, yes in enumerate(self.words[name]) if yes}
            for name in ("opens", "ends")
        )
        # By whether a character is the first of a piece, and the last: the labels that
        # it may have
        self.choices = {
            (True, False): first,
            (False, True): last,
            (True, True): first & last,
        }

    def predict(  # type: ignore[override]  # no labels can be asked for in texts
        self, X: Any
    ) -> list[list[Any]]:
        """Return the words of each text, or (word, tag) if the model has tags."""
        return [
            self.cut(text, self.best_of_all(text, i)[0])
            for i, text in enumerate(self.sequences(X))
        ]

    def parts(self, text: Any, i: int) -> list[tuple[list[str], Any]]:
        """Return the characters of a text without its white space, and what that leaves
        of the labels.
        """
        if not isinstance(text, str):
            refuse(i, None, f"expected a text (str), got {text!r}")
        pieces = text.split()
        options = None
        if len(pieces) > 1 and self.choices[True, True]:
            options = [
                self.choices.get((k == 0, k == len(piece) - 1))
                for piece in pieces
                for k in range(len(piece))
            ]
        return [(list("".join(pieces)), options)]

    def cut(self, text: str, path: list[int]) -> list[Any]:
        """Return the words of a text, by the labels of its characters."""
        opens, closes, tags = (self.words[name] for name in ("opens", "closes", "tags"))
        out = []
        t = 0
        for piece in text.split():
            mine = path[t : t + len(piece)]
            t = t + len(piece)
            begins = [
                k
                for k, y in enumerate(mine)
                if not k or opens[y] or closes[mine[k - 1]]
            ]
            for a, b in ranges(begins, piece):
                out.append(piece[a:b] if tags is None else (piece[a:b], tags[mine[a]]))
        return out


PARTS["words"] = WordTagger


def ranges(begins: list[int], whole: Any) -> list[tuple[int, int]]:
    """Return (first, behind the last) of the parts of a whole that begin at some
    places.
    """
    return list(zip(begins, [*begins[1:], len(whole)]))


def write_words(tagger: Any, file: Iterable[str], text: bool) -> Iterator[str]:
    """Yield the words of each line, with spaces between them."""
    for line in file:
        (words,) = tagger.predict([line.rstrip("\r\n")])
        yield (
            " ".join(
                [word if isinstance(word, str) else "/".join(word) for word in words]
            )
            + "\n"
        )


PARTS["write_words"] = write_words
