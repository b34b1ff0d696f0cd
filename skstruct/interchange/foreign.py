"""The common part of formats of other tools: bytes that are checked, models as names
and weights.

A model of another tool is input from outside. Whatever is wrong with it ends in one
kind of error, :class:`ModelFileError`, which names the file and the place. Nothing is
allocated that the size of the file does not justify.

A fitted chain model is written from its names and weights (:class:`NamedModel`), or
refused with the reason why a format cannot express it.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.user_warnings import warn
from .._crf.crf_run import sorted_weights
from .._data.inputs import LABELS, describe
from .._data.labels import Labels
from .._saving.atomic import naming
from .._saving.container import ModelFileError

if TYPE_CHECKING:
    from .._chain.chain_model import ChainModel


FORBIDDEN = -1e4
"""Weight of what constraints forbid: its probability is 0, and sums of it stay finite."""


class NamedModel(NamedTuple):
    """A model of names and weights, common to formats; L labels."""

    labels: list  # str
    names: list  # of the features that have weights, in the order of their rows
    row: np.ndarray  # (n,) int64: number of the name
    # (n,) int64: number of the label; weights are sorted by row and column
    column: np.ndarray
    weight: np.ndarray  # (n,) float64, none of them 0
    transitions: dict  # by combination, 0 for the label bigram, or by name: (L, L) weights [previous, next]
    start: np.ndarray  # (L,) bool: whether a sequence may start with a label
    end: np.ndarray  # (L,) bool


def chain_model(estimator: Any, tool: str) -> ChainModel:
    """Return the ChainModel of a fitted tagger, if a tool may be able to express it.

    Raises
    ------
    TypeError
        If it is not a chain tagger.
    ValueError
        If it cannot be expressed; the message says why.
    """
    check_is_fitted(estimator)
    model: Any = getattr(estimator, "_distribution", None) or getattr(
        estimator, "_model", None
    )
    if not hasattr(model, "new_chain") or estimator.inputs.task != LABELS:
        hint = ""
        if hasattr(estimator, "tagger_"):
            hint = "; use its tagger_, which labels the tokens of its texts"
        raise TypeError(
            f"a chain tagger is needed, got a {type(estimator).__name__}{hint}"
        )
    if model.order == 2:
        refuse(tool, "transitions that look two labels back (order=2)")
    if model.encoder.token_type not in (str, tuple, dict):
        refuse(tool, f"features of tokens of type {model.encoder.token_type.__name__}")
    odd = [label for label in model.labels.values if not isinstance(label, str)]
    if odd:
        refuse(tool, f"labels that are not str, such as {describe(odd[0])}")
    return model


def refuse(tool: str, what: str) -> NoReturn:
    """Raise the error that a tool's format cannot express something."""
    raise ValueError(
        f"the model cannot be written for {tool}, whose format has no place for {what}"
    )


def named_model(
    model: ChainModel, tool: str, named: dict[int, str] | None = None
) -> NamedModel:
    """Return the names and weights of a ChainModel.

    Parameters
    ----------
    model : ChainModel
    tool : str
        For errors.
    named : dict, optional
        Row -> name, of the features of labels; several may have one name. By default
        the encoder's.

    Raises
    ------
    ValueError
        If two features of other weights have the same name, or weights are not finite.
    """
    L = len(model.labels)
    encoder = model.encoder
    keys, weight = sorted_weights(model.nodes)
    weight = weight * model.scale
    edge_keys, edge_weight = sorted_weights(model.edges)
    edge_weight = edge_weight * model.scale
    if not (np.isfinite(weight).all() and np.isfinite(edge_weight).all()):
        refuse(tool, "weights that are not finite")
    bounds = np.searchsorted(keys, np.arange(encoder.n_node_rows + 1) * L)
    named = (
        encoder.row_names(set(range(encoder.n_node_rows))) if named is None else named
    )
    rows = _rows_of_names(named, keys % L, weight, bounds.tolist(), tool)
    name_of = {row: name for name, row in rows.items()}
    kept = np.isin(keys // L, list(name_of))
    used, row = np.unique(keys[kept] // L, return_inverse=True)
    transitions = {0: np.zeros((L, L))}
    combinations, first = np.unique(edge_keys // (L * L), return_index=True)
    for e, mine in zip(
        combinations.tolist(), np.split(np.arange(edge_keys.size), first[1:])
    ):
        block = transitions.setdefault(e, np.zeros((L, L)))
        block.ravel()[edge_keys[mine] - e * L * L] = edge_weight[mine]
    if not encoder.has_bigram:
        transitions[0][:] = 0.0
    start, allowed, end = (part == 0.0 for part in model.constraints)
    transitions[0][~allowed] = FORBIDDEN
    return NamedModel(
        list(model.labels.values), [name_of[k] for k in used.tolist()], row, keys[kept] % L, weight[kept],
        transitions, start, end,
    )  # fmt: skip


def _rows_of_names(
    named: dict[int, str],
    column: np.ndarray,
    weight: np.ndarray,
    bounds: list[int],
    tool: str,
) -> dict[str, int]:
    """{name: row}; one of the rows, where several of a name have the same weights."""
    rows: dict[str, int] = {}
    for row, name in sorted(named.items()):
        other = rows.setdefault(name, row)
        if other != row:
            mine, its = (slice(bounds[r], bounds[r + 1]) for r in (row, other))
            if not (
                np.array_equal(column[mine], column[its])
                and np.array_equal(weight[mine], weight[its])
            ):
                refuse(tool, f"two features of one name: {name!r:.80}")
    return rows


MOST_LABELS = 4096
"""A model has a matrix over pairs of labels, however small its file is."""


UTF8 = "utf-8"

_ESCAPED = re.compile("[\udc80-\udcff]")
"""The character for a byte that is not UTF-8."""


class NotUtf8Warning(UserWarning):
    """The strings of a model are not UTF-8, and no encoding was given."""


class ForeignBytes:
    """The content of a file.

    Parameters
    ----------
    data : bytes
    name : str
        What errors call it.
    size : int, optional
        Of the file that the content was unpacked from, in bytes; without, that of the
        content.
    """

    def __init__(self, data: bytes, name: str, size: int | None = None) -> None:
        self.data = data
        self.name = name
        self.size = len(data) if size is None else size
        self.at = 0  # the byte that `match` reads next
        self.encoding = UTF8  # of its strings

    def fail(self, at: int, what: str) -> NoReturn:
        """Raise a ModelFileError about the byte ``at``."""
        raise ModelFileError(f"{self.name}: byte {at}: {what}")

    def expected(self, what: str) -> NoReturn:
        """Raise a ModelFileError about the line at the next byte."""
        line = self.data[self.at :].partition(b"\n")[0]
        n = self.data.count(b"\n", 0, self.at)
        raise ModelFileError(
            f"{self.name}: line {n + 1}: expected {what}, found {as_text(line)!r:.60}"
        )

    def match(
        self, form: bytes | re.Pattern[bytes], what: str, *values: object
    ) -> re.Match[bytes]:
        """Return what an expression finds at the next byte, which is passed over;
        values stand for ``{}``.
        """
        form = form if isinstance(form, re.Pattern) else re.compile(form)
        found = form.match(self.data, self.at)
        if found is None:
            self.expected(what.format(*values))
        self.at = found.end()
        return found

    def text(self, raw: bytes) -> str:
        """Decode a string of the file.

        Of UTF-8 bytes that are none become lone surrogates, which :func:`as_bytes`
        undoes; of another encoding they are an error.
        """
        if self.encoding == UTF8:
            return as_text(raw)
        try:
            return raw.decode(self.encoding)
        except UnicodeError:
            raise ModelFileError(
                f"{self.name}: the string {raw!r:.80} is no text in {self.encoding}: "
                "pass the encoding of the model's strings as encoding="
            ) from None

    def warn_of_bytes(self, strings: Iterable[str]) -> None:
        """Warn if strings of the file, as :meth:`text` gave them, are not UTF-8."""
        for string in strings if self.encoding == UTF8 else ():
            if not string.isascii() and _ESCAPED.search(string):
                warn(
                    f"{self.name}: its strings are not UTF-8, such as "
                    f"{as_bytes(string)!r:.60}; the model will not recognise "
                    "tagged text: pass their encoding as encoding= (--encoding)",
                    NotUtf8Warning,
                )
                return

    def require(self, condition: Any, at: int, what: str) -> None:
        """Raise a ModelFileError about the byte ``at`` unless the condition holds."""
        if not condition:
            self.fail(at, what)

    def require_all(self, ok: np.ndarray, at: np.ndarray, what: str) -> None:
        """Raise a ModelFileError about the first of several things that is not as it
        has to be.

        ``at`` are their bytes; in ``what`` its number stands for ``{}``.
        """
        if not ok.all():
            k = int(np.argmin(ok))
            self.fail(int(at[k]), what.format(k))

    def array(self, at: int, n: int, dtype: Any, what: str) -> np.ndarray:
        """``n`` numbers that begin at a byte; read-only, perhaps not aligned."""
        end = at + n * np.dtype(dtype).itemsize
        if end > len(self.data):
            self.fail(
                at,
                f"{what} would end at byte {end}, but the file has {len(self.data)}: it is cut off",
            )
        return np.frombuffer(self.data, dtype, n, at)

    def tag(self, at: int, tag: bytes) -> None:
        """Check the four letters with which a part begins."""
        found = bytes(self.data[at : at + len(tag)])
        self.require(found == tag, at, f"expected {tag.decode()!r}, found {found!r}")


def read_source(source: Any, encoding: str = "utf-8") -> ForeignBytes:
    """Return the :class:`ForeignBytes` of a path, or of bytes, with strings in an
    encoding.
    """
    file = _opened(source)
    file.encoding = canonical(encoding)
    return file


def canonical(encoding: str) -> str:
    """Return Python's name of an encoding.

    Raises
    ------
    ValueError
        If it knows none of this name.
    """
    try:
        return codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding must be one that Python knows, such as 'euc_jp'; got "
            f"{encoding!r}"
        ) from None


def _opened(source: Any) -> ForeignBytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return ForeignBytes(bytes(source), "the model")
    path = os.fspath(source)
    with naming(path), open(path, "rb") as file:
        return ForeignBytes(file.read(), repr(path))


def as_text(raw: bytes) -> str:
    """Decode bytes; those that are no UTF-8 become lone surrogates, which
    :func:`as_bytes` undoes.
    """
    return raw.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Return a str as bytes, the opposite of :func:`as_text`."""
    return text.encode("utf-8", "surrogateescape")


def encoded(
    strings: list[str],
    what: str,
    tool: str,
    bad: str = "\x00",
    wrong: str = "with a NUL character",
) -> list[bytes]:
    """Return the bytes of strings that a file can hold: of text in which the expression
    ``bad`` finds nothing.
    """
    for string in strings:
        if re.search(bad, string):
            refuse(tool, f"a {what} {wrong}, such as {string!r:.80}")
    try:
        return list(map(as_bytes, strings))
    except UnicodeEncodeError as error:
        refuse(tool, f"a {what} that is no Unicode text, such as {error.object!r:.80}")


def labels_in_order(labels: list[str], name: str) -> Labels:
    """Return the :class:`Labels` of a model, if these can be such; ``name`` is that of
    the file.
    """
    if not labels:
        raise ModelFileError(
            f"{name}: the model has no labels; it was trained on nothing"
        )
    if len(labels) > MOST_LABELS:
        raise ModelFileError(
            f"{name}: {len(labels)} labels; at most {MOST_LABELS} are read"
        )
    if len(set(labels)) < len(labels):
        twice = next(label for k, label in enumerate(labels) if label in labels[:k])
        raise ModelFileError(f"{name}: the label {twice!r} occurs twice")
    return Labels(labels, in_order=True)
