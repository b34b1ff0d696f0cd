"""``python tagger.py [FILE]``: labels a file, or standard input."""

import sys
from argparse import ArgumentParser

from .reading import PARTS


def main(tagger):
    """Label the file that the command line names."""
    reads = "columns, a token a line" if tagger.header["task"] == "labels" else "text"
    parser = ArgumentParser(description="Label FILE, or standard input: " + reads + ".")
    parser.add_argument("file", nargs="?", metavar="FILE")
    parser.add_argument("--text", action="store_true", help="read a sentence a line")
    arguments = parser.parse_args()
    name = sys.stdin.fileno() if arguments.file in (None, "-") else arguments.file
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)
    try:
        with open(name, encoding="utf-8-sig", newline="\n", closefd=isinstance(name, str)) as file, out:
            write = PARTS["write_" + tagger.header["task"]]
            for lines in write(tagger, file, arguments.text):
                out.write(lines)
    except BrokenPipeError:  # who reads has read enough, as `head`
        sys.exit(141)
    except (OSError, ValueError) as error:
        sys.exit("{}: {}".format(name if isinstance(name, str) else "<stdin>", error))


def write_labels(tagger, file, text):
    """Yield what is written: each line of columns with its label behind it."""
    width = tagger.header["columns"]
    is_tuple = tagger.header["token"] == "tuple"
    if text:
        for number, line in enumerate(file, 1):
            words = line.split()
            tokens = [tuple(word.rsplit("/", width - 1)) for word in words] if is_tuple else words
            if any(is_tuple and len(token) < width for token in tokens):
                raise ValueError(f"line {number}: the model reads {width} columns, as in the/DT")
            yield " ".join(map("%s/%s".__mod__, zip(words, tagger.predict([tokens])[0]))) + "\n"
        return
    for first, lines in sentences(file):
        if not lines[0].strip(" \t"):
            yield lines[0] + "\n"
            continue
        rows = [[cell for cell in line.replace("\t", " ").split(" ") if cell] for line in lines]
        for k, row in enumerate(rows):
            if len(row) < width:
                expected = f"the model reads {width} columns; found {len(row)}"
                raise ValueError(f"line {first + k}: {expected}")
        tokens = [tuple(row[:width]) if is_tuple else row[0] for row in rows]
        for line, label in zip(lines, tagger.predict([tokens])[0]):
            line = line.rstrip(" \t")
            yield "{}{}{}\n".format(line, "\t" if "\t" in line else " ", label)


def sentences(file):
    """Yield (number of the first line, lines) of sentences; blank lines by themselves."""
    lines, number = [], 0
    for number, line in enumerate(file, 1):
        line = line.rstrip("\r\n")
        if line.strip(" \t"):
            lines.append(line)
            continue
        if lines:
            yield number - len(lines), lines
        yield number, [line]
        lines = []
    if lines:
        yield number - len(lines) + 1, lines


PARTS["write_labels"] = write_labels
