"""What Doc.to_json of spaCy gives."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.spacy_doc import SpacyDoc

TEXT = "Ann in Rome"
SPANS = [(0, 3, "PER")]
RECORD = {
    "text": "Ann in Rome",
    "ents": [{"start": 0, "end": 3, "label": "PER"}],
    "tokens": [],
}


@pytest.mark.filterwarnings("error")
def test_it_is_known_by_its_keys():
    assert SpacyDoc().look(Head.of_records("x", [RECORD])).is_yes
    assert not SpacyDoc().look(Head.of_records("x", [{"text": TEXT}])).is_yes
    assert read_spans([RECORD]) == ([TEXT], [SPANS])
