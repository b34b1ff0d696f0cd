"""The law of conservation for files of tokens and words, over every format there is.

A sample of each format is changed in one place. Whatever was not touched is read as
before. What was touched is returned, or said in a warning, or an error names its line
or shows it. A format that is added tomorrow is under the law by its sample.
"""

import io
import re
import warnings

import format_samples
import pytest

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.entry import TEXTS
from skstruct.datasets.formats.table import BY_NAME, FORMATS
from skstruct.datasets.formats.token_records import TokenRecords

NAMES = [each.name for each in FORMATS if each.kind != TEXTS]
LINES = [
    each.name
    for each in FORMATS
    if each.kind != TEXTS and not isinstance(each, TokenRecords)
]


def sample(name):
    return format_samples.sample(name).read_text("utf-8")


def content(text):
    """Where the first line of tokens stands, and where the second sentence does."""
    lines = text.split("\n")
    first = next(k for k, line in enumerate(lines) if line and line[0] != "#")
    blank = next((k for k in range(first, len(lines)) if not lines[k]), first)
    return lines, first, blank + 1


def inserted(lines, at, line):
    return "\n".join([*lines[:at], line, *lines[at:]])


def as_wide(line, *cells):
    """A line with the cells given and as many more as another line has."""
    separator = "\t" if "\t" in line else " "
    width = len(line.split(separator))
    return separator.join([*cells, *["x"] * width][:width])


def comment_first(text):
    lines, first, _ = content(text)
    line = as_wide(lines[first], "#", "id", "0f3")
    return inserted(lines, 0, line), line


def comment_at_a_sentence(text):
    lines, first, second = content(text)
    line = as_wide(lines[first], "#", "sent", "12")
    return inserted(lines, second, line), line


def narrow_comment(text):
    lines, _, second = content(text)
    return inserted(lines, second, "# a note"), "# a note"


def header(text):
    lines, first, _ = content(text)
    line = as_wide(lines[first], "token", "pos", "chunk", "label")
    return inserted(lines, first, line), line


def record(text):
    lines, _, second = content(text)
    line = '{"text": "Mira left", "label": [[0, 4, "PER"]]}'
    return inserted(lines, second, line), line


def short_line(text):
    lines, first, second = content(text)
    line = as_wide(lines[first], "lost")
    line = line[: max(line.rfind("\t"), line.rfind(" "))]
    return inserted(lines, second, line), line


def wide_line(text):
    lines, first, second = content(text)
    line = as_wide(lines[first], "more") + ("\t" if "\t" in lines[first] else " ") + "x"
    return inserted(lines, second, line), line


def marked_token(text):
    lines, first, _ = content(text)
    line = "#" + lines[first]
    return "\n".join([*lines[:first], line, *lines[first + 1 :]]), line


def lone_quote(text):
    lines, first, _ = content(text)
    line = '"' + lines[first]
    return "\n".join([*lines[:first], line, *lines[first + 1 :]]), line


def long_cell(text):
    lines, first, _ = content(text)
    line = "y" * 200_000 + lines[first]
    return "\n".join([*lines[:first], line, *lines[first + 1 :]]), "y" * 40


def end_of_sentence(text):
    lines, _, second = content(text)
    return inserted(lines, second, "EOS"), "EOS"


MUTATIONS = [
    comment_first,
    comment_at_a_sentence,
    narrow_comment,
    header,
    record,
    short_line,
    wide_line,
    marked_token,
    lone_quote,
    long_cell,
    end_of_sentence,
]


def read(text):
    """(sentences or None, what was said) of a text."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            X, y = read_tokens(io.StringIO(text))
        except ValueError as error:
            return None, str(error)
    return [repr(pair) for pair in zip(X, y)], " ".join(str(w.message) for w in met)


def is_comment(name, line):
    return line.startswith(BY_NAME[name].comment_mark or "\0") or line == "# a note"


def words_of(line):
    return [cell for cell in re.split(r"[\s/|]+", line) if len(cell) > 1 or cell == "#"]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", LINES)
def test_nothing_is_lost_and_nothing_is_silent(name, mutate):
    text = sample(name)
    before, _ = read(text)
    changed, touched = mutate(text)
    after, said = read(changed)
    number = changed.split("\n").index(
        next(line for line in changed.split("\n") if touched in line)
    )
    named = f"line {number + 1}" in said or any(
        word[:30] in said for word in words_of(touched)
    )
    if after is None:
        # The line behind a token that was made a comment is the one that is out of order.
        assert named or f"line {number + 2}" in said or "first " in said, said
        return
    lost = [pair for pair in before if pair not in after]
    extra = [pair for pair in after if pair not in before]
    assert len(lost) <= 1, (lost, extra)
    returned = any(word[:30] in "".join(extra) for word in words_of(touched))
    is_structure = not lost and (touched == "EOS" or is_comment(name, touched))
    is_unread = after == before and mutate in (lone_quote, long_cell, wide_line)
    assert returned or named or is_structure or is_unread, (said, extra)


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_marks_of_order_change_nothing(name, ending):
    before, _ = read(sample(name))
    changed = "\ufeff" + sample(name).replace("\n", ending)
    assert read(changed)[0] == before


@pytest.mark.parametrize("name", NAMES)
def test_the_same_file_twice_has_twice_as_many_sentences(name):
    text = sample(name)
    if text.lstrip().startswith("[") or name in ("csv", "webanno"):
        pytest.skip("a list of records, or a header that stands once")
    before, _ = read(text)
    joined = text if text.endswith("\n\n") else text.rstrip("\n") + "\n\n"
    assert read(joined + text)[0] == before * 2
