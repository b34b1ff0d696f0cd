"""Errors of learning are told with the file and the line that they are about."""

import pytest

from skstruct._data.places import PlaceError
from skstruct.cli.common import CommandError
from skstruct.cli.located import located, locating
from skstruct.datasets.formats.source import SourceError


def test_the_line_of_the_token_is_named():
    error = PlaceError(1, 2, "wrong")
    assert "a.txt, line 9: " in str(located(error, "a.txt", [[1], [7, 8, 9]]))
    assert "line 7: " in str(located(PlaceError(0, 5, "wrong"), "a.txt", [[7]]))
    assert "b.jsonl, line 3: " in str(located(error, "a.txt", ["x", "b.jsonl, line 3"]))
    assert str(located(ValueError("wrong"), "a.txt", [])) == "a.txt: wrong"


def test_an_error_that_names_its_file_stays_as_it_is():
    with pytest.raises(SourceError, match="^b.txt, line 2: x$"), locating("a.txt"):
        raise SourceError("b.txt, line 2: x")
    with pytest.raises(CommandError, match="^a.txt: x$"), locating("a.txt"):
        raise ValueError("x")
