"""Records of Presidio."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.presidio import Presidio

TEXT = "Ann in Rome"
SPANS = [(0, 3, "PER")]
RECORD = {
    "full_text": "Ann in Rome",
    "spans": [
        {
            "entity_type": "PER",
            "entity_value": "Ann",
            "start_position": 0,
            "end_position": 3,
        }
    ],
}


@pytest.mark.filterwarnings("error")
def test_it_is_known_by_its_keys():
    assert Presidio().look(Head.of_records("x", [RECORD])).is_yes
    assert not Presidio().look(Head.of_records("x", [{"text": TEXT}])).is_yes
    assert read_spans([RECORD]) == ([TEXT], [SPANS])
