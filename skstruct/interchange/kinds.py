"""Recognition of the tool that wrote a model file, by its first bytes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._saving.atomic import naming
from .._saving.container import MAGIC
from .._saving.registry import load
from . import crfpp, crfsuite, wapiti
from .foreign import UTF8, NotUtf8Warning, canonical

if TYPE_CHECKING:
    from .._data.types import Path


SKSTRUCT = "skstruct"

_STARTS: tuple[tuple[bytes, str, Callable[..., Any]], ...] = (
    (MAGIC[:4], SKSTRUCT, load),
    (crfsuite.MAGIC, "crfsuite", crfsuite.load_crfsuite),
    (wapiti.MAGIC, "wapiti", wapiti.load_wapiti),
    (crfpp.TEXT_START, "crf++-text", crfpp.load_crfpp),
    (crfpp.BINARY_START, "crf++", crfpp.load_crfpp),
    *(
        (start, "pickle", crfsuite.load_crfsuite)
        for start in (b"\x80", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
    ),
)
"""First bytes, what a file is, and who reads it."""


def _kind(path: Path) -> tuple[str, Callable[..., Any]]:
    with naming(path), open(path, "rb") as file:
        head = file.read(32)
    for start, kind, reader in _STARTS:
        if head.startswith(start):
            return kind, reader
    if os.fspath(path).endswith(
        (".pkl", ".pickle", ".joblib")
    ):  # those that begin with nothing special
        return "pickle", crfsuite.load_crfsuite
    return SKSTRUCT, load


def kind_of(path: Path) -> str:
    """Return what a model file is: ``"skstruct"`` if it looks like nothing else."""
    return _kind(path)[0]


def load_model(path: Path, encoding: str = UTF8) -> Any:
    """Return the fitted estimator in a file of this package, or of a tool.

    Parameters
    ----------
    path : str or os.PathLike
    encoding : str, default="utf-8"
        Of the data, and so of the strings in a tool's file, unless these are UTF-8.

    Raises
    ------
    ValueError
        If it is a transformer, which predicts nothing.

    Warns
    -----
    UserWarning
        If strings should be UTF-8 and are not.
    """
    kind, reader = _kind(path)
    if kind == SKSTRUCT:
        model = reader(path)
        if not hasattr(model, "predict"):
            name = type(model).__name__
            raise ValueError(
                f"{path}: a {name} predicts nothing; save a pipeline that ends in a "
                "tagger, or read the file in Python by skstruct.load"
            )
        return model
    if canonical(encoding) == UTF8:
        return reader(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotUtf8Warning)
        try:
            return reader(path)
        except NotUtf8Warning:  # nothing else says that it is not
            pass
    return reader(path, encoding=encoding)
