"""Parquet and Arrow: a row is a record, whichever package reads it."""

import sys

import pytest

from skstruct.datasets import read_spans, read_tokens

polars = pytest.importorskip("polars")

SPANS = [{"start": 0, "end": 3, "label": "PER"}]
TEXTS = {"text": ["Ann ran", "no one"], "spans": [SPANS, []]}
TOKENS = {"tokens": [["Ann", "ran"], ["No"]], "ner_tags": [["B-PER", "O"], ["O"]]}


@pytest.fixture(params=["pyarrow", "polars"], autouse=True)
def reader(request, monkeypatch):
    """The package that reads: pyarrow where it is installed, else polars."""
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    return request.param


def write(frame, path):
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.stem == "stream":
        frame.write_ipc_stream(path)
    else:
        frame.write_ipc(path)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "stream.arrow", "a.feather"])
def test_rows_are_records_and_lists_are_lists(name, tmp_path):
    path = tmp_path / name
    write(polars.DataFrame(TEXTS), path)
    assert read_spans(path) == (TEXTS["text"], [[(0, 3, "PER")], []])
    write(polars.DataFrame(TOKENS), path)
    assert read_tokens(path) == (TOKENS["tokens"], TOKENS["ner_tags"])


@pytest.mark.skipif(
    not hasattr(polars, "read_parquet_metadata"), reason="polars is too old"
)
def test_names_of_labels_that_datasets_keep(tmp_path):
    path = tmp_path / "a.parquet"
    features = (
        '{"info": {"features": {"ner_tags": {"feature": {"names": ["O", "B-PER"], '
        '"_type": "ClassLabel"}, "_type": "Sequence"}}}}'
    )
    frame = polars.DataFrame({"tokens": [["Ann", "ran"]], "ner_tags": [[1, 0]]})
    frame.write_parquet(path, metadata={"huggingface": features})
    assert read_tokens(path) == ([["Ann", "ran"]], [["B-PER", "O"]])


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_what_is_none(name, tmp_path):
    (tmp_path / name).write_bytes(b"PAR1 is not all")
    with pytest.raises(ValueError, match=f"{name}: not readable: "):
        read_spans(tmp_path / name)


def test_a_folder_of_datasets_names_its_file(tmp_path):
    path = tmp_path / "data-00000-of-00001.arrow"
    polars.DataFrame(TEXTS).write_ipc_stream(path)
    (tmp_path / "state.json").write_text("{}")
    with pytest.raises(
        ValueError, match="save_to_disk .* name its file, .*arrow$"
    ) as told:
        read_spans(tmp_path)
    named = str(told.value).rpartition("name its file, ")[2]
    assert read_spans(named)[0] == TEXTS["text"]
