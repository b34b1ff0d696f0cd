"""What the keys of word features say."""

import numpy as np
import pytest
from word_search_cases import BOTH, random_model

from skstruct._core.codes import ZSZ18
from skstruct._core.feature_table import extended, table_from_keys
from skstruct._core.hashing import empty_table, keys_of
from skstruct._words.word_features import WORD
from skstruct._words.word_names import (
    IS_NODE,
    extend_to_held_words,
    feature_names,
    features,
    words_come_first,
)


@pytest.mark.parametrize("templates", BOTH)
def test_tables_unite_by_feature(templates):
    generator = np.random.default_rng(11)
    models = [random_model(templates, 4, generator, n=20 + 10 * k) for k in range(3)]
    parts = [keys_of(m.features.table, m.features.entries[0]) for m in models]
    table, entries, rows = empty_table(), np.zeros(1, np.int64), []
    for part in parts:
        table, numbers = extended(table, entries, part, 0, IS_NODE[templates])
        rows.append(numbers)
    names = features(templates, keys_of(table, entries[0]))
    assert len(set(names)) == entries[0]
    for part, row in zip(parts, rows):
        assert [names[r] for r in row] == features(templates, part)
    assert set(names) == {name for part in parts for name in features(templates, part)}
    for part in parts:
        assert words_come_first(templates, part)
        again, distinct = table_from_keys(part)
        assert distinct
        np.testing.assert_array_equal(keys_of(again, part.shape[0]), part)
    assert not words_come_first(templates, parts[0][::-1])
    assert not table_from_keys(np.concatenate([parts[0], parts[0][:1]]))[1]


def test_names_say_what_a_feature_looks_at():
    named = feature_names(
        ZSZ18,
        [
            (WORD, 0, "北", ord("京") + 1),
            (1, 0, ord("图") + 1, 0),
            (8, 0, 0, ord("书") + 1),
            (9, 0, 15, 0),
            (15, 0, 0, 2),
            (17, 0, "图书", 1),
        ],
    )
    assert named == [
        "w=北京",
        "c-1=图 b-1=start",
        "c-1=# c0=书",
        "len(w)=15",
        "b-1=start b-2=none",
        "w'=图书 len(w)=1",
    ]


@pytest.mark.parametrize("templates", BOTH)
def test_rows_with_weights_bring_the_words_that_they_hold(templates):
    model = random_model(templates, 4, np.random.default_rng(5), n=40)
    keys = keys_of(model.features.table, model.features.entries[0])
    for row in range(0, len(keys), 7):
        used = np.arange(len(keys)) == row
        rows, kept = extend_to_held_words(templates, keys, used)
        assert row in rows.tolist() and words_come_first(templates, kept)
        assert features(templates, kept) == features(templates, keys, rows)
        others = set(rows.tolist()) - {row}
        assert all(keys[other, 0] == WORD for other in others)
