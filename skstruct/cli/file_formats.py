"""Which format a corpus file has: by its name, or by its first lines."""

import os
import re
from collections import Counter

from ..formats.text_files import split_cells
from .common import CommandError, warn
from .lines import PEEK

EXTENSIONS = {
    ".conllu": "conllu", ".conllx": "conllu",
    ".conll": "columns", ".bio": "columns", ".iob": "columns", ".iob2": "columns", ".crf": "columns",
    ".seg": "segmented", ".segmented": "segmented",
    ".jsonl": "spans", ".json": "spans", ".ann": "spans",
}  # fmt: skip


_ENOUGH = 10
"""Text of at least so many lines that looks like columns is warned of."""


def named_format(source):
    """The format that the name of a file says, or None."""
    return EXTENSIONS.get(os.path.splitext((source.path or "").removesuffix(".gz"))[1].lower())


def is_conllu(line):
    """Whether a line looks like a token of CoNLL-U."""
    cells = line.split("\t")
    return len(cells) == 10 and re.fullmatch(r"\d+([-.]\d+)?", cells[0]) is not None


def guess(source, separator):
    """The format that the first lines look like."""
    lines = source.peek()
    rows = [line for line in lines if not line.startswith("# ")] or lines
    if not rows:
        raise CommandError(f"{source.name}: the file is empty")
    if is_conllu(rows[0]):
        return "conllu"
    widths = Counter(len(split_cells(line, separator)) for line in rows)
    tabs = Counter(line.count("\t") + 1 for line in rows)
    if _are_columns(widths) or (separator is None and _are_columns(tabs)):
        return "columns"  # whose reader asks for the separator where only tabs make the lines equal
    if len(widths) > 1:
        return "segmented"
    raise CommandError(f"{source.name}: cannot tell the format from the content; say --format")


def _are_columns(widths):
    """Whether lines of so many cells look like columns."""
    n_lines, (width, n) = widths.total(), widths.most_common(1)[0]
    # A few odd lines among columns are mistakes, which the reader will name, and not sentences.
    return n_lines > 1 and width > 1 and 4 * n >= 3 * n_lines


def warn_of_text(source):
    """Warn of a file for a tagger or a parser that looks like text: every line would be a token."""
    lines = [line.split() for line in source.peek(1 if source.path is None else PEEK)]
    prose = [cells for cells in lines if len(cells) > 2 and len(cells[-1]) > 1 and cells[-1][-1] in ".!?"]
    if 2 * len(prose) > len(lines):
        what = "looks like text, and each line is taken for one token; a token a line is read"
        warn(f"{source.name}: {what}, a blank line ends a sentence")


def warn_of_columns(source):
    """Warn of a file for a segmenter that looks like columns: every line would be a sentence."""
    if source.path is None:  # who writes to a pipe line by line need not wait for a guess
        return
    widths = Counter(len(split_cells(line, None)) for line in source.peek(PEEK))
    if widths.total() >= _ENOUGH and _are_columns(widths):
        warn(f"{source.name}: looks like columns; a segmenter takes each line for a sentence")
