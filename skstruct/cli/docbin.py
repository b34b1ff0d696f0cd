"""``tag --write docbin``: texts with spans as a ``.spacy`` file, which spaCy reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._data.text import tokenized
from .._sklearn import innermost
from .common import STANDARD, CommandError

if TYPE_CHECKING:
    from .._data.spans import Span
    from .common import Arguments


def check_docbin(arguments: Arguments) -> None:
    """Refuse to write a file of spaCy without a path, or without spaCy."""
    if arguments.write != "docbin":
        return
    if arguments.output in STANDARD:
        arguments.usage_error("--write docbin needs --output, a file NAME.spacy")
    try:
        import spacy  # noqa: F401
    except ImportError:
        raise CommandError(
            "--write docbin needs spaCy: pip install spacy; --write jsonl does not"
        ) from None


def as_docbin(model: Any, X: list[str], y: list[list[Span]]) -> bytes:
    """Return the bytes of a DocBin of texts, whose entities are spans.

    Its tokens are those of the model, and white space as spaCy has it: one space
    belongs to the token before it, more is a token.
    """
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    tokens = tokenized(X, innermost(model).estimator.tokenizer)
    vocab = Vocab()
    found = DocBin(store_user_data=False)
    for text, pairs, spans in zip(X, tokens.pairs(), y):
        words, spaces = _with_spaces(text, pairs)
        doc = Doc(vocab, words=words, spaces=spaces)
        doc.ents = [doc.char_span(a, b, label=label) for a, b, label in spans]
        found.add(doc)
    return found.to_bytes()


def _with_spaces(
    text: str, pairs: list[tuple[int, int]]
) -> tuple[list[str], list[bool]]:
    """Return words that spell a text, and whether a space is behind each."""
    words: list[str] = []
    spaces: list[bool] = []
    at = 0
    for start, end in [*pairs, (len(text), len(text))]:
        gap = text[at:start]
        if gap.startswith(" ") and words:
            spaces[-1] = True
            gap = gap[1:]
        for part in (gap, text[start:end]):
            if part:
                words.append(part)
                spaces.append(False)
        at = end
    return words, spaces
