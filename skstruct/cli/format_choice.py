"""The choice of the format in which a command reads a corpus file: by an option, or by
what is seen in the file.

How much has to be seen depends on what the file is for: to learn from it, or for a
model that reads texts, words, or tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import LABELS, SPANS, TREES, WORDS
from ..datasets.formats.columns import A_TOKEN_A_LINE
from ..datasets.formats.entry import TEXTS, TOKENS, Format, TokenFormat
from ..datasets.formats.entry import WORDS as SEGMENTED
from ..datasets.formats.table import (
    BY_NAME,
    KEYS,
    Recognised,
    has_own_keys,
    recognised,
    recognised_or_open,
    unknown,
)
from .common import CommandError, tell
from .input_files import warn_of_columns, warn_of_text

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from ..datasets.formats.head import Head
    from ..datasets.formats.source import Source
    from .common import Arguments


class TaskDefaults(NamedTuple):
    """Defaults of reading files for the models of one task.

    Attributes
    ----------
    model : str
        What messages call such a model.
    reads : str
        What messages say that it reads.
    format_kind : {"tokens", "words", "texts"}
        The kind of formats that it reads; see `Format`.
    format : str or None
        The name of the format of a file in which none is recognised.
    token_fields : tuple of str
        Of CoNLL-U: the fields that a token is made of.
    label_field : str, tuple of str, or None
        Of CoNLL-U: the field of what is predicted; of trees two.
    label_column : int, tuple of int, or None
        The same in formats whose columns have numbers.
    """

    model: str
    reads: str
    format_kind: str
    format: str | None = None
    token_fields: tuple[str, ...] = ()
    label_field: Any = None
    label_column: Any = None


DEFAULTS = {
    LABELS: TaskDefaults(
        model="tagger",
        reads="columns or CoNLL-U",
        format_kind=TOKENS,
        format="columns",
        token_fields=("form",),
        label_field="xpos",
        label_column=-1,
    ),
    WORDS: TaskDefaults(
        model="segmenter", reads="text", format_kind=SEGMENTED, format="segmented"
    ),
    SPANS: TaskDefaults(
        model="span tagger", reads="annotated texts", format_kind=TEXTS
    ),
    TREES: TaskDefaults(
        model="parser",
        reads="columns or CoNLL-U",
        format_kind=TOKENS,
        format="columns",
        token_fields=("form", "xpos"),
        label_field=("head", "deprel"),
        label_column=(-2, -1),
    ),
}


_CALLED = {
    "crfsuite": "data of CRFsuite",
    "conllu": "CoNLL-U",
    "segmented": "segmented text",
    "spans": "annotated texts",
}
"""Names of families of formats in sentences."""


def called(entry: Format) -> str:
    """Return what a format is called in sentences."""
    return _CALLED.get(entry.family, entry.family)


def format_of(
    arguments: Arguments, source: Source, inputs: Inputs | None, task: str
) -> tuple[Format, str]:
    """Return the format of a source, and why it is that: by an option, or by its
    content.

    Raises
    ------
    CommandError
        If models of the task do not read it.
    """
    given = arguments.format
    if given == "text" and task != WORDS:
        raise _mismatch(source, task, "plain text")
    own = [name for name, _ in getattr(arguments, "read", ()) if name in KEYS]
    if given is None and inputs is None and own and has_own_keys(source.head(), own):
        entry = BY_NAME["jsonl"]
        why = f"--read {own[0]} names a key of the file's own"
        tell(f"{source.name}: read as {entry.name}: {why}")
    elif given is None:
        entry, why = _format_by_content(arguments, source, inputs, task)
    else:
        name = {"text": "segmented", "spans": "jsonl"}.get(given, given)
        entry, why = BY_NAME[name], arguments.why
        if name == "columns" and arguments.why != type(arguments).why:
            warn_of_text(source)  # nobody but the model said that these are columns
    if not _is_readable(entry, inputs, task):
        raise _mismatch(source, task, called(entry))
    return entry, why


def _is_readable(entry: Format, inputs: Inputs | None, task: str) -> bool:
    """Tell whether a model, or one that is still to be trained for a task, reads a
    format.
    """
    if task == TREES:
        return entry.name in ("columns", "conllu")
    if inputs is None and task == LABELS:
        # Where words or texts are learned, `new_model` puts the tagger into an estimator
        # for these.
        return True
    has_features = isinstance(entry, TokenFormat) and entry.has_features
    if inputs is not None and (inputs.token is dict) != has_features:
        return False
    return entry.kind == DEFAULTS[task].format_kind


def _format_by_content(
    arguments: Arguments, source: Source, inputs: Inputs | None, task: str
) -> tuple[Format, str]:
    """Return the format that the head of a source looks like, and why.

    How much has to be seen depends on what the file is for: there is a function for
    each use. If such a function returns None, the source is read in the format that
    models of the task read.

    Raises
    ------
    CommandError
        If a file cannot be used unless its format is recognised, and it is not.
    """
    defaults = DEFAULTS[task]
    # Who sends lines to a tagger one by one gets an answer to the first.
    head = source.head(patient=inputs is None or task == SPANS)
    found: Recognised | None
    if inputs is None:
        found = _recognise_to_learn(source, head, task)
    elif task == SPANS:
        found = _recognise_texts(source, head)
    elif task == WORDS:
        found = _recognise_to_segment(source, head)
    else:
        found = _recognise_to_label(arguments, source, head, task)
    if found is not None:
        return found.format, found.look.seen
    assert defaults.format is not None  # of span taggers, which raise an error instead
    return BY_NAME[defaults.format], f"the model is a {defaults.model}"


def _recognise_to_learn(source: Source, head: Head, task: str) -> Recognised | None:
    """Recognise the format of a file to learn from, and say as what it is read.

    It has to have one, since there is no model that says what it reads. Only words can
    be learned from a file without a mark of a format, as segmented text; for these
    None is returned.
    """
    found = recognised(head)
    if found is not None:
        tell_recognised(source, found)
    elif task != WORDS:
        raise CommandError(str(unknown(head)))
    return found


def _recognise_texts(source: Source, head: Head) -> Recognised:
    """Recognise the format of annotated texts for a span tagger; without it nothing
    says where a text begins and ends.
    """
    found = recognised(head, for_model=True)
    if found is not None:
        return found
    if not head.lines:
        raise CommandError(str(unknown(head)))
    raise _mismatch(source, SPANS, "plain text")


def _recognise_to_segment(source: Source, head: Head) -> Recognised | None:
    """Recognise the format of a file for a segmenter; return None for plain lines.

    Text that is to be segmented may happen to look like a general format, such as
    columns. So it is taken for lines of text, unless it has a mark of a format.
    """
    found = recognised_or_open(head)
    if found is not None and not found.format.is_general:
        return found
    warn_of_columns(source, "a segmenter reads each line as a sentence")
    return None


def _recognise_to_label(
    arguments: Arguments, source: Source, head: Head, task: str
) -> Recognised | None:
    """Recognise the format of a file for a tagger or a parser; return None for columns.

    A file that only may be in a format of another kind is taken for columns. Unless
    options say which columns there are, such a file may be plain text by mistake,
    which is warned of.
    """
    found = recognised_or_open(head)
    if found is not None and not _is_sure(found, DEFAULTS[task].format_kind):
        found = None
    are_columns = found is None or found.format.name == "columns"
    if are_columns and arguments.tokens is None:
        warn_of_text(source)
    return found


def tell_recognised(source: Source, found: Recognised) -> None:
    """Say as what a file is read, and why."""
    what = f"read as {found.format.name}: {found.look.seen}"
    tell(f"{source.name}: {what}; if that is wrong, pass --format")


def _is_sure(found: Recognised, kind: str) -> bool:
    """Tell whether a file has a format even for a model that reads formats of ``kind``."""
    return (
        found.format.kind in (kind, TEXTS)
        or not found.format.is_general
        or found.look.is_sure
    )


def _mismatch(source: Source, task: str, found: str) -> CommandError:
    """Return the error for a file that models of a task do not read; ``found``: what it
    is.
    """
    defaults = DEFAULTS[task]
    wrong = f"the model is a {defaults.model} and reads {defaults.reads}, not {found}"
    if found == "plain text" and task != SPANS:
        wrong = f"{wrong}: {A_TOKEN_A_LINE}"
    return CommandError(f"{source.name}: {wrong}")
