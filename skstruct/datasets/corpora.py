"""Public corpora, downloaded on demand.

A corpus is a table entry (files with their addresses and, where one is known, their
SHA-256; the licence) and a function from its rows to ``X`` and ``y``.
`skstruct.datasets.fetch` does the rest.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from sklearn.utils import Bunch

from .._data.inputs import check_choice
from .._data.types import Path
from .fetch import fetch_file, get_data_home
from .formats.readers import read_columns, read_conllu, tokens_and_labels

Sentences: TypeAlias = list[list[Any]]
"""The sentences of a file: for each token the values of its columns."""


class _Part(NamedTuple):
    """One file of a corpus."""

    url: str
    sha256: tuple[str, ...]  # of any of these; empty: recorded at the first download


CONLL2000 = "https://www.clips.uantwerpen.be/conll2000/chunking/"
CONLL2002 = "https://www.clips.uantwerpen.be/conll2002/ner/data/"
UD = "https://raw.githubusercontent.com/UniversalDependencies/"

# Of the compressed file (as several projects have published it), or of the text in it,
# which some servers send uncompressed; the latter is that of a copy of the corpus that
# was looked at.
CHUNKING_FILES = {
    "train": _Part(
        CONLL2000 + "train.txt.gz",
        (
            "bcbbe17c487d0939d48c2d694622303edb3637ca9c4944776628cd1815c5cb34",
            "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
        ),
    ),
    "test": _Part(
        CONLL2000 + "test.txt.gz",
        (
            "2695b931a505b65b1d3fe2a5aa0d749edcd53d786278da6d7726714e1426fbe8",
            "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
        ),
    ),
}

ENTITY_FILES = {
    language: {
        subset: _Part(f"{CONLL2002}{prefix}.{ending}", ())
        for subset, ending in (("train", "train"), ("dev", "testa"), ("test", "testb"))
    }
    for language, prefix in (("es", "esp"), ("nl", "ned"))
}

# Treebank -> how its files' names start. All of these are CC BY-SA 4.0.
_TREEBANKS = {
    "Chinese-GSD": "zh_gsd",
    "Chinese-GSDSimp": "zh_gsdsimp",
    "English-EWT": "en_ewt",
    "French-GSD": "fr_gsd",
    "German-GSD": "de_gsd",
}

_DESCRIPTION = """{title}

Source: {url}
Licence: {licence}
Reference: {reference}
"""

_SHARED_TASK = (
    "none is stated with the files, which the organisers of the shared task made "
    "public; the texts are "
    "{texts}. Cite the reference, and ask before you redistribute them."
)


def _fetch(
    part: _Part,
    folder: str,
    read: Callable[[Path], Sentences],
    as_X_y: Callable[[Sentences], tuple[Any, Any]],
    data_home: Path | None,
    download_if_missing: bool,
    timeout: float,
    return_X_y: bool,
    **about: str,
) -> Bunch | tuple[Any, Any]:
    """Return a subset of a corpus, after downloading it if need be.

    ``as_X_y`` parts the sentences that are read.
    """
    path = os.path.join(get_data_home(data_home), folder, part.url.rsplit("/", 1)[1])
    description = _DESCRIPTION.format(url=part.url, **about)

    def check(candidate: Path) -> None:
        if not read(candidate):
            raise ValueError("it holds no sentence")

    fetch_file(
        part.url,
        path,
        sha256=part.sha256,
        check=check,
        notice=description,
        download_if_missing=download_if_missing,
        timeout=timeout,
    )
    X, y = as_X_y(read(path))
    return (
        (X, y)
        if return_X_y
        else Bunch(data=X, target=y, DESCR=description, filename=path)
    )


def _read_text(path: Path, encoding: str, widths: Sequence[int]) -> Sentences:
    with open(path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"  # whatever its name says
    opener: Callable[..., Any] = gzip.open if compressed else open
    with opener(path, "rt", encoding=encoding, newline="\n") as file:
        sentences = read_columns(file, comment="-DOCSTART-")
    if sentences and len(sentences[0][0]) not in widths:
        raise ValueError(f"expected {widths[0]} columns; found {len(sentences[0][0])}")
    return sentences


def fetch_conll2000(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: Path | None = None,
    download_if_missing: bool = True,
    timeout: float = 30.0,
    return_X_y: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Load the corpus of the CoNLL-2000 shared task: English chunking.

    It is downloaded once, then read from the cache.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        8,936 sentences of 211,727 tokens, or 2,012 of 47,377.
    data_home : str or os.PathLike, optional
        Folder of the cache; see `skstruct.datasets.get_data_home`.
    download_if_missing : bool, default=True
        Download the file if it is not in the cache.
    timeout : float, default=30.0
        Seconds of silence after which a download fails.
    return_X_y : bool, default=False
        Return ``(data, target)`` only.

    Returns
    -------
    corpus : sklearn.utils.Bunch
        data : list of list of (str, str)
            Tokens as (form, part of speech).
        target : list of list of str
            Chunks as BIO labels.
        DESCR : str
            Source, licence and reference.
        filename : str
            The file in the cache.

    Raises
    ------
    DownloadError
        If the file is not in the cache and cannot be downloaded; an ``OSError`` that
        says where to put the file by hand.
    ValueError
        If the file is not the one expected, or a parameter has a value not named here.

    References
    ----------
    E. F. Tjong Kim Sang and S. Buchholz (2000), "Introduction to the CoNLL-2000 shared
    task: chunking", CoNLL.
    """
    check_choice("subset", subset, CHUNKING_FILES)
    return _fetch(
        CHUNKING_FILES[subset],
        "conll2000",
        lambda file: _read_text(file, "utf-8", (3,)),
        tokens_and_labels,
        data_home,
        download_if_missing,
        timeout,
        return_X_y,
        title="CoNLL-2000, English chunking: part-of-speech tags and base phrases "
        "(BIO) of news text",
        licence=_SHARED_TASK.format(
            texts="from the Wall Street Journal, as in the Penn Treebank"
        ),
        reference="E. F. Tjong Kim Sang and S. Buchholz, Introduction to the "
        "CoNLL-2000 shared task: chunking, CoNLL 2000",
    )


def fetch_conll2002(
    language: Literal["es", "nl"] = "es",
    subset: Literal["train", "dev", "test"] = "train",
    *,
    data_home: Path | None = None,
    download_if_missing: bool = True,
    timeout: float = 30.0,
    return_X_y: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Load the corpora of the CoNLL-2002 shared task: Spanish and Dutch named entities.

    A file is downloaded once, then read from the cache. No checksum is known
    beforehand: that of the first download is recorded and holds from then on.

    Parameters
    ----------
    language : {"es", "nl"}, default="es"
    subset : {"train", "dev", "test"}, default="train"
        ``"dev"`` and ``"test"`` are what the task calls testa and testb.
    data_home, download_if_missing, timeout, return_X_y
        As in `fetch_conll2000`.

    Returns
    -------
    corpus : sklearn.utils.Bunch
        As in `fetch_conll2000`; target are entities as BIO labels. Dutch tokens are
        (form, part of speech). The Spanish files have no parts of speech, so that
        tokens are str; in copies that have them, which you may put into the cache
        yourself, they are pairs too. Lines ``-DOCSTART-`` are left out.

    Raises
    ------
    DownloadError, ValueError
        As in `fetch_conll2000`.

    References
    ----------
    E. F. Tjong Kim Sang (2002), "Introduction to the CoNLL-2002 shared task:
    language-independent named entity recognition", CoNLL.
    """
    check_choice("language", language, ENTITY_FILES)
    check_choice("subset", subset, ENTITY_FILES[language])
    name, texts, widths = {
        "es": ("Spanish", "from the news agency EFE, of May 2000", (2, 3)),
        "nl": ("Dutch", "from the newspaper De Morgen, of 2000", (3,)),
    }[language]
    return _fetch(
        ENTITY_FILES[language][subset],
        "conll2002",
        lambda file: _read_text(file, "latin-1", widths),
        tokens_and_labels,
        data_home,
        download_if_missing,
        timeout,
        return_X_y,
        title=f"CoNLL-2002, {name} named entities: persons, organisations, locations, "
        "others (BIO)",
        licence=_SHARED_TASK.format(texts=texts),
        reference="E. F. Tjong Kim Sang, Introduction to the CoNLL-2002 shared task: "
        "language-independent named entity recognition, CoNLL 2002",
    )


def fetch_ud(
    treebank: str = "English-EWT",
    subset: Literal["train", "dev", "test"] = "train",
    *,
    task: Literal["tagging", "parsing", "segmentation"] = "tagging",
    release: str = "r2.14",
    data_home: Path | None = None,
    download_if_missing: bool = True,
    timeout: float = 30.0,
    return_X_y: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Load a treebank of Universal Dependencies, at a fixed release.

    A file is downloaded once, then read from the cache. No checksum is known
    beforehand: that of the first download is recorded and holds from then on.

    Parameters
    ----------
    treebank : str, default="English-EWT"
        Or "Chinese-GSD", "Chinese-GSDSimp", "French-GSD" or "German-GSD".
    subset : {"train", "dev", "test"}, default="train"
    task : {"tagging", "parsing", "segmentation"}, default="tagging"
        ``"tagging"``: data are forms, target universal parts of speech. ``"parsing"``:
        data are (form, part of speech), target (head, relation), heads counted from 1
        and 0 for the root. ``"segmentation"``, of treebanks of a script without spaces:
        data are raw texts, target their words.
    release : str, default="r2.14"
        A tag of the treebank's repository.
    data_home, download_if_missing, timeout, return_X_y
        As in `fetch_conll2000`.

    Returns
    -------
    corpus : sklearn.utils.Bunch
        With ``data``, ``target``, ``DESCR`` and ``filename``.

    Raises
    ------
    DownloadError, ValueError
        As in `fetch_conll2000`.

    References
    ----------
    J. Nivre et al. (2020), "Universal Dependencies v2: an evergrowing multilingual
    treebank collection", LREC.
    """
    check_choice("treebank", treebank, _TREEBANKS)
    check_choice("subset", subset, ("train", "dev", "test"))
    check_choice("task", task, _OF_TASKS)
    if not (isinstance(release, str) and release.replace(".", "").isalnum()):
        raise ValueError(f"release must be a tag such as 'r2.14'; got {release!r}")
    if task == "segmentation" and not treebank.startswith("Chinese"):
        raise ValueError(
            f"task='segmentation' is for Chinese treebanks; got treebank={treebank!r}"
        )
    file = f"{_TREEBANKS[treebank]}-ud-{subset}.conllu"
    return _fetch(
        _Part(f"{UD}UD_{treebank}/{release}/{file}", ()),
        os.path.join("ud", release),
        lambda file: read_conllu(file, fields=("form", "upos", "head", "deprel")),
        _OF_TASKS[task],
        data_home,
        download_if_missing,
        timeout,
        return_X_y,
        title=f"Universal Dependencies, treebank {treebank}, release {release}, "
        f"{subset}",
        licence="CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/",
        reference="J. Nivre et al., Universal Dependencies v2, LREC 2020; and the "
        "treebank's own README",
    )


def _of_tagging(sentences: Sentences) -> tuple[list[Any], list[Any]]:
    return [[form for form, *_ in s] for s in sentences], [
        [tag for _, tag, *_ in s] for s in sentences
    ]


def _of_parsing(sentences: Sentences) -> tuple[list[Any], list[Any]]:
    return [[token[:2] for token in s] for s in sentences], [
        [token[2:] for token in s] for s in sentences
    ]


def _of_segmentation(sentences: Sentences) -> tuple[list[Any], list[Any]]:
    words = [["".join(form.split()) for form, *_ in sentence] for sentence in sentences]
    return list(map("".join, words)), words


_OF_TASKS = {
    "tagging": _of_tagging,
    "parsing": _of_parsing,
    "segmentation": _of_segmentation,
}
