"""``export``: a fitted model written as one file that runs without this package.

Real source files are joined to one: relative imports are left out, the constant of the
model is put in.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import os
import re
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np

from .._data.inputs import describe
from .._data.label_colours import marks_style
from .._data.types import Corpus, Path
from .._saving.atomic import write_whole
from .._version import __version__
from ..datasets.formats.span_records import SPAN_KEYS
from .payload import payload_of, predictor_of
from .python import open_model
from .sections import WEIGHTS, check_spellings, refuse

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
    """Write a fitted model as one file of Python or JavaScript, or as a page, that
    needs nothing else.

    The functions of the file are called as the methods of the model: ``predict``,
    ``decision_function``, ``predict_marginals``; in JavaScript ``decisionFunction`` and
    so on. ``explain`` tells for each token what speaks for its label and against the
    runner-up.

    Parameters
    ----------
    model : StructuredPerceptron, L1CRF, Segmenter, SpanTagger ...
        A fitted chain tagger, or a segmenter or span tagger over one; also an average,
        a mixture or a calibrated one, or a search or pipeline that ends in one.
    path : str or os.PathLike
        Ends in ``.py``, ``.js`` (or ``.cjs``), ``.mjs`` or ``.html``. Written whole or
        not at all; what was there before is replaced.
    weights : {"exact", "int16", "int8"}, default="exact"
        ``"exact"``: labels and scores are those of the model, bit for bit. Otherwise
        weights are rounded to multiples of the largest over 32767, or over 127, and
        scores are close.
    keep : float in (0, 1], default=1.0
        Share of the weights that stay, the largest first, as in the model's
        ``compress``.
    check : list of sequences, optional
        Labelled by the model and by the data that is written; the report, and ``about``
        in the file, have the counts.
    title : str, optional
        The title of a page, by default the file's name. In every file it is part of
        ``about``.
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
        If the model cannot be written, or a parameter has another value; the message
        says why.
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
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"path must be a str or an os.PathLike, got {describe(path)}; write "
            "export(model, path)"
        )
    stem, ending = os.path.splitext(os.path.basename(os.fspath(path)))
    if ending not in ENDINGS:
        raise ValueError(
            f"path must end in .py, .js, .cjs, .mjs or .html, got {stem + ending!r}"
        )
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be 'exact', 'int16' or 'int8', got {weights!r}")
    for name, value in (("title", title), ("example", example)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a str, got {describe(value)}")
    kept = (
        model
        if keep == 1.0
        else predictor_of(model).compress(dtype="float64", keep=keep)
    )
    payload = payload_of(kept, weights)
    for label in payload.header["labels"] if ending != ".py" else ():
        if isinstance(label, int) and abs(label) > LARGEST_INTEGER:
            refuse(
                f"the label {label} is beyond 2**53, which JavaScript rounds; write .py, or train on str"
            )
    if ending == ".html":
        payload = payload.page()
    about: dict[str, Any] = {
        "name": stem
        if _IDENTIFIER.fullmatch(stem) and stem not in _RESERVED
        else "tagger"
    }
    about |= {
        k: v for k, v in (("title", title), ("example", example)) if v is not None
    }
    found = ()
    if check is not None:
        found = compared(model, payload.block(), check)
        about["check"] = dict(
            zip(ExportReport._fields[4:8], found)
        )  # the counts, and not the places
    block = payload.block(**about)
    for known, strings in payload.keys.spelled if ending != ".py" else ():
        check_spellings(known, set(strings))
    if ending == ".py":
        text = python_file(block)
    elif ending == ".html":
        text = page_file(block, title or stem)
    else:
        text = javascript_file(block, ".mjs" if ending == ".mjs" else ".js")
    write_whole(path, text, "utf-8")
    data = text.encode()
    sizes = len(data), len(gzip.compress(data, mtime=0))
    return ExportReport(os.fspath(path), *sizes, payload.n_weights, *found)


# --------------------------------------------------------------------------------------
# The report: size of the file, and how its predictions compare with those of the model
# --------------------------------------------------------------------------------------
MOST_PLACES = 10


class ExportReport(NamedTuple):
    """A report of what :func:`skstruct.interchange.export` wrote; prints as three
    lines.

    Attributes
    ----------
    path : str
    n_bytes, n_bytes_gzip : int
        Size of the file, and of what servers send of it.
    n_weights : int
        Weights that are not zero.
    n_sequences : int
        Sequences that were compared; 0 without ``check``.
    n_sequences_differ, n_tokens_differ : int
        Of these how many the file labels otherwise than the model, and how many tokens
        in them; of texts how many words, or spans, of the model it misses.
    largest_difference : float or None
        Of a score; None if the model gives no scores.
    places : list of (sequence, position)
        The first ten that differ.
    """

    path: str
    n_bytes: int
    n_bytes_gzip: int
    n_weights: int
    n_sequences: int = 0
    n_sequences_differ: int = 0
    n_tokens_differ: int = 0
    largest_difference: float | None = 0.0
    places: list[tuple[int, int]] = []

    def __str__(self) -> str:
        size = f"{self.n_bytes / 1000:,.0f} kB ({self.n_bytes_gzip / 1000:,.0f} kB gzipped)"
        lines = [f"{self.path}: {size}, {self.n_weights:,} weights"]
        if not self.n_sequences:
            return "\n".join(
                [
                    *lines,
                    "not compared with the model",
                    "check=X does that on sequences",
                ]
            )
        n = f"{self.n_sequences_differ:,} of {self.n_sequences:,} sequences"
        places = (
            ", first " + ", ".join(map(str, self.places[:3])) if self.places else ""
        )
        lines.append(f"{n} labelled otherwise, {self.n_tokens_differ:,} tokens{places}")
        largest = (
            "no scores"
            if self.largest_difference is None
            else f"{self.largest_difference:.3g}"
        )
        return "\n".join([*lines, f"largest difference of a score: {largest}"])


def compared(model: Any, block: str, X: Any) -> tuple[Any, ...]:
    """``n_sequences`` ... ``places`` of the report about a model and its file on some
    sequences, or texts.
    """
    if isinstance(X, (str, dict)) or not hasattr(X, "__len__"):
        raise ValueError(f"check must be a list of sequences, got {describe(X)}")
    file = open_model(block)
    places = []
    n_differ = 0
    for i, (expected, found) in enumerate(zip(model.predict(X), file.predict(X))):
        if file.header["task"] == "labels":
            wrong = [
                t for t, (one, other) in enumerate(zip(expected, found)) if one != other
            ]
        else:
            known = set(found)
            wrong = [t for t, item in enumerate(expected) if item not in known]
        n_differ += list(expected) != list(found)
        places += [(i, t) for t in wrong]
    largest = None
    if hasattr(model, "decision_function"):
        scores = (
            np.asarray(model.decision_function(X), float),
            np.asarray(file.decision_function(X), float),
        )
        largest = float(np.abs(scores[0] - scores[1]).max(initial=0.0))
    return len(X), n_differ, len(places), largest, places[:MOST_PLACES]


_PYTHON, _JAVASCRIPT, _PAGE = (
    files(__package__) / name for name in ("python", "javascript", "page")
)

_HEAD = '"""A model of skstruct {version} in one file, for Python 3.8 and later; needs nothing else."""\n'

_LICENCE = """
# The code of this file, not the model, is under the licence 0BSD: do with it what you
# like. The model is the constant DATA, which holds no code. From the command line:
# python TAGGER.py [FILE]
"""

_JAVASCRIPT_HEAD = """\
// A model of skstruct {version} in one file; needs nothing else.
// The code of this file, not the model, is under the licence 0BSD: do with it what you like.
// The model is the constant DATA, which holds no code."""


PARTS = """
reading names templates patterns characters clusters contexts chain pairs sums calls words spans
""".split()
"""Sources of every program, of Python and of JavaScript, in an order in which none
needs a later one while it is read.
"""


def python_file(block: str) -> str:
    """Join the text of a ``.py`` file; ``block`` is the constant of the model."""
    imports: dict[str, set[str]] = {}
    sources = []
    for name in (*PARTS, "command", "tagger"):
        source = (_PYTHON / f"{name}.py").read_text(encoding="utf-8")
        _, said, text = source.split('"""', 2)
        for module, names in _IMPORT.findall(text):
            imports.setdefault(module, set()).update(filter(None, names.split(", ")))
        text = _ANY_IMPORT.sub("", text).strip("\n")
        text = re.sub('^DATA = ".*"', f'DATA = "{block}"', text, flags=re.MULTILINE)
        said = "\n".join(f"# {line}".rstrip() for line in said.splitlines())
        sources.append(f"# {'-' * 98}\n{said}\n\n{text}")
    future = ", ".join(sorted(imports.pop("__future__")))
    lines = [f"from __future__ import {future}", ""]
    for module, names in sorted(
        imports.items(), key=lambda item: (bool(item[1]), item)
    ):
        listed = f"from {module} import {', '.join(sorted(names))}"
        lines.append(listed if names else f"import {module}")
    head = _HEAD.format(version=__version__) + _LICENCE
    return head + "\n" + "\n".join(lines) + "\n\n" + "\n\n\n".join(sources) + "\n"


_IMPORT = re.compile(r"^(?:import|from) (\w[\w.]*)(?: import (.*))?$", re.MULTILINE)
"""An import of the standard library, on one line: its module and names."""

_ANY_IMPORT = re.compile(r"^(?:import|from) .*\n", re.MULTILINE)


def javascript_file(block: str, ending: str) -> str:
    """Join the text of a JavaScript file.

    Parameters
    ----------
    block : str
        The constant of the model.
    ending : {".js", ".mjs"}
        Of a script, which is a module of Node too, or of a module.
    """
    names = (*(f"{part}.js" for part in PARTS), f"tagger{ending}")
    text = _joined(block, [_JAVASCRIPT / name for name in names])
    return f'"use strict";\n\n{text}\n' if ending == ".mjs" else _as_function(text)


def page_file(block: str, title: str) -> str:
    """Join the text of a page.

    Its policy allows its one script and its one style, by their hashes, and nothing
    else.

    Parameters
    ----------
    block : str
        The constant of the model.
    title : str
    """
    sources = [_JAVASCRIPT / f"{part}.js" for part in PARTS]
    sources += [_PAGE / name for name in ("page.js", "tasks.js", "spans.js")]
    script = "\n" + _as_function(_joined(block, sources))
    style = "\n" + (_PAGE / "page.css").read_text(encoding="utf-8") + marks_style()
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
    policy += "base-uri 'none'; form-action 'none'"
    shown = html.escape(
        title.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    )
    values = {"policy": policy, "title": shown, "style": style, "script": script}
    page = (_PAGE / "page.html").read_text(encoding="utf-8")
    return re.sub("@([a-z]+)@", lambda name: values[name[1]], page)


def _joined(block: str, sources: list[Any]) -> str:
    """Join sources of JavaScript, with the constant in its place."""
    texts = [source.read_text(encoding="utf-8").strip() for source in sources]
    text = "\n\n".join([_JAVASCRIPT_HEAD.format(version=__version__), *texts])
    text = text.replace(
        "const SPAN_KEYS = [];", f"const SPAN_KEYS = {json.dumps(SPAN_KEYS)};"
    )
    return text.replace('const DATA = "";', f'const DATA = "{block}";')


def _as_function(text: str) -> str:
    return f'(function () {{\n"use strict";\n\n{text}\n}})();\n'


def _hash(text: str) -> str:
    """Return what a content security policy calls the hash of a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
