"""Files as they come: a format is known by what it is, however the file was saved."""

import gzip
import json
import pathlib

import pytest

from skstruct.datasets import read_spans, read_tokens
from skstruct.datasets.formats import table
from skstruct.datasets.formats.entry import TEXTS
from skstruct.datasets.formats.source import peeked

SAMPLES = pathlib.Path(__file__).parent / "samples"
FILES = [
    (path.name.split(".")[0], path) for path in SAMPLES.iterdir() if path.is_file()
]


def variants(path):
    """(what was done, the bytes, the ending) of a file saved otherwise."""
    raw = path.read_bytes()
    ending = path.suffix
    yield "byte order mark", b"\xef\xbb\xbf" + raw, ending
    yield "line ends of two characters", raw.replace(b"\n", b"\r\n"), ending
    yield "no line end at the end", raw.rstrip(b"\n"), ending
    yield "blank lines first", b"\n\n" + raw, ending
    yield "compressed", gzip.compress(raw), ending + ".gz"
    yield "another ending", raw, ".txt"
    if raw[:1] not in b"[{":
        return
    try:
        values = [json.loads(line) for line in raw.splitlines()]
    except ValueError:
        values = json.loads(raw)
    if not isinstance(values, list) or len(values) == 1:
        return
    yield "one list", json.dumps(values).encode(), ".json"
    yield "one list on many lines", json.dumps(values, indent=2).encode(), ".json"
    yield "a line each", "\n".join(map(json.dumps, values)).encode(), ".jsonl"


@pytest.mark.parametrize(("name", "path"), sorted(FILES), ids=lambda x: str(x)[-20:])
def test_what_a_file_is_does_not_depend_on_how_it_was_saved(name, path, tmp_path):
    read = read_spans if table.BY_NAME[name].kind == TEXTS else read_tokens
    expected = read(path)
    for done, data, ending in variants(path):
        other = tmp_path / f"x{ending}"
        other.write_bytes(data)
        with peeked(other, "utf-8") as file:
            found = table.recognised(file.head())
        assert found is not None and found[0].name == name, done
        X, y = read(other)
        assert (len(X), len(y)) == (len(expected[0]), len(expected[1])), done
        assert list(map(len, y)) == list(map(len, expected[1])), done
