"""The log of a pass, and the scores on held-out sequences."""

from skstruct.compat.passes import HeldOut, PassLog, figure


class Numbers:
    """A model that gives every token the label 0."""

    def predict(self, corpus):
        return [["0"] * len(x) for x in corpus]


def test_figures():
    assert [figure(x) for x in (0.5, True, 3, "MoreThuente")] == [
        "0.500000", "1", "3", "MoreThuente",
    ]  # fmt: skip


def test_scores_of_held_out_sequences():
    examples = [([{"a": 1.0}] * 2, ["A", "A"], 1), ([{"a": 1.0}], ["B"], 1)]
    examples.append(([{"b": 1.0}], ["A"], 0))
    assert HeldOut.of(examples, -1, ["A", "B"]) is None
    lines = HeldOut.of(examples, 1, ["A", "B"]).scores(Numbers())
    assert lines[1:] == [
        "    A: (2, 3, 2) (0.6667, 1.0000, 0.8000)",
        "    B: (0, 0, 1) (0.0000, 0.0000, 0.0000)",
        "Macro-average precision, recall, F1: (0.333333, 0.500000, 0.400000)",
        "Item accuracy: 2 / 3 (0.6667)",
        "Instance accuracy: 1 / 2 (0.5000)",
    ]


def test_a_pass_is_numbered_and_logged():
    lines = []
    log = PassLog(lambda *more: lines.extend(more), "lbfgs", {}, 1, None)
    record = {"objective": 2.0, "norm": 1.0, "optimality": 0.5, "n_active": 3}
    assert log(record, dict) is False
    assert lines[:2] == ["***** Iteration #1 *****", "Loss: 2.000000"]
    assert "Active features: 3" in lines and lines[-1] == ""
