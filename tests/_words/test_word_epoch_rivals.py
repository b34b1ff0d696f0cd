"""The best segmentation with another decision at each place, against a decoding for
each.
"""

import numpy as np
import pytest
from inside import model_of
from word_search_cases import BOTH, make_task, random_model, segmented

from skstruct import WordSegmenter
from skstruct._core.codes import FREE, INSIDE, START
from skstruct._words.word_epoch import rival_scores
from skstruct.datasets import load_segmentation


def decoded_scores(model, text, limit, path):
    places = np.flatnonzero(limit == FREE).tolist()
    limits = [
        np.where(np.arange(len(text)) == i, START + INSIDE - path[i], limit)
        for i in places
    ]
    return dict(
        zip(places, segmented(model, [text] * len(places), limits or None)[1].tolist())
    )


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [0, 1, 5])
@pytest.mark.parametrize("whole", [True, False])
def test_each_rival_is_what_a_decoding_of_its_own_finds(templates, beam, whole):
    """Sums of whole numbers are exact, and there are many ties."""
    generator = np.random.default_rng(beam)
    model = random_model(templates, beam, generator)
    if whole:
        weights = model.features.weights.value
        weights[:] = generator.integers(-2, 3, weights.shape)
    for n in (1, 2, 7, 13):
        text = "".join(generator.choice(list("abcd"), n))  # d: never seen
        for given in (0.0, 0.2, 1.0):
            limit = np.where(
                generator.random(n) < given, generator.integers(0, 2, n), FREE
            ).astype(np.int8)
            limit[0] = START
            best = [*segmented(model, [text], [limit])[0][0], START]
            for path in (best, [START, *generator.integers(0, 2, n - 1), START]):
                path = np.array(path, np.int8)
                found, _ = rival_scores(model, make_task([text], limit=[limit]), path)
                expected = decoded_scores(model, text, limit, path)
                assert found == (
                    expected if whole else pytest.approx(expected, abs=1e-9)
                )


@pytest.mark.parametrize("templates", ["zsz18", "zc14"])
def test_work_is_the_same_for_each_character_of_a_longer_text(templates):
    X, y = load_segmentation()
    scorer = model_of(
        WordSegmenter(templates, max_iter=2, random_state=0).fit(X[:50], y[:50])
    ).scorer(8)
    unseen = "".join("".join(X[100:]).split())
    for n in (60, 240):
        path = np.array([*segmented(scorer, [unseen[:n]])[0][0], START], np.int8)
        found, steps = rival_scores(scorer, make_task([unseen[:n]]), path)
        assert len(found) == n - 1 and steps < 25 * n
