"""What was given and found where a model is wrong."""

from types import SimpleNamespace

import pytest

from skstruct import Span
from skstruct._data.inputs import LABELS, SPANS, WORDS
from skstruct.cli.mistakes import in_words, items_of, mistakes_in, scheme_for

TEXT = "sum 12 to Ann Lee"


def test_what_shares_a_place_is_one_mistake():
    given = [(4, 6, "SUM"), (10, 13, "PER"), (0, 3, None)]
    found = [(10, 17, "PER")]
    first, second = mistakes_in(given, found, {(10, 17, "PER"): 0.99})
    assert (first.given, first.found, first.sure) == ([(4, 6, "SUM")], [], False)
    assert second == ([(10, 13, "PER")], [(10, 17, "PER")], True)
    assert mistakes_in(given, given[:2], {}) == []
    corpus = SimpleNamespace(X=[TEXT])
    assert in_words(second, corpus, 0) == (
        'given 10-13 "Ann" PER; found 10-17 "Ann Lee" PER'
    )
    assert in_words(first, corpus, 0) == 'given 4-6 "12" SUM; found nothing'


@pytest.mark.parametrize(
    ("task", "sequence", "items"),
    [
        (SPANS, [Span(0, 3, "A")], [(0, 3, "A")]),
        (LABELS, ["B-A", "I-A", "O"], [(0, 2, "A")]),
        (LABELS, ["N", "V"], [(0, 1, "N"), (1, 2, "V")]),
        (WORDS, ["ab", "c"], []),
    ],
)
def test_items(task, sequence, items):
    assert items_of(task, sequence, scheme_for(task, [sequence])) == items


def test_tokens_are_shown_as_words():
    corpus = SimpleNamespace(X=[[("the", "D"), ("dog", "N")]])
    (mistake,) = mistakes_in([(1, 2, "N")], [(1, 2, "V")], {})
    assert in_words(mistake, corpus, 0) == 'given "dog" N; found "dog" V'
