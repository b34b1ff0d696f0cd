"""Which weights there are: those whose gradient can leave [-c1, c1], as many as can be
numbered.
"""

import numpy as np
import pytest
from crf_cases import FREE, make_task

from skstruct._crf.solver import choose_pairs
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_screening_leaves_out_only_what_cannot_move(valued, partial):
    """At any weights, the gradient of a pair left out stays within [-c1, c1]."""
    task = make_task(n=20, R=40, valued=valued, partial=partial)
    task.weight[:] = 1.0
    everything = CRFObjective(task, ObjectiveOptions(c1=0.0), FREE, 40)
    screened = CRFObjective(task, ObjectiveOptions(c1=2.0), FREE, 40)
    assert 0 < screened.n_pairs < everything.n_pairs
    kept = set(
        zip(screened.row[screened.pair_feature].tolist(), screened.pair_label.tolist())
    )
    out = [
        k
        for k, p in enumerate(
            zip(everything.row[everything.pair_feature], everything.pair_label)
        )
        if tuple(p) not in kept
    ]
    view = everything.view_all()
    for seed in range(10):
        w = 5 * np.random.RandomState(seed).randn(everything.size)
        _, gradient = everything.evaluate(view, w)
        assert np.abs(gradient[out]).max() <= 2.0 + 1e-9


@pytest.mark.parametrize("all_states", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_screening_of_transitions_that_look_at_the_input(partial, all_states):
    """Likewise; those left out because they are not seen are not asked for."""
    task = make_task(n=20, partial=partial, edges=True)
    task.weight[:] = 1.0
    everything, c1 = (
        CRFObjective(task, ObjectiveOptions(c1=0.0, all_states=all_states), FREE, 6, 3),
        10.0,
    )
    screened = CRFObjective(
        task, ObjectiveOptions(c1=c1, all_states=all_states), FREE, 6, 3
    )
    kept = set(map(tuple, screened.conditioned_pair.tolist()))
    every = list(map(tuple, everything.conditioned_pair.tolist()))
    assert kept < set(every)
    out = [everything.n_pairs + k for k, pair in enumerate(every) if pair not in kept]
    for seed in range(10):
        w = 5 * np.random.RandomState(seed).randn(everything.size)
        _, gradient = everything.evaluate(everything.view_all(), w)
        assert np.abs(gradient[out]).max() <= c1 + 1e-9


@pytest.mark.parametrize("edges", [False, True])
def test_many_weights_for_what_the_corpus_shows(edges, monkeypatch, recwarn):
    monkeypatch.setattr(choose_pairs, "MANY_WEIGHTS", 10)
    monkeypatch.setattr(choose_pairs, "MANY_TIMES", 1.1)
    task = make_task(n=4, R=40, edges=edges)
    for all_states in False, True:
        CRFObjective(
            task,
            ObjectiveOptions(0.0, all_states=all_states),
            FREE,
            40,
            3 if edges else 1,
        )
    told = [str(each.message) for each in recwarn.list]
    assert len(told) == 1 + edges and "of which the corpus shows" in told[0]
    assert ("transitions that look" in told[-1]) == edges


@pytest.mark.parametrize("edges", [False, True])
def test_more_weights_than_can_be_numbered(edges, monkeypatch):
    """Of features, or of transitions that look at the input."""
    monkeypatch.setattr(choose_pairs, "MOST_PAIRS", 17)
    task, more = (
        make_task(R=5 if edges else 6, edges=edges),
        {"all_states": True} if edges else {},
    )
    what = (
        "transitions that look at the input"
        if edges
        else "pairs of a feature and a label"
    )
    with pytest.raises(
        ValueError,
        match=f"the corpus has [0-9]+ {what}, at most 17 can have weights: use",
    ):
        CRFObjective(
            task,
            ObjectiveOptions(0.0, **more),
            FREE,
            5 if edges else 6,
            3 if edges else 1,
        )
