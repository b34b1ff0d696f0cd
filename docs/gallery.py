"""How the gallery of the documentation runs the examples, and in which order it shows
them.
"""

import pathlib

FIRST = (
    "quick_start", "annotation_loop", "promised_recall", "word_segmenter", "parse", "trained_model",
    "switching", "one_file", "grid_search",
)  # fmt: skip


def is_study(path):
    """Whether an example is a study, with the options that all of them take."""
    text = path.read_text(encoding="utf-8")
    return "from _study import" in text and " study" in text


def arguments_of(gallery_conf, script_vars):
    """The command line: a study shows what it found on its corpora, others run on
    embedded data.
    """
    path = pathlib.Path(script_vars["src_file"])
    if not is_study(path):
        return []
    stored = path.parent / "results" / f"{path.stem}.json"
    return ["--stored" if stored.exists() else "--quick", "--show"]


def order(file_name):
    """Sort key: first steps, then what else the package does, then studies."""
    name = pathlib.Path(file_name).stem
    if name in FIRST:
        return FIRST.index(name), ""
    return len(FIRST) + is_study(
        pathlib.Path(__file__).parent.parent / "examples" / file_name
    ), name
