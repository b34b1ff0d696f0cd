"""The table of what commands write, made of their parsers, for the tests of targets."""

import argparse
from pathlib import Path

import pytest
from inside import parsers_of_commands

import skstruct
from skstruct import L1CRF, SpanTagger, StructuredPerceptron
from skstruct.datasets import load_chunking, load_entities, write_spans

X, y = (part[:30] for part in load_chunking())


def write_corpora(root):
    """A corpus of columns, one of texts, a model for each, none of which is changed."""
    rows = ["".join(f"{w} {p} {c}\n" for (w, p), c in zip(*pair)) for pair in zip(X, y)]
    (root / "train.txt").write_text("\n".join(rows), encoding="utf-8")
    (root / "templates").write_text("U00:%x[0,0]\nB\n")
    (root / "names").write_text("0\n1\n")
    L1CRF(max_iter=3).fit(X, y).save(root / "chunk")
    texts, spans = skstruct.datasets.columns_to_spans(*load_entities())
    write_spans(root / "notes.jsonl", texts[:9], spans[:9])
    tagger = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    tagger.fit(texts[:30], spans[:30]).save(root / "ner")
    return root


# -- the table -------------------------------------------------------------------------
PARSERS = parsers_of_commands()

OF_METAVAR = {
    "FILE": "train.txt",
    "DATA": "train.txt",
    "POOL": "train.txt",
    "TRAIN": "train.txt",
    "TEST": "train.txt",
    "MODEL": "chunk",
    "IN": "chunk",
    "[NAME=]MODEL": "ner",
    "[A B] FILE": "train.txt",
}
"""Files that stand for what a metavar says."""

OF_DEST = {"template": "templates", "label_names": "names", "lexicon": "templates"}
"""Files of options whose metavar does not say enough."""

MORE = {
    "train": ["--epochs", 1],
    "check": ["-a", "perceptron"],
    "convert": ["--to", "skstruct"],
    "serve": ["--label-studio", "--port", 0],
}
"""Options without which a command would do something else, or take long."""

NO_PATHS = set(
    "N K KEY NAME=VALUE NAME SHARE FORMAT LIST COLUMN SEP PREFIX P S D R ADDRESS LABEL TEXT "
    "SCHEME FILE=TYPES SITE KEY".split()
)
"""Metavars of what is no path."""


def table():
    """(command, target, its arguments) of all that is written."""
    for name, parser in PARSERS.items():
        for target in parser.get_default("targets") or ():
            given = [name, *MORE.get(name, [])]
            for action in parser.get_default("actions"):
                if action.dest == target.dest:
                    given += ["OUT"] if target.name == "OUT" else [target.name, "OUT"]
                elif not action.option_strings or action.required:
                    given += action.option_strings[:1]
                    given.append(Path(OF_METAVAR[action.metavar]))
            yield pytest.param(name, target, given, id=f"{name} {target.name}")


TABLE = list(table())
FILES = [
    row for row in TABLE if not row.values[1].is_folder(argparse.Namespace(write=""))
]
"""Those that are one file."""

RUN = [row for row in FILES if not row.values[1].is_own]
"""Those that end: serve would go on."""


def arguments_of(given, root, out):
    """The arguments of a row of the table, with the files of a folder."""
    return [
        str(out) if a == "OUT" else root / a if isinstance(a, Path) else a
        for a in given
    ]


# -- what is refused -------------------------------------------------------------------
def missing_folder(folder):
    return folder / "none" / "out"


def folder_in_its_place(folder):
    (folder / "out").mkdir()
    return folder / "out"


def link_to_a_folder(folder):
    (folder / "inside").mkdir()
    (folder / "out").symlink_to("inside")
    return folder / "out"


def file_for_a_folder(folder):
    (folder / "file").touch()
    return folder / "file" / "out"


def read_only_folder(folder):
    (folder / "closed").mkdir(mode=0o555)
    return folder / "closed" / "out"


def read_only_file(folder):
    (folder / "out").touch(mode=0o444)
    return folder / "out"


def circle_of_links(folder):
    (folder / "out").symlink_to("out")
    return folder / "out"


def nul(folder):
    return f"{folder}/o\0t"


def nameless(folder):
    return ""


def name_of_a_folder(folder):
    return f"{folder}/out/"


def long_name(folder):
    return folder / ("x" * 300)


def compressed(folder):
    return folder / "out.gz"


TARGETS = {
    missing_folder: "folder does not exist",
    folder_in_its_place: "is not a regular file",
    link_to_a_folder: "is not a regular file",
    file_for_a_folder: "folder does not exist",
    read_only_folder: "no permission",
    read_only_file: "no permission",
    circle_of_links: "symbolic links",
    nul: "has a NUL character",
    nameless: "is empty",
    name_of_a_folder: "the name of a folder",
    long_name: "File name too long",
    compressed: "output is not compressed",
}
