"""``skstruct convert``: read and write models of CRFsuite, CRF++ and Wapiti; write a
model as one file of code.

Read the model IN, of skstruct, CRFsuite (also a pickle of sklearn-crfsuite), CRF++ or
Wapiti, and write it to OUT for one of these, or as one file of Python or JavaScript, or
as a page, that needs no package. An error names what a format cannot express.

What is read is told by its content, what is written by its name, or an option.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._one_file.writing import ENDINGS
from .._saving.pipelines import save
from ..interchange import export, save_crfpp, save_crfsuite, save_wapiti
from ..interchange.kinds import kind_of
from .common import (
    Arguments,
    CommandError,
    check_inputs,
    load_model,
    share,
    tell,
)
from .corpus import read
from .model_inputs import inputs_of
from .options import add_encoding
from .targets import add_output, takes_standard

if TYPE_CHECKING:
    from .corpus import Corpus


_WRITERS: dict[str, Callable[..., None]] = {
    "skstruct": save,
    "crfsuite": save_crfsuite,
    "crf++": save_crfpp,
    "crf++-text": lambda model, path: save_crfpp(model, path, text=True),
    "wapiti": save_wapiti,
}

_ENDINGS = {
    ".skstruct": "skstruct",
    ".sks": "skstruct",
    ".crfsuite": "crfsuite",
    ".crfpp": "crf++",
    ".txt": "crf++-text",
    ".wapiti": "wapiti",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add(
        "source",
        metavar="IN",
        help="a model file; its tool is detected from the content",
    )
    add_output(
        parser, "target", help="file to write the model to", takes_standard=False
    )
    what = (
        "of which tool; without, the name of OUT says it: "
        f"{', '.join([*_ENDINGS, *ENDINGS])}"
    )
    add("--to", choices=list(_WRITERS), help=what)
    add_encoding(parser)
    add = parser.add_argument_group("one file of code").add_argument
    what = "format of the weights (default: exact); rounded ones take less space"
    add("--weights", choices=("exact", "int16", "int8"), help=what)
    add(
        "--keep",
        type=share,
        metavar="SHARE",
        help="keep only this share of the weights, the largest",
    )
    what = "a labelled corpus on which to compare the file with the model"
    takes_standard(add("--check", metavar="FILE", help=what))
    add("--title", help="the title of a page (default: the name of the file)")
    what = "the text that a page shows first; it becomes part of the file"
    add("--example", metavar="TEXT", help=what)


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    ending = os.path.splitext(arguments.target)[1].lower()
    to = arguments.to or _ENDINGS.get(ending)
    is_code = arguments.to is None and ending in ENDINGS
    if to is None and not is_code:
        arguments.usage_error(
            f"the name {arguments.target} does not say which format to write: end it "
            f"in {', '.join([*_ENDINGS, *ENDINGS])}, or pass --to with one of "
            f"{', '.join(_WRITERS)}"
        )
    options = {name: getattr(arguments, name) for name in _OF_CODE}
    options = {name: value for name, value in options.items() if value is not None}
    if options and not is_code:
        arguments.usage_error(f"--{next(iter(options))} is for one file of code")
    check_inputs([arguments.source])
    check_inputs([arguments.check], folders=True)  # of brat
    model = load_model(arguments.source, encoding=arguments.encoding)
    if arguments.check is not None:
        options["check"] = _corpus(arguments, model).X
    try:
        if is_code:
            told = str(export(model, arguments.target, **options)).replace(
                "check=X", "--check FILE"
            )
        else:
            assert to is not None
            _WRITERS[to](model, arguments.target)
            told = f"read {kind_of(arguments.source)}, wrote {to}: {arguments.target}"
    except (TypeError, ValueError) as error:
        raise CommandError(f"{arguments.source}: {error}") from error
    for line in told.splitlines():
        tell(line)
    if ending == ".html" and arguments.example is None:
        tell("the page begins with an empty text; to show one: --example TEXT")


_OF_CODE = "weights", "keep", "check", "title", "example"
"""The options of files of code."""


def _corpus(arguments: Arguments, model: Any) -> Corpus:
    """Return the corpus to compare the file's labels on; its errors do not name the
    model.
    """
    inputs = inputs_of(model, arguments.source, "crfsuite")
    format = "crfsuite" if inputs.token is dict else None
    how = Arguments(**_AS_IS, encoding=arguments.encoding, format=format)
    how.usage_error = arguments.usage_error
    return read(arguments.check, how, inputs)


_AS_IS: dict[str, Any] = {
    **dict.fromkeys(("tokens", "label", "separator", "comment")),
    "read": [],
}
