"""``python tagger.py [FILE]``: labels a file, or standard input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from .reading import PARTS


def main(tagger: Any) -> None:
    """Label the file that the command line names."""
    reads = (
        "columns, one token per line" if tagger.header["task"] == "labels" else "text"
    )
    parser = ArgumentParser(description="Label FILE, or standard input: " + reads + ".")
    parser.add_argument("file", nargs="?", metavar="FILE")
    parser.add_argument(
        "--text", action="store_true", help="read one sentence per line"
    )
    arguments = parser.parse_args()
    name = sys.stdin.fileno() if arguments.file in (None, "-") else arguments.file
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)
    try:
        is_path = isinstance(name, str)
        file = open(name, encoding="utf-8-sig", newline="\n", closefd=is_path)
        with file, out:  # no parentheses: Python 3.8 does not know them here
            write = PARTS["write_" + tagger.header["task"]]
            out.writelines(write(tagger, file, arguments.text))
    except BrokenPipeError:  # the reader has what it wants
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit("{}: {}".format(error.filename or "<stdout>", error.strerror))
    except ValueError as error:
        sys.exit("{}: {}".format(name if isinstance(name, str) else "<stdin>", error))


def write_labels(tagger: Any, file: Iterable[str], text: bool) -> Iterator[str]:
    """Yield what is written: each line of columns with its label behind it."""
    width = tagger.header["columns"]
    is_tuple = tagger.header["token"] == "tuple"
    if text:
        for number, line in enumerate(file, 1):
            words = line.split()
            tokens: list[Any] = (
                [tuple(word.rsplit("/", width - 1)) for word in words]
                if is_tuple
                else words
            )
            if any(is_tuple and len(token) < width for token in tokens):
                raise ValueError(
                    f"line {number}: the model reads {width} columns, as in the/DT"
                )
            yield (
                " ".join(map("%s/%s".__mod__, zip(words, tagger.predict([tokens])[0])))
                + "\n"
            )
        return
    for is_blank, group in groupby(
        enumerate(file, 1), lambda numbered: not numbered[1].strip(" \t\r\n")
    ):
        rows = []
        lines = []
        for number, line in group:
            lines.append(line.rstrip("\r\n"))
            rows.append(
                [cell for cell in lines[-1].replace("\t", " ").split(" ") if cell]
            )
            if len(rows[-1]) < width and not is_blank:
                raise ValueError(
                    f"line {number}: the model reads {width} columns; found {len(rows[-1])}"
                )
        if is_blank:
            yield "".join([line + "\n" for line in lines])
            continue
        tokens = [tuple(row[:width]) if is_tuple else row[0] for row in rows]
        for line, label in zip(lines, tagger.predict([tokens])[0]):
            line = line.rstrip(" \t")
            yield "{}{}{}\n".format(line, "\t" if "\t" in line else " ", label)


PARTS["write_labels"] = write_labels
