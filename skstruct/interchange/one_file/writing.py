"""``export``: a fitted model written as one file that runs without this package."""

from __future__ import annotations

import os
import re
from typing import Any, Literal

from ...data.places import describe
from ...data.types import Corpus, Path
from ...saving.atomic import atomic_write
from .checking import Comparison, ExportReport, compared, report_of
from .payload import payload_of, predictor_of
from .quantities import WEIGHTS
from .refusals import refuse
from .splicing import javascript_file, page_file, python_file

ENDINGS = ".py", ".js", ".cjs", ".mjs", ".html"

LARGEST_INTEGER = 2**53
"""Up to which every integer is a number of JavaScript."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_RESERVED = """
arguments await break case catch class const continue debugger default delete do else enum eval export extends
false finally for function if implements import in instanceof interface let new null package private protected
public return static super switch this throw true try typeof var void while with yield
""".split()


def export(
    model: Any,
    path: Path,
    *,
    weights: Literal["exact", "int16", "int8"] = "exact",
    keep: float = 1.0,
    check: Corpus | None = None,
    title: str | None = None,
    example: str | None = None,
) -> ExportReport:
    """Write a fitted model as one file of Python or JavaScript, or as a page, that needs nothing else.

    The functions of the file are called as the methods of the model: ``predict``, ``decision_function``,
    ``predict_marginals``; in JavaScript ``decisionFunction`` and so on. ``explain`` tells for each token what
    speaks for its label and against the runner-up.

    Parameters
    ----------
    model : StructuredPerceptron, L1CRF, Segmenter, SpanTagger ...
        A fitted chain tagger, or a segmenter or span tagger over one; also an average, a mixture or a
        calibrated one, or a search or pipeline that ends in one.
    path : str or os.PathLike
        Ends in ``.py``, ``.js`` (or ``.cjs``), ``.mjs`` or ``.html``. Written whole or not at all; what was
        there before is replaced.
    weights : {"exact", "int16", "int8"}, default="exact"
        ``"exact"``: labels and scores are those of the model, bit for bit. Otherwise weights are rounded to
        multiples of the largest over 32767, or over 127, and scores are close.
    keep : float in (0, 1], default=1.0
        Share of the weights that stay, the largest first, as in the model's ``compress``.
    check : list of sequences, optional
        Labelled by the model and by the data that is written; the report, and ``about`` in the file, have the
        counts.
    title : str, optional
        Of a page, by default the kind of model. In every file it is part of ``about``.
    example : str, optional
        The text that a page shows first, likewise.

    Returns
    -------
    ExportReport
        ``print`` it.

    Raises
    ------
    TypeError
        If it is another kind of model, or ``title`` or ``example`` is not a str.
    ValueError
        If the model cannot be written, or a parameter has another value; the message says why.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.interchange import export
    >>> X, y = [["the", "dog"], ["the", "cat"]], [["D", "N"], ["D", "N"]]
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = export(tagger, os.path.join(folder, "tagger.py"), check=X)
    >>> report.n_sequences, report.n_sequences_differ, report.largest_difference
    (2, 0, 0.0)
    """
    file_name = os.path.basename(os.fspath(path))
    stem, ending = os.path.splitext(file_name)
    if ending not in ENDINGS:
        raise ValueError(f"path must end in .py, .js, .cjs, .mjs or .html, got {file_name!r}")
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be 'exact', 'int16' or 'int8', got {weights!r}")
    for name, value in (("title", title), ("example", example)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a str, got {describe(value)}")
    kept = model if keep == 1.0 else predictor_of(model).compress(dtype="float64", keep=keep)
    payload = payload_of(kept, weights)
    if ending != ".py":
        check_integers(payload.header["labels"])
    if ending == ".html":
        payload = payload.page()
    about = {"name": stem if _IDENTIFIER.fullmatch(stem) and stem not in _RESERVED else "tagger"}
    about |= {k: v for k, v in (("title", title), ("example", example)) if v is not None}
    found = Comparison()
    if check is not None:
        found = compared(model, payload.block(), check)
        names = "n_sequences", "n_sequences_differ", "n_tokens_differ", "largest_difference"
        about["check"] = {name: getattr(found, name) for name in names}
    block = payload.block(**about)
    if ending != ".py":
        payload.keys.check_spellings()
    if ending == ".py":
        text = python_file(block, payload.parts)
    elif ending == ".html":
        text = page_file(block, payload.parts, title or payload.header["about"]["model"])
    else:
        text = javascript_file(block, payload.parts, ".mjs" if ending == ".mjs" else ".js")
    with atomic_write(os.fspath(path), encoding="utf-8") as file:
        file.write(text)
    return report_of(path, text, payload.n_weights, found)


def check_integers(labels):
    """Raise for a label that is no number of JavaScript."""
    for label in labels:
        if isinstance(label, int) and abs(label) > LARGEST_INTEGER:
            refuse(f"the label {label} is beyond 2**53, which JavaScript rounds; write .py, or train on str")
