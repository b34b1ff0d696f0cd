"""The k best segmentations against enumeration."""

import numpy as np
import pytest
from segment_oracle import decisions_of, segmentations, segmented_text
from word_search_cases import (
    BOTH,
    ORACLE,
    as_dict,
    make_task,
    random_model,
    score_of,
    segmented,
)

from skstruct._core.codes import (
    FREE,
    INSIDE,
    START,
)
from skstruct._core.noise import QUIET
from skstruct._words import word_epoch as segment
from skstruct._words.word_beam import new_work
from skstruct._words.word_kbest import new_lists


def ranked(model, text, k, limit=None):
    """The k best segmentations of a text, as (words, score)."""
    task = make_task([text], limit=limit)
    work = new_work(task, model.beam, training=False)
    lists = new_lists(work, k)
    most = lists.new.score.shape[1]
    out, score, found = (
        np.empty(most * len(text), np.int8),
        np.empty((1, most)),
        np.empty(1, np.int64),
    )
    segment.predict(task, 0, 1, model, QUIET, work, lists, out, score, found)
    decisions = out.reshape(most, len(text))[: found[0]].tolist()
    return [(segmented_text(text, d), s) for d, s in zip(decisions, score[0].tolist())]


@pytest.mark.parametrize("templates", BOTH)
def test_kbest_is_enumeration(templates):
    generator = np.random.default_rng(14)
    model = random_model(templates, 0, generator)
    known = as_dict(model)
    for n in [1, 2, 3, 5, 8, 10]:
        text = "".join(generator.choice(list("abcd"), n))
        scores = {
            tuple(w): score_of(known, ORACLE[templates](w)) for w in segmentations(text)
        }
        best = sorted(scores.values(), reverse=True)
        for k in (1, 2, 7, 1000):
            found = ranked(model, text, k)
            assert (
                len({tuple(words) for words, _ in found})
                == len(found)
                == min(k, 2 ** (n - 1))
            )
            values = [score for _, score in found]
            assert values == sorted(values, reverse=True)
            assert values == pytest.approx(best[:k], abs=1e-9)
            assert values == pytest.approx(
                [scores[tuple(words)] for words, _ in found], abs=1e-9
            )
            # A beam that no state is lost to.
            assert ranked(model._replace(beam=n * (n - 1) // 2 + 1), text, k) == found


@pytest.mark.parametrize("templates", BOTH)
@pytest.mark.parametrize("beam", [1, 2, 8])
def test_kbest_under_a_beam(templates, beam):
    generator = np.random.default_rng(15)
    model = random_model(templates, beam, generator)
    known = as_dict(model)
    for n in (1, 6, 30, 12):
        text = "".join(generator.choice(list("abc"), n))
        limit = generator.choice([FREE, START, INSIDE], n, p=[0.8, 0.1, 0.1]).astype(
            np.int8
        )
        limit[0] = START
        for limits in (None, [limit]):
            (decisions,), (best,) = segmented(model, [text], limits)
            found = ranked(model, text, 50, limits)
            assert found[0] == (segmented_text(text, decisions), best)
            assert len({tuple(words) for words, _ in found}) == len(found)
            assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
            for words, score in found:
                assert score == pytest.approx(
                    score_of(known, ORACLE[templates](words)), abs=1e-9
                )
                taken = decisions_of(words)
                assert limits is None or all(
                    d == f for d, f in zip(limit, taken) if d != FREE
                )
            assert ranked(model, text, 4, limits) == found[:4]
            assert beam > 1 or len(found) == 1


@pytest.mark.parametrize("templates", BOTH)
def test_ties_leave_the_first_in_place(templates):
    """Weights of one size: many segmentations score the same."""
    model = random_model(templates, 8, np.random.default_rng(16))
    value = model.features.weights.value
    value[:] = np.sign(value)
    for text in ("abcabcabc", "aaaaaaaa", "bacbacbacbac"):
        (decisions,), (best,) = segmented(model, [text])
        found = ranked(model, text, 20)
        assert found[0] == (segmented_text(text, decisions), best)
        assert sum(score == best for _, score in found) > 1 or text != "aaaaaaaa"
        assert len({tuple(words) for words, _ in found}) == len(found)
