"""The comparison of two commits: what it hashes, what it calls the same, and what it
builds.
"""

import pathlib
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def _tiny(change=None):
    """Texts of four letters and their words; ``change`` replaces the words of the
    first.
    """
    X, y = (
        ["abab", "baab", "abba", "aabb"] * 3,
        [["ab", "ab"], ["ba", "ab"], ["ab", "ba"], ["a", "abb"]] * 3,
    )
    y[0] = change or y[0]
    return lambda task: {"tiny": (X, y)}


def test_a_case_gives_the_same_hashes_again_and_others_for_other_data():
    from benchmarks.versus_results import results

    first, second = (results(["segmenter"], _tiny()) for _ in range(2))
    assert first == second
    (facts,) = first.values()
    assert set(facts) == {"predictions", "feature_weights", "transition_weights"}
    (other,) = results(["segmenter"], _tiny(["a", "bab"])).values()
    assert other["feature_weights"] != facts["feature_weights"]


def test_a_hash_sees_the_last_bit_and_the_type():
    from benchmarks.versus_results import spelled

    assert spelled([0.1 + 0.2]) != spelled([0.3])
    assert spelled([-0.0]) != spelled([0.0])
    assert spelled(["1", None]) != spelled([1, "None"])
    assert spelled([["a"], []]) != spelled([[], ["a"]])
    assert spelled(("a",)) != spelled(["a"])


def test_verdicts_name_what_differs_and_what_fails():
    from benchmarks.versus import verdicts
    from benchmarks.versus_results import results

    same = {"predictions": "1", "feature_weights": "2"}
    rows, all_same = verdicts({"x": same}, {"x": dict(same)})
    assert rows == [["x", "same", "", "same", "", ""]] and all_same
    rows, all_same = verdicts({"x": same}, {"x": {**same, "feature_weights": "3"}})
    assert rows == [["x", "same", "", "DIFFERENT", "", ""]] and not all_same
    # Failing alike on both sides shows nothing.
    failed = results(["segmenter"], lambda task: {"empty": ([], [])})
    rows, all_same = verdicts(failed, failed)
    assert "X is empty" in rows[0][1] and not all_same


def test_a_side_is_a_copy_of_its_package(tmp_path, monkeypatch):
    from benchmarks import versus

    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git repository")
    before = subprocess.check_output(["git", "status", "--porcelain"], cwd=REPOSITORY)
    side = versus.Side("working tree", None, tmp_path)
    for file in (REPOSITORY / "skstruct").rglob("*.py"):
        assert (
            side.folder / file.relative_to(REPOSITORY)
        ).read_bytes() == file.read_bytes()
    assert (
        subprocess.check_output(["git", "status", "--porcelain"], cwd=REPOSITORY)
        == before
    )
    monkeypatch.setattr(sys, "argv", ["versus", "no-such-commit"])
    with pytest.raises(SystemExit, match="no-such-commit"):
        versus.main()


def test_planted_errors_are_found_in_invoices_and_columns():
    """The study of wrong labels, on little: what is planted is found, and counted."""
    from benchmarks.label_issues import HEAD, joined, of_columns, of_invoices, of_tags

    X = [["Ann", "saw", "New", "York", f"on{k % 7}", "and", "left"] for k in range(90)]
    y = [["B-PER", "O", "B-LOC", "I-LOC", "O", "O", "O"] for _ in X]
    tags = [["N", "V", "N", "N", "P", "C", "V"] for _ in X]
    for case in (
        of_invoices(3, n=80),
        of_columns("names", X, y, "random", 0, 0.1),
        of_tags("tags", X, tags, "random", 0, 0.03),
    ):
        row = case.row()
        assert row["planted"] == len(case.errors) > 5
        assert row["in 3 N"] >= 0.6
        assert 0.5 * row["planted"] < row["expected"] < 2.0 * row["planted"]
        both = dict(zip(HEAD, joined([row, row]), strict=True))
        assert float(both["in N"]) == pytest.approx(row["in N"], abs=0.01)
        assert float(both["worst kind"]) == pytest.approx(
            min(row["worst kind"].values()), abs=0.01
        )


@pytest.mark.parametrize("by_words", [False, True])
def test_each_kind_of_error_is_planted(by_words):
    from benchmarks.label_issues import KINDS, Planter

    texts = [f"Ann Lee{k % 5} saw New York{k % 4} on 24 and left" for k in range(60)]
    spans = [[(0, 8, "PER"), (13, 22, "LOC")] for _ in texts]
    for planter in (
        Planter(texts, spans, 0, by_words).random(20),
        Planter(texts, spans, 0, by_words).systematic(4),
    ):
        assert {error.kind for error in planter.errors} == set(KINDS)
        changed = {i for i, row in enumerate(planter.y) if row != spans[i]}
        assert changed == {error.text for error in planter.errors}


def test_simulated_workers_compute_and_count_what_shards_do(monkeypatch):
    from benchmarks.simulated import SimulatedWorkers
    from skstruct import ParameterMixer, StructuredPerceptron
    from skstruct._shards.mixing import mixer
    from skstruct.inspection import feature_weights

    X, y = _tiny()(None)["tiny"]
    X, labels = ([[*map(change, text)] for text in X] for change in (str, str.upper))
    loads = [lambda s=s: (X[s::5], labels[s::5]) for s in range(5)]
    learner = StructuredPerceptron(max_iter=3)
    fits = []
    for workers in (mixer.LocalShards, SimulatedWorkers):
        monkeypatch.setattr(mixer, "LocalShards", workers)
        fits.append(ParameterMixer(learner, random_state=0).fit_shards(loads))
    ways = "bytes_sent", "bytes_received"
    real, simulated = ([[h[way] for way in ways] for h in f.history_] for f in fits)
    assert real == simulated
    one, other = (feature_weights(fit).to_dict() for fit in fits)
    assert one == other
    (crew,) = SimulatedWorkers.made
    assert crew.sent > 0 and crew.received > 0 and crew.work >= crew.busiest > 0
