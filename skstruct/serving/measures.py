"""The counters of a service: requests, errors, seconds, and what models were asked and
said.

``prometheus_client`` counts, and writes the numbers in Prometheus' text format. Where
the environment names a folder in ``PROMETHEUS_MULTIPROC_DIR``, the worker processes of
a service share their numbers there, and each of them answers with those of all.

Two of the numbers tell that texts have changed since a model was trained: the share of
words that it does not know, and how sure it is.

References
----------
Prometheus, "Exposition formats", https://prometheus.io/docs/instrumenting.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.elements import word_of
from .._data.inputs import LABELS, SPANS, WORDS
from .._data.text import tokenized
from .._sklearn import final_step, innermost

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

KIND = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of the format."""

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of the environment that names the folder of several processes."""

MISSING = 'numbers need prometheus_client: pip install "skstruct[serve]" installs it'

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds up to which requests are counted."""

_COUNTERS = {
    "requests": ("Requests by path and status.", ("path", "status")),
    "errors": ("Requests that were refused or failed, by path.", ("path",)),
    "texts": ("Texts or sequences that a model was asked about.", ("model",)),
    "characters": ("Characters of these.", ("model",)),
    "labels": ("Spans, words or labels given, by label.", ("model", "label")),
    "words": ("Words of which it is known whether training had them.", ("model",)),
    "unknown_words": ("Those that training did not have.", ("model",)),
    "confidence_sum": ("Sum of the probabilities given.", ("model",)),
    "confidences": ("Number of the probabilities given.", ("model",)),
}
"""Sentence and labels of each counter, by its name without prefix and ``_total``."""

_RATIOS = {
    "unknown_words_share": (
        "Share of unknown words since the start.",
        "unknown_words",
        "words",
    ),
    "confidence_mean": (
        "Mean of the probabilities given since the start.",
        "confidence_sum",
        "confidences",
    ),
}
"""Sentence of each ratio, and the two counters that it divides."""

_ALONE = (
    f"# These are the numbers of one process. Where a service has several, "
    f"{FOLDER} names a folder for the numbers of all.\n"
)


class Asked(NamedTuple):
    """The numbers of a request and its answer, without its content."""

    texts: int = 0
    characters: int = 0


class Measures:
    """The numbers of a service; threads may share it.

    Without ``prometheus_client`` nothing is counted.

    Parameters
    ----------
    models : dict of str to estimator
    about : dict of str to dict
        What is known of each model, such as its version and date.

    Attributes
    ----------
    counts : bool
        Whether ``prometheus_client`` is there.
    """

    def __init__(
        self, models: Mapping[str, Any], about: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._known: dict[str, frozenset[str] | None] = {}
        self._info = [
            {"model": name, **{k: str(v) for k, v in about[name].items()}}
            for name in models
        ]
        self._folder = os.environ.get(FOLDER) or None
        if self._folder is not None:
            os.makedirs(self._folder, exist_ok=True)
        try:
            import prometheus_client
        except ImportError:
            self.counts = False
            return
        self.counts = True
        self._registry = prometheus_client.CollectorRegistry()
        self._counters = {
            name: prometheus_client.Counter(
                f"skstruct_{name}", sentence, labels, registry=self._registry
            )
            for name, (sentence, labels) in _COUNTERS.items()
        }
        self._seconds = prometheus_client.Histogram(
            "skstruct_request_seconds",
            "Seconds that answers took, by path.",
            ("path",),
            registry=self._registry,
            buckets=BUCKETS,
        )

    def add(self, name: str, value: float, **labels: str) -> None:
        """Add to a counter."""
        # What stands for bytes that are not UTF-8 cannot be written.
        written = {k: _printable(v) for k, v in labels.items()}
        self._counters[name].labels(**written).inc(value)

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        if not self.counts:
            return
        self.add("requests", 1, path=path, status=str(status))
        self.add("errors", int(status >= 400), path=path)
        self._seconds.labels(path=_printable(path)).observe(seconds)

    def answer(self, name: str, model: Any, X: Any, y: Any, kbest: bool) -> Asked:
        """Count the inputs and outputs of a request, and return their numbers.

        ``kbest`` tells that ``y`` holds ranked predictions, of which the first counts.
        """
        asked = Asked(len(X), _n_characters(X))
        if not self.counts:
            return asked
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
            self.add("labels", n, model=name, label=label)
        if probabilities:
            self.add("confidence_sum", sum(probabilities), model=name)
            self.add("confidences", len(probabilities), model=name)
        words = _words_of(last, task, seen)
        known = self._words_of_training(name, last)
        if known is not None and words is not None:
            self.add("words", len(words), model=name)
            unknown = sum(word not in known for word in words)
            self.add("unknown_words", unknown, model=name)
        self.add("texts", asked.texts, model=name)
        self.add("characters", asked.characters, model=name)
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

    def collect(self) -> Iterator[Metric]:
        """Yield all numbers: a collector of ``prometheus_client``."""
        from prometheus_client import CollectorRegistry
        from prometheus_client.metrics_core import GaugeMetricFamily
        from prometheus_client.multiprocess import MultiProcessCollector

        source = self._registry
        if self._folder is not None:
            source = CollectorRegistry()
            MultiProcessCollector(source, self._folder)
        values: dict[str, dict[str, float]] = {}
        for family in source.collect():
            # The time at which counting began would double the numbers.
            family.samples = [
                each for each in family.samples if not each.name.endswith("_created")
            ]
            if not family.samples:
                continue
            yield family
            name = family.name.removeprefix("skstruct_")
            if _COUNTERS.get(name, ("", ()))[1] == ("model",):
                values[name] = {
                    each.labels["model"]: each.value for each in family.samples
                }
        for name, (sentence, part, whole) in _RATIOS.items():
            ratio = GaugeMetricFamily(f"skstruct_{name}", sentence, labels=["model"])
            for model, n in values.get(whole, {}).items():
                if n:
                    ratio.add_metric([model], values.get(part, {}).get(model, 0.0) / n)
            if ratio.samples:
                yield ratio
        info = GaugeMetricFamily(
            "skstruct_model_info", "Which models are served; always 1."
        )
        for labels in self._info:
            written = {k: _printable(v) for k, v in labels.items()}
            info.add_sample("skstruct_model_info", written, 1.0)
        yield info

    def text(self) -> str:
        """Write all numbers in the format of Prometheus; needs `counts`."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(self)
        numbers = generate_latest(registry).decode()
        return numbers if self._folder is not None else _ALONE + numbers


def _printable(text: str) -> str:
    """Return a text that can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode()


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
