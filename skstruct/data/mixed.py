"""Tokens of strings and numbers: each is a row of a matrix, and strings for templates besides."""

import numpy as np

from .frames import SequenceFrame, parts_of
from .matrix import FeatureNames, Rows, assembled
from .tables import check_finite


class MixedTokens:
    """The tokens of some sequences: rows of numbers, and as many str, or tuples of str, of ``columns``."""

    __slots__ = ("columns", "rows", "tokens")

    def __init__(self, rows, tokens, columns):
        self.rows, self.tokens, self.columns = rows, tokens, columns

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, k):
        return MixedTokens(self.rows[k], [self.tokens[k]], self.columns)

    def __repr__(self):
        return f"a token of strings with {self.rows.matrix.shape[1]} numbers"


class MixedSequences:
    """Checked sequences whose tokens are strings and numbers.

    Parameters
    ----------
    numbers : SequenceMatrix
    tokens : list of lists of str or of tuples of str
        As many and as long as those of ``numbers``.
    columns : list of str
        The names of the columns of strings.
    """

    def __init__(self, numbers, tokens, columns):
        self.numbers, self.tokens, self.columns = numbers, tokens, columns

    @property
    def lengths(self):
        """Tokens of each sequence, int64."""
        return self.numbers.lengths

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, key):
        """The strings of one sequence, or the sequences of a slice."""
        if isinstance(key, slice):
            return MixedSequences(self.numbers[key], self.tokens[key], self.columns)
        return self.tokens[key]

    def __iter__(self):
        return iter(self.tokens)

    def taken(self, which):
        """The sequences at the positions ``which``."""
        return MixedSequences(self.numbers[which], [self.tokens[i] for i in which.tolist()], self.columns)

    def flat(self):
        """All tokens."""
        tokens = [token for sequence in self.tokens for token in sequence]
        return MixedTokens(Rows(self.numbers.matrix, self.numbers.names, None), tokens, self.columns)

    def blanked(self, keep):
        """The sequences, of which only those of the mask ``keep`` have tokens."""
        rows = self.numbers[np.flatnonzero(keep)].matrix
        numbers = assembled(rows, np.where(keep, self.lengths, 0), self.numbers.names)
        return MixedSequences(
            numbers, [x if k else [] for x, k in zip(self.tokens, keep.tolist())], self.columns
        )


def read_frame(frame, lengths, name="X"):
    """What the sequences of a data frame are: a ``SequenceMatrix``, :class:`MixedSequences`, or strings.

    Tokens with one column of strings are str, with several they are tuples.
    """
    X = SequenceFrame(frame, lengths)
    block, names, strings, titles = parts_of(frame, X.offsets, name)
    numbers = assembled(block, lengths, FeatureNames(names))
    check_finite(numbers, name)
    if not strings:
        return numbers
    tokens = X.split(strings[0] if len(strings) == 1 else list(zip(*strings)))
    return MixedSequences(numbers, tokens, titles) if names else tokens
