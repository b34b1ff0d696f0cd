"""Corpora in the layout that studies and tests read: ``python -m benchmarks.prepare
FOLDER``.

Each corpus is a few files with their addresses, and a function that writes them in the
layout. What cannot be downloaded, or not from here, is taken from a folder with the
same files (``--source NAME=FOLDER``).
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import sys
import zipfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skstruct.datasets.corpora import CHUNKING_FILES, ENTITY_FILES, UD
from skstruct.datasets.fetch import DownloadError, fetch_file, get_data_home

__all__ = ["CORPORA", "main"]

_NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/"
_OCR = "https://ai.stanford.edu/~btaskar/ocr/"


class Source(NamedTuple):
    """Where a corpus comes from, and how its files are written in the layout."""

    files: dict  # name in the layout or of the archive -> (address, or None if it has none; SHA-256 of any)
    write: Callable  # write(paths by name, folder)
    about: str


def _text(path, encoding="utf-8"):
    """The text of a file, compressed or not, with line feeds."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return content.decode(encoding).replace("\r\n", "\n")


def _save(text, *path):
    """Write a text file whole: to a temporary name first."""
    path = os.path.join(*path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".tmp", "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


def _as_they_are(encoding="utf-8"):
    """Write each file under its name in the layout."""

    def write(paths, folder):
        for name, path in paths.items():
            _save(_text(path, encoding), folder, name)

    return write


def _by_genre(paths, folder):
    """A treebank whose sentences say their genre first in ``sent_id``: a file for each
    genre and part.
    """
    for name, path in paths.items():
        genres: dict[str, list[str]] = {}
        for number, sentence in enumerate(filter(None, _text(path).split("\n\n")), 1):
            found = [
                line for line in sentence.split("\n") if line.startswith("# sent_id = ")
            ]
            if not found:
                raise ValueError(
                    f"{path}: sentence {number} has no sent_id, whose first part is its genre"
                )
            genres.setdefault(found[0][12:].partition("-")[0], []).append(
                sentence.strip("\n") + "\n\n"
            )
        for genre, sentences in genres.items():
            _save("".join(sentences), folder, name, f"{genre}.conllu")


def _dependencies(paths, folder):
    """The treebank sample of NLTK, (form, tag, head) in an archive, as CoNLL-U."""
    sentences = []
    with zipfile.ZipFile(paths["dependency_treebank.zip"]) as archive:
        for name in sorted(name for name in archive.namelist() if name.endswith(".dp")):
            rows: list[str] = []
            with io.TextIOWrapper(archive.open(name), encoding="utf-8") as file:
                for line in [*file, "\n"]:
                    if cells := line.split():
                        form, tag, head = cells[:3]
                        label = "root" if head == "0" else "dep"
                        rows.append(
                            f"{len(rows) + 1}\t{form}\t_\t_\t{tag}\t_\t{head}\t{label}\t_\t_\n"
                        )
                    elif rows:
                        sentences.append("".join(rows) + "\n")
                        rows = []
    _save("".join(sentences), folder, "all.conllu")


def _letters(paths, folder):
    """Hand-written words: pixels packed into bits, labels, lengths and folds."""
    rows = [
        line.split()
        for line in _text(paths["letter.data.gz"]).splitlines()
        if line.strip()
    ]
    last = np.array([row[2] == "-1" for row in rows])
    ends = np.flatnonzero(last) + 1
    first = np.r_[0, ends[:-1]]
    os.makedirs(folder, exist_ok=True)
    np.savez_compressed(
        os.path.join(folder, "ocr_letters.npz"),
        pixels=np.packbits(np.array([row[6:] for row in rows], np.uint8), axis=1),
        label=np.array([ord(row[1]) - 97 for row in rows], np.uint8),
        length=(ends - first).astype(np.uint8),
        fold=np.array([rows[i][5] for i in first], np.uint8),
    )


def _treebank(name, prefix, parts, layout):
    """Files of a treebank of Universal Dependencies, release 2.14."""
    address = f"{UD}UD_{name}/r2.14/{prefix}-ud-"
    return {layout.format(part): (f"{address}{part}.conllu", ()) for part in parts}


CORPORA = {
    "conll2000": Source(
        {f"{part}.txt": tuple(CHUNKING_FILES[part]) for part in ("train", "test")},
        _as_they_are(),
        "CoNLL-2000, English chunking",
    ),
    "conll2002-esp": Source(
        {
            f"{part}.txt": tuple(ENTITY_FILES["es"][part])
            for part in ("train", "dev", "test")
        },
        _as_they_are("latin-1"),
        "CoNLL-2002, Spanish entities",
    ),
    "ewt": Source(
        _treebank("English-EWT", "en_ewt", ("train", "dev"), "{}"),
        _by_genre,
        "UD English EWT by genre",
    ),
    "gsd-zh": Source(
        _treebank(
            "Chinese-GSDSimp", "zh_gsdsimp", ("train", "dev", "test"), "{}.conllu"
        ),
        _as_they_are(),
        "UD Chinese GSD in simplified characters; release 2.14, where the studies have version 1",
    ),
    "wsj-sample": Source(
        {"dependency_treebank.zip": (f"{_NLTK}dependency_treebank.zip", ())},
        _dependencies,
        "the sample of the Wall Street Journal treebank that NLTK distributes, 3,914 sentences",
    ),
    "ocr": Source(
        {"letter.data.gz": (f"{_OCR}letter.data.gz", ())},
        _letters,
        "hand-written words of R. Kassel, cleaned by B. Taskar",
    ),
    "sxu": Source(
        {"train.txt": (None, ()), "test.txt": (None, ())},
        _as_they_are(),
        "SXU of the SIGHAN bakeoff 2008: licensed by its organisers for research, a sentence a line, words "
        "separated by spaces, UTF-8",
    ),
}


def _paths(name, source, given, offline):
    """The files of a corpus, from a folder or from the cache, where downloads go."""
    paths = {}
    for file, (url, sha256) in source.files.items():
        beside = os.path.basename(url) if url else file
        if given is not None:
            candidates = [os.path.join(given, each) for each in (file, beside)]
            path = next((each for each in candidates if os.path.isfile(each)), None)
            if path is None:
                raise DownloadError(
                    f"{name}: neither {' nor '.join(dict.fromkeys(candidates))} is there"
                )
        elif url is None:
            raise DownloadError(
                f"{name}: no public address; give --source {name}=FOLDER with {file}"
            )
        else:
            path = os.path.join(get_data_home(), "prepare", name, beside)
            fetch_file(url, path, sha256=sha256, download_if_missing=not offline)
        paths[file] = path
    return paths


def main(arguments: list[str] | None = None) -> int:
    """Write corpora; returns 1 if one of those asked for by name could not be had."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prepare",
        description="Write public corpora in the layout that SKSTRUCT_DATA names.",
        epilog="\n".join(f"{name}: {source.about}" for name, source in CORPORA.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        help="where to write; set SKSTRUCT_DATA to it afterwards",
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="corpora; by default all that are not there",
    )
    parser.add_argument(
        "--source",
        metavar="NAME=FOLDER",
        action="append",
        default=[],
        help="take the files of NAME from here",
    )
    parser.add_argument(
        "--offline",
        action="store_true",
        help="use only what is in the cache or in --source",
    )
    options = parser.parse_args(arguments)
    sources = dict(given.partition("=")[::2] for given in options.source)
    for name in (*options.names, *sources):
        if name not in CORPORA:
            parser.error(f"no corpus {name!r}; there are {', '.join(CORPORA)}")
    missing = 0
    for name in options.names or CORPORA:
        target = os.path.join(options.folder, name)
        if not options.names and name not in sources and os.path.isdir(target):
            print(f"{name}: is there")
            continue
        try:
            source = CORPORA[name]
            source.write(
                _paths(name, source, sources.get(name), options.offline), target
            )
            print(f"{name}: written to {target}")
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            print(f"{name}: left out: {error}", file=sys.stderr)
            missing += name in (*options.names, *sources)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
