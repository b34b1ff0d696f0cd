"""Records of PubAnnotation."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.pubannotation import PubAnnotation

TEXT = "Ann in Rome"
SPANS = [(0, 3, "PER")]
RECORD = {
    "text": "Ann in Rome",
    "denotations": [{"span": {"begin": 0, "end": 3}, "obj": "PER"}],
}


@pytest.mark.filterwarnings("error")
def test_it_is_known_by_its_keys():
    assert PubAnnotation().look(Head.of_records("x", [RECORD])).is_yes
    assert not PubAnnotation().look(Head.of_records("x", [{"text": TEXT}])).is_yes
    assert read_spans([RECORD]) == ([TEXT], [SPANS])
