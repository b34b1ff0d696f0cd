"""The command line: ``skstruct COMMAND``, or ``python -m skstruct COMMAND``.

One module a command. The first two paragraphs of its docstring are what ``--help`` says
of it, ``add_arguments(parser)`` adds its arguments, and ``run`` takes them parsed. What
it returns is the exit code, if that is not 0.

Results go to standard output, messages to standard error. Exit codes: 0 done; 1 input
or data that cannot be used, with one line that starts with ``skstruct: error:`` and
names file and line; 2 wrong usage; 130 after Ctrl-C; 141 if the reader closed standard
output.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from .._data.suggestions import meant
from .._saving.atomic import FULL
from .._version import __version__
from .command_words import in_command_words
from .common import Arguments, CommandError, tell, warn
from .targets import check_paths

COMMANDS = (
    "demo",
    "train",
    "tag",
    "evaluate",
    "report",
    "show",
    "check",
    "select",
    "serve",
    "convert",
    "compare",
    "compile",
)
"""The modules of the commands, in the order of the help."""

DATA_ERROR = 1
"""Exit code for input that cannot be used."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, 128 + SIGINT."""

PIPE_CLOSED = 141
"""Exit code after the reader closed the pipe, 128 + SIGPIPE."""

TERMINATED = 143
"""Exit code after SIGTERM, 128 + SIGTERM."""


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Help whose entry for an option ends with its default, if that is a number or a
    text.
    """

    def _get_help_string(self, action: argparse.Action) -> str | None:
        has_one = type(action.default) in (int, float, str) and action.option_strings
        return super()._get_help_string(action) if has_one else action.help

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Fill a paragraph; each line of one with indented lines, a list, by itself."""
        if "\n  " not in text:
            return super()._fill_text(text, width, indent)
        rows = [
            textwrap.wrap(row, width, subsequent_indent="    ")
            for row in text.splitlines()
        ]
        return "\n".join(line for row in rows for line in row)


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")


def _with_suggestion(message: str) -> str:
    """Return an error of ``argparse``; if it is about an invalid choice, with the choice
    that may be meant.
    """
    found = _CHOICE.search(message)
    if found is None:
        return message
    return message + meant(found[1], re.findall(r"[^\s',]+", found[2]))


class _Command(argparse.ArgumentParser):
    """The parser of one command. Its errors are one line, without the usage, which is
    twelve lines of some commands.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an unknown option is an error before arguments that are
        missing.
        """
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for argument in args or ():
            name = argument.partition("=")[0]
            if argument == "--":
                break
            is_known = any(each.startswith(name) for each in known)  # or its beginning
            if name.startswith("--") and not is_known:
                self.error(f"unrecognized arguments: {argument}{meant(name, known)}")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End with one line about wrong usage."""
        text = _with_suggestion(message).removesuffix(".")
        self.exit(
            2, f"{self.prog}: error: {text}; {self.prog} --help lists the options\n"
        )


class _Program(argparse.ArgumentParser):
    """The parser of all commands; ``commands`` are their names and what they do."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: list[tuple[str, str]] = []

    def error(self, message: str) -> NoReturn:
        """End with a line about wrong usage; if no command is named, with a list of
        them.
        """
        if message.endswith("required: COMMAND"):
            self.exit(2, self._commands())
        found = _CHOICE.search(message)
        if found is not None:
            hint = meant(found[1], COMMANDS).removesuffix("?")
            listed = f"commands are {', '.join(COMMANDS)}"
            message = f"there is no command {found[1]!r}{hint}; {listed}"
        self.exit(2, f"{self.prog}: error: {message}\n")

    def _commands(self) -> str:
        """List the commands, one a line."""
        rows = (f"  {name:<10}{about}" for name, about in self.commands)
        told = f"for the options of a command: {self.prog} COMMAND --help"
        return "\n".join([f"usage: {self.prog} COMMAND ...", "", *rows, "", told, ""])


def new_parser(
    prog: str = "skstruct", names: Sequence[str] = COMMANDS
) -> argparse.ArgumentParser:
    """Return the parser of commands.

    Parameters
    ----------
    prog : str
        What the program is called in usage messages.
    names : sequence of str
        The commands, whose modules are imported.

    Returns
    -------
    argparse.ArgumentParser
    """
    parser = _Program(
        prog=prog,
        description="Structured prediction with the interface of scikit-learn.",
        epilog="Exit codes: 0 done, 1 unusable input, 2 wrong usage, 130 interrupted, "
        "141 a closed pipe.",
    )
    parser.add_argument(
        "--version", action="version", version=f"skstruct {__version__}"
    )
    parser.add_argument(
        "--traceback",
        action="store_true",
        help="show where in the program an error arose",
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Command
    )
    for name in names:
        module = importlib.import_module(f"{__name__}.{name}")
        first, description, *_ = (module.__doc__ or ":\n\n").split("\n\n")
        about = " ".join(first.partition(": ")[2].removesuffix(".").split())
        parser.commands.append((name, about))
        command = commands.add_parser(
            name, help=about, description=description, formatter_class=_Help
        )
        command.set_defaults(
            run=module.run,
            usage_error=command.error,
            default_of=command.get_default,
        )
        module.add_arguments(command)
        command.set_defaults(actions=command._actions)
    return parser


def _needed_commands(arguments: list[str]) -> tuple[str, ...]:
    """Return the commands that a parser of these arguments needs: others are not
    imported, which takes time.
    """
    if arguments == ["--version"]:
        return ()
    first = next(
        (argument for argument in arguments if not argument.startswith("-")), None
    )
    return (first,) if first in COMMANDS else COMMANDS


def _join_dashed_values(arguments: list[str]) -> list[str]:
    """Return the arguments, with ``--comment=-DOCSTART-`` for ``--comment -DOCSTART-``
    and ``--tokens=-3,-2`` for ``--tokens -3,-2``: `argparse` would take a value that
    begins with a dash for an option.
    """
    found: list[str] = []
    for argument in map(str, arguments):
        option = found[-1] if found else ""
        takes_text = option in ("--comment", "--separator")
        takes_columns = option in ("--tokens", "--label")
        if (takes_text and re.match(r"-[^-].", argument)) or (
            takes_columns and re.match(r"-[0-9]+(,|$)", argument)
        ):
            found[-1] = f"{option}={argument}"
        else:
            found.append(argument)
    return found


def main(argv: list[str] | None = None, prog: str = "skstruct") -> int:
    """Run a command.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those of the process.
    prog : str
        What the program is called in usage messages.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    SystemExit
        With code 0 for ``--help`` and ``--version``, with code 2 for arguments that are
        wrong.
    """
    if hasattr(
        sys.stdout, "reconfigure"
    ):  # words in any script, on terminals of any encoding
        sys.stdout.reconfigure(errors="replace")
    _end_on_sigterm()
    given = _join_dashed_values(list(sys.argv[1:] if argv is None else argv))
    arguments: Arguments | None = None
    try:
        try:
            arguments = new_parser(prog, _needed_commands(given)).parse_args(
                given, Arguments()
            )
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: warn(
                    in_command_words(str(message))
                )
                check_paths(arguments, arguments.actions)
                return arguments.run(arguments) or 0
        finally:
            if sys.stdout is not None:
                # So that a closed pipe shows here, not while Python shuts down.
                sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemError as error:
        if not _is_interrupt(error):
            raise
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (CommandError, OSError, ValueError, MemoryError, ImportError) as error:
        # Readers, models and estimators raise ValueError for what they cannot use; an
        # extra may be missing.
        if _is_interrupt(error):
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        if arguments is not None and arguments.traceback:
            raise
        tell(f"error: {in_command_words(_reason(error))}")
        try:
            print(end="", flush=True)
        except OSError:  # a full disk, say
            _discard_output()
        return DATA_ERROR


def _end_on_sigterm() -> None:
    """Let SIGTERM end the first process of a container, as it ends any other one.

    The first process has no default: it ignores the signal, and is killed ten seconds
    after ``docker stop``.
    """
    is_first = os.getpid() == 1
    if is_first and threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))


def _is_interrupt(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error.

    Compiled modules, as numba's and numpy's, make an `ImportError` of it while they are
    imported.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt) or "KeyboardInterrupt" in str(error):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _reason(error: BaseException) -> str:
    """Return an error as one line."""
    if isinstance(error, OSError) and error.strerror:
        # What reads or writes a file puts its name into the error; a full disk without
        # a name is that of standard output.
        name = (
            "<stdout>"
            if error.filename is None and error.errno in FULL
            else error.filename
        )
        text = error.strerror if name is None else f"{name}: {error.strerror}"
    elif isinstance(error, MemoryError):
        text = f"out of memory: {error}".removesuffix(": ")
    else:
        text = str(error) or type(error).__name__
    return " ".join(text.split("\n"))


def _discard_output() -> None:
    """Send what Python flushes while it shuts down to nowhere: it would fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not a real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
