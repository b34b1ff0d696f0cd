"""Tokens that are strings, or tuples of strings: their columns, after a check."""

from operator import itemgetter

from ..data.inputs import PLACE, PlaceError, describe, place


def split_columns(flat, offsets, n_columns, expected=None, reference_token=None):
    """The columns of tokens that are str or tuples of str, as sequences; errors name the place.

    Parameters
    ----------
    flat : list of str or of tuple of str
    offsets : ndarray of shape (n + 1,), int64
        Where each sequence starts.
    n_columns : int
        Columns to return.
    expected : type, optional
        Of the tokens.
    reference_token : str or tuple of str, optional
        The token whose type and width all must have, if that is not the first of ``flat``.
    """
    if not flat:
        return [[] for _ in range(n_columns)]
    reference_token = flat[0] if reference_token is None else reference_token
    token_type = tuple if isinstance(reference_token, tuple) else str

    def wrong(k, text):
        return PlaceError(*place(offsets, k), f"{text}{describe(flat[k])}", "X")

    if expected is not None and token_type is not expected:
        raise wrong(0, f"expected a token of type {expected.__name__} as in training, got ")
    if token_type is str:
        if n_columns > 1:
            text = f"the templates read column {n_columns - 1}, but the tokens are plain strings "
            text += f"(column 0 only); {PLACE} is {describe(flat[0])}"
            raise PlaceError(place(offsets, 0)[0], 0, text)
        return [flat]
    kinds = set(map(type, flat))
    if kinds - {tuple} and not all(issubclass(kind, tuple) for kind in kinds):
        k = next(k for k, token in enumerate(flat) if not isinstance(token, tuple))
        raise wrong(k, "expected a tuple of strings like the first token, got ")
    widths, width = set(map(len, flat)), len(reference_token)
    if widths != {width} or width < n_columns:
        k = next((k for k, token in enumerate(flat) if len(token) != width), 0)
        n = len(flat[k])
        if n < n_columns:
            raise wrong(k, f"the templates read column {n_columns - 1}, but the token has {n} columns: ")
        raise wrong(k, f"expected {width} columns like the first token, got {n}: ")
    return [list(map(itemgetter(c), flat)) for c in range(n_columns)]


def refuse(column, offsets, c, n_columns):
    """Raise for the first element of a column that is not a string."""
    k = next(k for k, token in enumerate(column) if not isinstance(token, str))
    what = "the type str" if n_columns == 1 else f"a str in column {c}"
    raise PlaceError(*place(offsets, k), f"expected a token of {what}, got {describe(column[k])}", "X")
