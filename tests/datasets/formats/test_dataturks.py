"""Records of DataTurks: ends are inclusive."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.dataturks import Dataturks
from skstruct.datasets.formats.head import Head

TEXT = "Ann in Rome"
SPANS = [(0, 3, "PER")]
RECORD = {
    "content": "Ann in Rome",
    "annotation": [
        {"label": ["PER"], "points": [{"start": 0, "end": 2, "text": "Ann"}]}
    ],
}


@pytest.mark.filterwarnings("error")
def test_it_is_known_by_its_keys():
    assert Dataturks().look(Head.of_records("x", [RECORD])).is_yes
    assert not Dataturks().look(Head.of_records("x", [{"text": TEXT}])).is_yes
    assert read_spans([RECORD]) == ([TEXT], [SPANS])


def test_what_nobody_annotated_is_left_out_and_ends_can_be_named():
    assert read_spans([RECORD, {"content": "x", "annotation": None}])[0] == [TEXT]
    assert read_spans([RECORD], ends="inclusive")[1] == [SPANS]
