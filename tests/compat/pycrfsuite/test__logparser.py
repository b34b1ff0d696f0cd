"""Events and figures of a log."""

from fractions import Fraction

from skstruct.compat.pycrfsuite._logparser import LabelScore, TrainLogParser

LOG = """\
Feature generation
0
.
Number of features: 12
Seconds required: 0.001

***** Iteration #1 *****
Loss: 2.5
Active features: 12
Performance by label (#match, #model, #ref) (precision, recall, F1):
    A: (2, 3, 2) (0.6667, 1.0000, 0.8000)
    B: (0, 0, 0) (******, ******, ******)
Macro-average precision, recall, F1: (0.5, 0.25, 0.4)
Item accuracy: 2 / 3 (0.6667)

Total seconds required for training: 0.5
Storing the model
Seconds required: 0.25

"""


def test_events_and_figures():
    parser = TrainLogParser()
    events = [parser.feed(line + "\n") for line in LOG.splitlines()]
    assert list(filter(None, events)) == [
        "start", "featgen_progress", "featgen_progress", "featgen_end", "prepared", "iteration",
        "optimization_end", "end",
    ]  # fmt: skip
    assert (parser.featgen_num_features, parser.training_seconds) == (12, 0.5)
    assert parser.storing_seconds == 0.25
    (iteration,) = parser.iterations
    assert iteration["loss"] == 2.5 and iteration["avg_f1"] == 0.4
    assert iteration["item_accuracy"] == Fraction(2, 3)
    assert iteration["scores"] == {
        "A": LabelScore(2, 3, 2, 0.6667, 1.0, 0.8),
        "B": LabelScore(0, 0, 0, None, None, None),
    }
    assert parser.last_log.startswith("Seconds") or parser.last_log
