"""Warnings about column files that look like exported tables: a header line, or no blank lines.

Tables that other programs export begin with the names of their columns and know no blank lines. Nothing
in the format forbids that, so that these are warnings.
"""

import re
import shlex

from .common import warn

LONG = 1000
"""A single sentence of more tokens is warned of."""

NAMES = frozenset(
    "char character characters chunk chunks form forms head id idx index iob label labels lemma lemmas ner "
    "ner_tag ner_tags pos pos_tag pos_tags sent_id sentence sentence_id tag tags target text token token_id "
    "tokens upos word word_id words xpos".split()
)
"""Usual names of columns, in lower case."""

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


class Notices:
    """Collects what is unusual about a file of columns while it is read.

    The first line looks like names of columns if its label occurs nowhere else, and some cell is a usual name
    of a column or stands above numbers only.

    Parameters
    ----------
    name : str
        Of the file.
    number, line : int, str
        Where the first token stands.
    cells : tuple of str
        Of the first token.
    label : int or None
        Column of the labels, if they are read.
    """

    def __init__(self, name, number, line, cells, label):
        self.name, self.number, self.line = name, number, line
        self.cells, self.label = cells, label
        self.unique = label is not None
        self.numeric = [c for c, cell in enumerate(cells) if not _NUMBER.fullmatch(cell)]
        self.n_tokens = self.n_sentences = 0

    def see(self, rows):
        """Take note of a sentence."""
        if self.unique:
            rest = rows if self.n_sentences else rows[1:]
            self.unique = all(row[self.label] != self.cells[self.label] for row in rest)
            self.numeric = [c for c in self.numeric if all(_NUMBER.fullmatch(row[c]) for row in rest)]
        self.n_tokens += len(rows)
        self.n_sentences += 1

    def tell(self):
        """Warn of what is unusual."""
        named = any(cell.strip(" #").lower() in NAMES for cell in self.cells)
        if self.unique and self.n_tokens > 1 and (named or self.numeric):
            warn(
                f"{self.name}, line {self.number}: looks like names of columns, but is read as a token: its "
                f"label {self.cells[self.label]!r} occurs nowhere else; --comment {shlex.quote(self.line)} "
                f"leaves it out"
            )
        if self.n_sentences == 1 and self.n_tokens > LONG:
            warn(f"{self.name}: all {self.n_tokens:,} tokens are one sentence; a blank line ends a sentence")
