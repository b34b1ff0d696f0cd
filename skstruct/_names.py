"""The public names, and the modules that define them: what is imported at its first
use.

``skstruct.NAME`` imports it, and ``saving`` finds the class of a saved estimator by it.
Nothing else is a table of classes: a name that a file holds is looked up here, never
imported as it stands. Pickles and files of skops name these modules: from the release
of 0.4.0 on one that moves leaves a module in its place that still has the name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

PUBLIC = {
    "BaggingShuffleAverager": "_shards.mixing.averager",
    "CalibratedTagger": "_taggers.calibrated_tagger",
    "FeatureTemplates": "features.templates",
    "KBestReranker": "_words.kbest_reranker",
    "L1CRF": "_crf.l1crf",
    "L1CRFCV": "_crf.l1crf_cv",
    "Lexicon": "_data.lexicon",
    "ModelFileError": "_saving.container",
    "NumericFeatures": "features.numeric",
    "PartialSpans": "_data.spans",
    "PartialWords": "_data.partial_words",
    "ParameterMixer": "_shards.mixing.mixer",
    "PassiveAggressiveTagger": "_taggers.perceptron",
    "Segmenter": "_taggers.segmenter",
    "SequenceMatrix": "_data.matrix",
    "ShiftReduceParser": "_parser.shift_reduce",
    "Span": "_data.spans",
    "SpanSets": "_taggers.span_sets",
    "SpanTagger": "_taggers.span_tagger",
    "StructuredPerceptron": "_taggers.perceptron",
    "WordSegmenter": "_words.word_segmenter",
    "load": "_saving.registry",
    "regularization_path": "_crf.path",
    "save": "_saving.pipelines",
    "warm_up": "_warming",
    **{
        room: room
        for room in (
            "compat",
            "datasets",
            "features",
            "inspection",
            "interchange",
            "metrics",
            "schemes",
            "serving",
        )
    },
}
"""Name -> the module that defines it, or that it is."""


def lazy(
    package: str, names: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package whose names are
    imported at their first use.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : dict of str to str
        As :data:`PUBLIC`: modules in the package, or above it, with dots in front as in
        an import.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        where = names[name]
        above = where.startswith("..")
        module = importlib.import_module(where if above else f".{where}", package)
        return module if where == name else getattr(module, name)

    def listed() -> list[str]:
        """List public names; modules imported on the way are not for completion."""
        mine = vars(importlib.import_module(package))
        return sorted({*names, *(name for name in mine if name.startswith("__"))})

    return find, listed
