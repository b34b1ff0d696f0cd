"""A reader of the log that CRFsuite prints in training: the events and figures that
programs ask for.
"""

from __future__ import annotations

import re
from collections import namedtuple
from fractions import Fraction
from typing import Any

LabelScore = namedtuple("LabelScore", "match model ref precision recall f1")

_NUMBER = r"(-?\d+\.?\d*(?:e[+-]\d+)?)"
_HEAD = r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n"
_SECONDS = f"Seconds required: {_NUMBER}"
_NEXT = (
    ("starting", "Feature generation", None, "generating", None),
    ("generating", r"(?:\d|10|\.)$", None, None, "featgen_progress"),
    ("generating", r"Number of features: (\d+)", "featgen_num_features", None, None),
    ("generating", _SECONDS, "featgen_seconds", "preparing", "featgen_end"),
    ("preparing", _HEAD, "num", "iterating", "prepared"),
    ("preparing", ".*terminated with error", None, "between", "prepare_error"),
    ("iterating", _HEAD, "num", None, None),
    ("iterating", "\n", None, "between", "iteration"),
    ("iterating", f"Loss: {_NUMBER}", "loss", None, None),
    ("iterating", f"Feature norm: {_NUMBER}", "feature_norm", None, None),
    ("iterating", f"Error norm: {_NUMBER}", "error_norm", None, None),
    ("iterating", f"Active features: {_NUMBER}", "active_features", None, None),
    ("iterating", f"Line search trials: {_NUMBER}", "linesearch_trials", None, None),
    ("iterating", f"Line search step: {_NUMBER}", "linesearch_step", None, None),
    (
        "iterating",
        f"Seconds required for this iteration: {_NUMBER}",
        "time",
        None,
        None,
    ),
    ("between", _HEAD, "num", "iterating", None),
    (
        "between",
        f"Total seconds required for training: {_NUMBER}",
        "training_seconds",
        None,
        None,
    ),
    ("between", "Storing the model", None, "storing", "optimization_end"),
    ("storing", "\n", None, None, "end"),
    ("storing", _SECONDS, "storing_seconds", None, None),
)
"""(state, how a message begins, what its number is, state afterwards, event)"""

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

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features = None
        self.featgen_seconds = self.training_seconds = self.storing_seconds = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: Any = None  # a dict, once there is one
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    @property
    def last_log(self) -> str:
        """The text of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def feed(self, line: str) -> str | None:
        """Read a message, and return the event that it ends, or None."""
        self.log.append(line)
        event = "start" if self.state is None else None
        self.state = self.state or "starting"
        event = self._read(line) or event
        if event is not None:
            start = self.events[-1][2] if self.events else 0
            end = len(self.log)
            # These two are known by the first line of what follows.
            self.events.append(
                (event, start, end - (event in ("prepared", "optimization_end")))
            )
        return event

    def _read(self, line: str) -> str | None:
        for state, pattern, figure, after, event in _NEXT:
            found = re.match(pattern, line) if state == self.state else None
            if found is None:
                continue
            if figure == "num":
                self.last_iteration = {"num": int(found[1]), "scores": {}}
                self.iterations.append(self.last_iteration)
            elif figure is not None:
                into = self.last_iteration if state == "iterating" else vars(self)
                into[figure] = int(found[1]) if found[1].isdigit() else float(found[1])
            self.featgen_percent += 2 * (event == "featgen_progress")
            self.state = after or state
            return event
        if self.state == "iterating":
            self._note(line)
        return None

    def _note(self, line: str) -> None:
        """Enter the scores of a line."""
        into = self.last_iteration
        if found := _MACRO.match(line):
            into.update(
                zip(
                    ("avg_precision", "avg_recall", "avg_f1"),
                    map(float, found.groups()),
                )
            )
        elif found := _ACCURACY.match(line):
            name = f"{found[1].lower()}_accuracy"
            share = Fraction(int(found[2]), int(found[3]))
            into.update({name: share, f"{name}_float": float(share)})
        elif found := _LABEL.match(line):
            name, *counts = found.groups()[:4]
            shares = [
                None if "*" in share else float(share) for share in found.groups()[4:]
            ]
            into["scores"][name] = LabelScore(*map(int, counts), *shares)
