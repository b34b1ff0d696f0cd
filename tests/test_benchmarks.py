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
