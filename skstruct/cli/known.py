"""``--known FILE``: what is known of the spans of texts before a model marks them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._data.inputs import PlaceError
from .._data.lexicon import Lexicon
from ..datasets import read_spans
from .common import CommandError, check_inputs, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._data.spans import Span
    from .._data.types import Texts
    from .common import Arguments

RECORDS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
"""Endings of files of annotated texts; any other is a lexicon."""


class _CountingLexicon(Lexicon):
    """A lexicon that knows how much it found."""

    n_found = 0

    def find(self, X: Texts, tokenizer: Any = "words") -> list[list[Span]]:
        """Find entries and matches in texts, and count them."""
        found = super().find(X, tokenizer)
        self.n_found += sum(map(len, found))
        return found


class KnownFile:
    """The content of a file of known spans.

    Parameters
    ----------
    path : str
        Annotated texts, whose spans are known of equal texts; or a lexicon, which finds
        them in any text.
    encoding : str
    """

    def __init__(self, path: str, encoding: str) -> None:
        self.path = path
        self.lexicon: _CountingLexicon | None = None
        self.spans: dict[str, list[Any]] = {}
        self.met: set[str] = set()
        check_inputs([path])
        try:
            if path.lower().endswith(RECORDS):
                X, y = read_spans(path, encoding=encoding)
                for text, spans in zip(X, y):
                    self.spans.setdefault(text, []).extend(spans)
            else:
                self.lexicon = _CountingLexicon.from_file(path, encoding=encoding)
        except ValueError as error:
            raise CommandError(f"--known: {error}") from None

    def of(self, texts: list[str]) -> Any:
        """Return what is known of some texts, as models take it."""
        if self.lexicon is not None:
            return self.lexicon
        self.met.update(self.spans.keys() & set(texts))
        return [self.spans.get(text, []) for text in texts]

    def warn_of_others(self) -> None:
        """Warn of texts of the file that were not among those labelled, or of a
        lexicon that found nothing in them.
        """
        if self.lexicon is not None and self.lexicon.n_found == 0:
            warn(
                f"--known: no entry of the lexicon {self.path} is in the texts; a line "
                "is an entry, a tab and its type, and annotated texts end in .jsonl"
            )
        rest = len(self.spans) - len(self.met)
        if rest:
            warn(
                f"--known: {rest} of the {len(self.spans)} texts of {self.path} are not "
                "among those that are labelled, and nothing was known of others"
            )


def read_known(model: Any, arguments: Arguments) -> KnownFile | None:
    """Return what the option names; None without it."""
    if arguments.known_spans is None:
        return None
    if not getattr(model, "accepts_known", False):
        arguments.usage_error(
            f"--known: this {type(model).__name__} does not support known spans; a SpanTagger "
            "around a chain tagger does"
        )
    return KnownFile(arguments.known_spans, arguments.encoding)


@contextmanager
def placing(where: Callable[[int], str]) -> Iterator[None]:
    """Let an error about something known name the text in its file; ``where`` says
    where the text of a number stands.
    """
    try:
        yield
    except PlaceError as error:
        if error.sequence is None:
            raise
        text = error.text.replace("{place}: ", "")
        raise CommandError(f"{where(error.sequence)}: {text}") from None
