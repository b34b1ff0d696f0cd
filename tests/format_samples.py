"""A sample of each format of files, for tests that try all formats."""

import pathlib

SAMPLES = pathlib.Path(__file__).parent / "datasets" / "formats" / "samples"


def sample(name):
    """The path of the sample of a format, a file or a folder."""
    found = [path for path in SAMPLES.iterdir() if path.name.split(".")[0] == name]
    assert len(found) == 1, (
        f"the format {name} needs one sample: write tests/datasets/formats/samples/"
        f"{name}.ENDING, with six or more texts or sentences, some with spans or "
        f"labels; there are {[path.name for path in found]}"
    )
    return found[0]
