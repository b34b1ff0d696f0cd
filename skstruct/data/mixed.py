"""Tokens of strings and numbers: each is a row of a matrix, and strings for templates besides."""

from .frames import SequenceFrame, parts_of
from .matrix import FeatureNames, Rows, assembled
from .sequences import TokenTable
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


class MixedSequences(TokenTable):
    """Checked sequences whose tokens are strings and numbers; iterated over, they are strings.

    Parameters
    ----------
    numbers : SequenceMatrix
    tokens : list of str or of tuples of str
        Those of all sequences, one for each row of ``numbers``.
    columns : list of str
        The names of the columns of strings.
    """

    def __init__(self, numbers, tokens, columns):
        self.numbers, self.tokens, self.columns = numbers, tokens, columns
        self._cut(numbers.lengths)

    def _rows(self, rows):
        return self.tokens[rows] if isinstance(rows, slice) else [self.tokens[k] for k in rows.tolist()]

    def _picked(self, rows, lengths):
        return MixedSequences(self.numbers._picked(rows, lengths), self._rows(rows), self.columns)

    def flat(self):
        """All tokens."""
        return MixedTokens(Rows(self.numbers.matrix, self.numbers.names, None), self.tokens, self.columns)


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
    tokens = strings[0] if len(strings) == 1 else list(zip(*strings))
    return MixedSequences(numbers, tokens, titles) if names else X.split(tokens)
