"""What the keys of word features say."""

import numpy as np
import pytest
from word_search_cases import (
    BOTH,
    random_model,
)

from skstruct._core.feature_table import extended, table_from_keys
from skstruct._core.hashing import empty_table, keys_of
from skstruct._words.word_names import IS_NODE, features, words_come_first


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
