"""The law of annotated texts: what is read is what is there.

A small change of a sample leaves everything else as it is read, and what it touched is
returned, counted as left out, or named in an error.
"""

import functools
import warnings

import pytest
from format_mutations import (
    FOREIGN,
    LAYOUTS,
    of_articles,
    of_folder,
    of_json,
    of_lines,
    of_table,
    of_xml,
)
from format_samples import sample

from skstruct.datasets.formats.contents import NOT_ANNOTATED
from skstruct.datasets.formats.span_files import FORMATS, AnnotationReader
from skstruct.datasets.formats.span_records import Reading

OTHERS = {
    "xml": of_xml,
    "csv-spans": of_table,
    "pubtator": of_articles,
    "brackets": of_lines,
    "brat": of_folder,
}


def content_of(path):
    if path.is_file():
        return path.read_text("utf-8")
    return {file.name: file.read_text("utf-8") for file in path.iterdir()}


@functools.cache
def mutations(format):
    content = content_of(sample(format))
    if format in OTHERS:
        return list(OTHERS[format](content))
    return list(of_json(format, content)) if format in LAYOUTS else []


def read(content, path):
    """What was read of a file or folder: the records, what was counted, and the error."""
    if isinstance(content, dict):
        path.mkdir()
        for name, text in content.items():
            (path / name).write_text(text, "utf-8", newline="")
    else:
        path.write_text(content, "utf-8", newline="")
    reading = Reading(AnnotationReader())
    found = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            for record, spans in reading.options.marked(path, reading):
                found.append((record.text, tuple(spans)))
        except ValueError as error:
            return found, reading.contents, str(error), told
    return found, reading.contents, None, told


CASES = [(format, k) for format in FORMATS for k in range(len(mutations(format)))]


def test_every_format_is_under_the_law():
    missing = set(FORMATS) - {*LAYOUTS, *OTHERS}
    assert not missing, (
        f"say how samples of {missing} are changed: one of JSON is a line of LAYOUTS in "
        "tests/format_mutations.py, any other a generator of mutations there and its "
        "line in OTHERS here"
    )
    assert {*LAYOUTS, *OTHERS} == set(FORMATS)
    assert all(any(each == format for each, _ in CASES) for format in FORMATS)


@pytest.mark.parametrize(
    ("format", "k"),
    CASES,
    ids=[f"{f}-{mutations(f)[k].name}".replace(" ", "_") for f, k in CASES],
)
def test_what_is_touched_is_returned_counted_or_named(format, k, tmp_path):
    mutation = mutations(format)[k]
    source = sample(format)
    before, was, error, _ = read(
        content_of(source), tmp_path / f"before{source.suffix}"
    )
    assert error is None and before
    path = tmp_path / f"after{source.suffix}"
    after, contents, error, told = read(mutation.content, path)
    if error is not None:
        names_both = format in error and any(name in error for name in FOREIGN)
        assert mutation.says, error
        assert names_both or any(each in error for each in mutation.says), error
        return
    kept = [pair for pair in before if pair[0] not in mutation.touched]
    assert [pair for pair in after if pair in kept][-len(kept) :] == kept or not kept
    assert contents.records.seen == was.records.seen + mutation.added
    same = sum(pair in after for pair in before if pair[0] in mutation.touched)
    missing = sum(pair[0] in mutation.touched for pair in before) - same
    gone = contents.records.n_left_out + contents.spans.n_left_out
    was_gone = was.records.n_left_out + was.spans.n_left_out
    n_new = len(after) - len(before)
    if missing:
        assert gone > was_gone, "something is not returned, and nothing says so"
    if mutation.added:
        structure = contents.records.structure - was.records.structure
        assert n_new + gone - was_gone + structure >= mutation.added
    whys = set(contents.records.left_out) | set(contents.spans.left_out)
    if gone > was_gone and whys != {NOT_ANNOTATED}:
        assert any("left out" in str(each.message) for each in told)
