"""Records of Prodigy: what tells them."""

from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.prodigy import Prodigy


def test_evidence():
    def score(**record):
        head = Head.of_records("source", [{"text": "a", "spans": [], **record}])
        return Prodigy().recognise(head).score

    assert score(_input_hash=1) == 0.9 and score(answer="accept") == 0.7
    assert score() == 0.0
