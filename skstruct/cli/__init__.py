"""The command line: ``python -m skstruct COMMAND``.

Idea: one module a command. It exports ``add_parser(commands)``, which adds the command's parser and sets
its default ``run``, a function of the parsed arguments that returns the exit code.

Place: outside of the ladder, over everything.
"""

import argparse
import os
import sys

from .. import __version__
from . import demo

COMMANDS = (demo,)

INTERRUPTED = 130
"""Exit code after Ctrl-C, 128 + SIGINT."""

PIPE_CLOSED = 141
"""Exit code after the reader of a pipe went away, 128 + SIGPIPE."""


def new_parser():
    """The parser of all commands.

    Returns
    -------
    argparse.ArgumentParser
    """
    parser = argparse.ArgumentParser(
        prog="python -m skstruct",
        description="Structured prediction with the interface of scikit-learn.",
    )
    parser.add_argument("--version", action="version", version=f"skstruct {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def main(argv=None):
    """Run a command.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    SystemExit
        With code 0 for ``--help`` and ``--version``, with code 2 for arguments that are wrong.
    """
    if hasattr(sys.stdout, "reconfigure"):  # words in any script, on terminals of any encoding
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            arguments = new_parser().parse_args(argv)
            return arguments.run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # so that a closed pipe shows here, not while Python shuts down
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
