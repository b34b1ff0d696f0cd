"""The word segmenter's kernels against features written down from the papers, and
enumeration.
"""

import numpy as np
import pytest
from segment_oracle import decisions_of, segmentations, segmented_text
from word_search_cases import (
    BOTH,
    ORACLE,
    PLAIN,
    as_dict,
    make_task,
    random_model,
    random_words,
    score_of,
    segmented,
    train,
)

from skstruct._core.codes import (
    FREE,
    INSIDE,
    MAX_VIOLATION,
    START,
    ZSZ18,
)
from skstruct._core.noise import QUIET
from skstruct._words import word_epoch as segment
from skstruct._words.word_beam import new_work


def test_a_short_text_costs_no_scratch_of_a_long_one():
    model = random_model(ZSZ18, 4, np.random.default_rng(0))
    task = make_task(["ab" * 30, "abc"])
    work = new_work(task, model.beam, training=False)
    work.shared_at[:] = -7
    out, score, found = (
        np.empty(task.char.shape[0], np.int8),
        np.empty((2, 1)),
        np.empty(2, np.int64),
    )
    segment.predict(task, 1, 2, model, QUIET, work, None, out, score, found)
    assert (work.shared_at[5:] == -7).all()
    alone = segmented(model, ["abc"])
    assert [out[:3].tolist()] == alone[0] and score[1, 0] == alone[1][0]


@pytest.mark.parametrize("templates", BOTH)
def test_exact_search_is_enumeration(templates):
    generator = np.random.default_rng(0)
    model = random_model(templates, 0, generator)
    known = as_dict(model)
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7]:
        text = "".join(generator.choice(list("abcd"), n))  # d: never seen
        scores = {
            tuple(decisions_of(w)): score_of(known, ORACLE[templates](w))
            for w in segmentations(text)
        }
        (found,), (score,) = segmented(model, [text])
        assert score == pytest.approx(max(scores.values()), abs=1e-9)
        assert scores[tuple(found)] == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [1, 2, 8, 1000])
def test_score_is_that_of_the_path(templates, beam):
    generator = np.random.default_rng(1)
    model = random_model(templates, beam, generator)
    known = as_dict(model)
    texts = ["".join(generator.choice(list("abc"), n)) for n in (1, 5, 30, 12, 2)]
    found, scores = segmented(model, texts)
    exact = segmented(model._replace(beam=0), texts)[1]
    for text, decisions, score in zip(texts, found, scores):
        words = segmented_text(text, decisions)
        assert decisions[0] == START and "".join(words) == text
        assert score == pytest.approx(
            score_of(known, ORACLE[templates](words)), abs=1e-9
        )
    assert (scores <= exact + 1e-9).all()
    if beam == 1000:
        assert scores == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [0, 1, 8])
def test_limits_are_honoured(templates, beam):
    generator = np.random.default_rng(2)
    model = random_model(templates, beam, generator)
    known = as_dict(model)
    for n in (1, 4, 8, 8, 8):
        text = "".join(generator.choice(list("abc"), n))
        limit = generator.choice([FREE, START, INSIDE], n, p=[0.5, 0.25, 0.25]).astype(
            np.int8
        )
        limit[0] = START
        (found,), (score,) = segmented(model, [text], [limit])
        assert all(d == f for d, f in zip(limit, found) if d != FREE)
        if beam == 0:
            best = max(
                score_of(known, ORACLE[templates](w))
                for w in segmentations(text)
                if all(d == f for d, f in zip(limit, decisions_of(w)) if d != FREE)
            )
            assert score == pytest.approx(best, abs=1e-9)
        everything = np.array(decisions_of(random_words(generator, n)), np.int8)
        assert segmented(model, [text], [everything])[0][0] == everything.tolist()


@pytest.mark.parametrize("templates", BOTH)
def test_long_words(templates):
    generator = np.random.default_rng(12)
    words = ["".join(generator.choice(list("abcdefgh"), n)) for n in (90, 1, 40)]
    task = make_task(["".join(words)], [words])
    model, _ = train(
        segment.new_model(templates, 4, MAX_VIOLATION, 1, PLAIN), task, epochs=30
    )
    assert (
        segmented_text("".join(words), segmented(model, ["".join(words)])[0][0])
        == words
    )
