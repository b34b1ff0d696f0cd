"""What a service counts, in Prometheus' text format: requests, errors, seconds, and
what models were asked and said.

Two of the numbers tell that texts have changed since a model was trained: the share of
words that it does not know, and how sure it is.

References
----------
Prometheus, "Exposition formats", https://prometheus.io/docs/instrumenting.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .._data.inputs import LABELS, SPANS, WORDS
from .._data.text import tokenized
from .._sklearn import final_step, innermost
from ..inspection.explain_taggers import word_of

KIND = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of the format."""

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds up to which requests are counted."""

_HELP = {
    "requests_total": ("counter", "Requests by path and status."),
    "errors_total": ("counter", "Requests that were refused or failed, by path."),
    "texts_total": ("counter", "Texts or sequences that a model was asked about."),
    "characters_total": ("counter", "Characters of these."),
    "labels_total": ("counter", "Spans, words or labels given, by label."),
    "words_total": ("counter", "Words of which it is known whether training had them."),
    "unknown_words_total": ("counter", "Those that training did not have."),
    "unknown_words_share": ("gauge", "Share of unknown words since the start."),
    "confidence_sum_total": ("counter", "Sum of the probabilities given."),
    "confidences_total": ("counter", "Number of the probabilities given."),
    "confidence_mean": ("gauge", "Mean of the probabilities given since the start."),
    "model_info": ("gauge", "Which models are served; always 1."),
}
"""Type and sentence of each number, by its name without the prefix."""

Labelled = tuple[tuple[str, str], ...]


class Asked(NamedTuple):
    """What a request asked for and got, in numbers; nothing of its content."""

    texts: int = 0
    characters: int = 0


class Measures:
    """The numbers of a service; threads may share it.

    Parameters
    ----------
    models : dict of str to estimator
    about : dict of str to dict
        What is known of each model, such as its version and date.
    """

    def __init__(
        self, models: Mapping[str, Any], about: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, frozenset[str] | None] = {}
        self._numbers: dict[str, Counter[Labelled]] = {
            name: Counter() for name in _HELP
        }
        self._seconds: dict[str, list[float]] = {}
        for name in models:
            of_model = {"model": name, **{k: str(v) for k, v in about[name].items()}}
            self._numbers["model_info"][tuple(of_model.items())] = 1

    def add(self, name: str, value: float, **labels: str) -> None:
        """Add to a number."""
        with self._lock:
            self._numbers[name][tuple(labels.items())] += value  # type: ignore[assignment]

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.add("requests_total", 1, path=path, status=str(status))
        self.add("errors_total", int(status >= 400), path=path)
        with self._lock:
            found = self._seconds.setdefault(path, [0.0] * (len(BUCKETS) + 2))
            found[bisect_left(BUCKETS, seconds)] += 1
            found[-1] += seconds

    def answer(self, name: str, model: Any, X: Any, y: Any, kbest: bool) -> Asked:
        """Count what a model was asked and said; returns how much it was.

        ``kbest`` tells that ``y`` holds ranked predictions, of which the first counts.
        """
        last, seen = final_step(model, X)
        task = getattr(getattr(last, "inputs", None), "task", None)
        labels: Counter[str] = Counter()
        probabilities = []
        for row in y:
            for item in (row[0][0] if row else ()) if kbest else row:
                item, p = _parted(item)
                label = _label_of(task, item)
                if label is not None:
                    labels[label] += 1
                if p is not None:
                    probabilities.append(p)
        for label, n in labels.items():
            self.add("labels_total", n, model=name, label=label)
        if probabilities:
            self.add("confidence_sum_total", sum(probabilities), model=name)
            self.add("confidences_total", len(probabilities), model=name)
        words = _words_of(last, task, seen)
        known = self._words_of_training(name, last)
        if known is not None and words is not None:
            self.add("words_total", len(words), model=name)
            unknown = sum(word not in known for word in words)
            self.add("unknown_words_total", unknown, model=name)
        asked = Asked(len(X), _n_characters(X))
        self.add("texts_total", asked.texts, model=name)
        self.add("characters_total", asked.characters, model=name)
        return asked

    def _words_of_training(self, name: str, model: Any) -> frozenset[str] | None:
        """Return the words that a model has learned from, asked once."""
        if name not in self._known:
            inner = innermost(model).estimator
            if getattr(inner, "tokenizer", None) == "words":
                inner = innermost(inner.tagger_).estimator
            state = getattr(inner, "_model", None)
            self._known[name] = None if state is None else state.words_of_training()
        return self._known[name]

    def text(self) -> str:
        """Write all numbers in the format of Prometheus."""
        with self._lock:
            numbers = {name: dict(found) for name, found in self._numbers.items()}
            seconds = {path: list(found) for path, found in self._seconds.items()}
        _share(numbers, "unknown_words_share", "unknown_words_total", "words_total")
        _share(numbers, "confidence_mean", "confidence_sum_total", "confidences_total")
        lines = []
        for name, (kind, sentence) in _HELP.items():
            if numbers[name]:
                lines += _opened(name, kind, sentence)
                lines += [
                    f"skstruct_{name}{_written(labels)} {value:.10g}"
                    for labels, value in numbers[name].items()
                ]
        if seconds:
            lines += _opened(
                "request_seconds", "histogram", "Seconds that answers took, by path."
            )
        for path, found in seconds.items():
            total = 0.0
            for limit, n in zip([*map(str, BUCKETS), "+Inf"], found):
                total += n
                of_path = _written((("path", path), ("le", limit)))
                lines.append(f"skstruct_request_seconds_bucket{of_path} {total:.10g}")
            of_path = _written((("path", path),))
            lines.append(f"skstruct_request_seconds_sum{of_path} {found[-1]:.10g}")
            lines.append(f"skstruct_request_seconds_count{of_path} {total:.10g}")
        return "\n".join(lines) + "\n"


def _opened(name: str, kind: str, sentence: str) -> list[str]:
    return [f"# HELP skstruct_{name} {sentence}", f"# TYPE skstruct_{name} {kind}"]


def _share(numbers: dict[str, Any], name: str, part: str, whole: str) -> None:
    """Add the ratio of two numbers."""
    numbers[name] = {
        labels: numbers[part].get(labels, 0) / n
        for labels, n in numbers[whole].items()
        if n
    }


def _written(labels: Labelled) -> str:
    """Write the labels of a number, escaped as the format asks."""
    if not labels:
        return ""
    parts = []
    for name, value in labels:
        value = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
        parts.append(f'{name}="{value}"')
    return f"{{{','.join(parts)}}}"


def _parted(item: Any) -> tuple[Any, float | None]:
    """Return what a model gave, and its probability if that stands beside it."""
    if (
        isinstance(item, (tuple, list))
        and len(item) == 2
        and isinstance(item[1], float)
    ):
        return item[0], item[1]
    return item, None


def _label_of(task: str | None, item: Any) -> str | None:
    """Return the label of a span, word or token; None where it begins nothing."""
    if task == SPANS:
        return str(item[2])
    if task == WORDS:
        return "word" if isinstance(item, str) else str(item[-1])
    if task != LABELS:
        return None
    text = str(item)
    prefix, dash, kind = text.partition("-")
    if dash and kind and prefix in ("B", "I", "E", "L", "M", "S", "U"):
        return kind if prefix in ("B", "S", "U") else None
    return None if text == "O" else text


def _words_of(model: Any, task: str | None, X: Any) -> list[str] | None:
    """Return the words that a model reads; None if it reads none."""
    if task == SPANS:
        tokenizer = getattr(innermost(model).estimator, "tokenizer", None)
        if tokenizer != "words":
            return None
        return tokenized(list(X), tokenizer).words(layout=False)
    if task == WORDS or any(isinstance(x, str) for x in X):
        return None
    return [word_of(token) for x in X for token in x]


def _n_characters(X: Iterable[Any]) -> int:
    """Count characters of texts, or of the words of sequences."""
    return sum(
        len(x) if isinstance(x, str) else sum(len(word_of(token)) for token in x)
        for x in X
        if hasattr(x, "__len__")
    )
