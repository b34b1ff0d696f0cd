"""A line for each pass, and a table at the end."""

from skstruct.compat.pycrfsuite._logparser import LabelScore
from skstruct.compat.sklearn_crfsuite.trainer import LinePerIterationTrainer


def test_a_line_has_the_figures_that_are_known(capsys):
    trainer = LinePerIterationTrainer(verbose=False)
    trainer.on_iteration("", {"num": 3, "time": 0.5, "loss": 2.0})
    assert capsys.readouterr().out == "Iter 3    time=0.50   loss=2.00\n"


def test_the_table_of_scores(capsys):
    trainer = LinePerIterationTrainer(verbose=False)

    class Log:
        last_iteration = {"scores": {"A": LabelScore(2, 3, 2, 0.5, 1.0, None)}}
        last_log = ""

    trainer.logparser = Log
    trainer.on_optimization_end("")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["Label", "Precision", "Recall", "F1", "Support"]
    assert lines[2].split() == ["A", "0.500", "1.000", "0.000", "2"]
