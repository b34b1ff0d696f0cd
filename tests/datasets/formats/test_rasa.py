"""Training data of Rasa."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.rasa import Rasa

TEXT = "Ann in Rome"
SPANS = [(0, 3, "PER")]
RECORD = {
    "rasa_nlu_data": {
        "common_examples": [
            {
                "text": "Ann in Rome",
                "intent": "x",
                "entities": [{"start": 0, "end": 3, "value": "Ann", "entity": "PER"}],
            }
        ]
    }
}


@pytest.mark.filterwarnings("error")
def test_it_is_known_by_its_keys():
    assert Rasa().look(Head.of_records("x", [RECORD])).is_yes
    assert not Rasa().look(Head.of_records("x", [{"text": TEXT}])).is_yes
    assert read_spans([RECORD]) == ([TEXT], [SPANS])
