"""What CRFsuite prints in training, read: the events and figures that programs ask for."""

import re
from collections import namedtuple
from fractions import Fraction

LabelScore = namedtuple("LabelScore", "match model ref precision recall f1")

_NUMBER = r"(-?\d+\.?\d*(?:e[+-]\d+)?)"
_FIGURES = [
    (key, re.compile(f"{text}: {_NUMBER}"), kind)
    for key, text, kind in (
        ("loss", "Loss", float),
        ("feature_norm", "Feature norm", float),
        ("error_norm", "Error norm", float),
        ("active_features", "Active features", int),
        ("linesearch_trials", "Line search trials", int),
        ("linesearch_step", "Line search step", float),
        ("time", "Seconds required for this iteration", float),
    )
]
_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_SECONDS = re.compile(f"Seconds required: {_NUMBER}")
_TOTAL = re.compile(f"Total seconds required for training: {_NUMBER}")
_FEATURES = re.compile(r"Number of features: (\d+)")
_MACRO = re.compile(r"Macro-average precision, recall, F1: \((.+), (.+), (.+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(r"\s{4}(.+): \((\d+), (\d+), (\d+)\) \((\S+), (\S+), (\S+)\)")


class TrainLogParser:
    """Reads a log, message by message.

    Attributes
    ----------
    iterations : list of dict
        Figures of each iteration.
    last_iteration : dict or None
    last_log : str
        The text of the last event.
    log, events : list
        All messages; (event, first message, message behind the last).
    """

    def __init__(self):
        self.state, self.featgen_percent, self.featgen_num_features = None, -2, None
        self.featgen_seconds = self.training_seconds = self.storing_seconds = None
        self.iterations, self.last_iteration, self.log, self.events = [], None, [], []

    @property
    def last_log(self):
        """The text of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def feed(self, line):
        """Read a message; returns the event that it ends, or None."""
        self.log.append(line)
        if self.state is None:
            self.state = "starting"
            self._starting(line)
            event = "start"
        else:
            event = getattr(self, f"_{self.state}")(line)
        if event is not None:
            start, end = self.events[-1][2] if self.events else 0, len(self.log)
            # These two are known by the first line of what follows.
            self.events.append((event, start, end - (event in ("prepared", "optimization_end"))))
        return event

    def _starting(self, line):
        if line.startswith("Feature generation"):
            self.state = "generating"

    def _generating(self, line):
        if line in "0123456789.10":
            self.featgen_percent += 2
            return "featgen_progress"
        if found := _FEATURES.match(line):
            self.featgen_num_features = int(found[1])
        elif found := _SECONDS.match(line):
            self.featgen_seconds, self.state = float(found[1]), "preparing"
            return "featgen_end"
        return None

    def _preparing(self, line):
        if _HEAD.match(line):
            self._iterating(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "between"
            return "prepare_error"
        return None

    def _iterating(self, line):
        if found := _HEAD.match(line):
            self.state = "iterating"
            self.last_iteration = {"num": int(found[1]), "scores": {}}
            self.iterations.append(self.last_iteration)
        elif line == "\n":
            self.state = "between"
            return "iteration"
        else:
            self._note(line)
        return None

    def _note(self, line):
        """Enter the figures of a line."""
        into = self.last_iteration
        for key, pattern, kind in _FIGURES:
            if found := pattern.match(line):
                into[key] = kind(found[1])
        if found := _MACRO.match(line):
            into.update(zip(("avg_precision", "avg_recall", "avg_f1"), map(float, found.groups())))
        elif found := _ACCURACY.match(line):
            name, share = f"{found[1].lower()}_accuracy", Fraction(int(found[2]), int(found[3]))
            into.update({name: share, f"{name}_float": float(share)})
        elif found := _LABEL.match(line):
            name, *counts = found.groups()[:4]
            shares = [None if "*" in share else float(share) for share in found.groups()[4:]]
            into["scores"][name] = LabelScore(*map(int, counts), *shares)

    def _between(self, line):
        if _HEAD.match(line):
            return self._iterating(line)
        if found := _TOTAL.match(line):
            self.training_seconds = float(found[1])
        elif line.startswith("Storing the model"):
            self.state = "storing"
            return "optimization_end"
        return None

    def _storing(self, line):
        if line == "\n":
            return "end"
        if found := _SECONDS.match(line):
            self.storing_seconds = float(found[1])
        return None
