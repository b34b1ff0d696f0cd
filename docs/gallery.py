"""How the gallery of the documentation runs the examples, and in which order it shows them."""

import pathlib

FIRST = ("quick_start", "word_segmenter", "parse", "trained_model", "switching", "grid_search")


def arguments_of(gallery_conf, script_vars):
    """The command line: a study shows what it found on its corpora, others run on embedded data."""
    path = pathlib.Path(script_vars["src_file"])
    if "from _study import" not in (text := path.read_text(encoding="utf-8")) or " study" not in text:
        return []
    stored = path.parent / "results" / f"{path.stem}.json"
    return ["--stored" if stored.exists() else "--quick", "--show"]


def order(file_name):
    """Sort key: how to use the package first, then studies."""
    name = pathlib.Path(file_name).stem
    return (FIRST.index(name), "") if name in FIRST else (len(FIRST), name)
