"""``skstruct convert``: models of other tools to ours, ours to theirs.

What is read is told by its content, what is written by its name, or an option.
"""

import os

from ..interchange import save_crfpp, save_crfsuite, save_wapiti
from ..interchange.kinds import kind_of
from .common import CommandError, check_target, load_model, tell

_WRITERS = {
    "skstruct": lambda model, path: model.save(path),
    "crfsuite": save_crfsuite,
    "crf++": save_crfpp,
    "crf++-text": lambda model, path: save_crfpp(model, path, text=True),
    "wapiti": save_wapiti,
}

_ENDINGS = {
    ".skstruct": "skstruct", ".sks": "skstruct", ".crfsuite": "crfsuite", ".crfpp": "crf++",
    ".txt": "crf++-text", ".wapiti": "wapiti",
}  # fmt: skip


def add_parser(commands):
    """Add the command to the command line."""
    parser = commands.add_parser(
        "convert",
        help="read and write models of CRFsuite, CRF++ and Wapiti",
        description="Read the model IN, of skstruct, CRFsuite (also a pickle of sklearn-crfsuite), CRF++ or "
        "Wapiti, and write it to OUT for one of these. What a format cannot express is refused by name.",
    )
    parser.add_argument("source", metavar="IN", help="a model file; its content says of which tool")
    parser.add_argument("target", metavar="OUT", help="file to write the model to")
    parser.add_argument(
        "--to", choices=list(_WRITERS),
        help="what to write (default: by the name of OUT: " + ", ".join(_ENDINGS) + ")",
    )  # fmt: skip
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments):
    """Run the command.

    Returns
    -------
    int
        The exit code, 0.
    """
    ending = os.path.splitext(arguments.target)[1].lower()
    to = arguments.to or _ENDINGS.get(ending)
    if to is None:
        arguments.usage_error(f"--to is needed: the name {arguments.target} does not tell what to write")
    check_target(arguments.target)
    model = load_model(arguments.source)
    try:
        _WRITERS[to](model, arguments.target)
    except (TypeError, ValueError) as error:
        raise CommandError(f"{arguments.source}: {error}") from error
    tell(f"read {kind_of(arguments.source)}, wrote {to}: {arguments.target}")
    return 0
