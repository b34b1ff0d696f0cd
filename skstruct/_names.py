"""The public names, and the modules that define them: what is imported at its first
use.

``skstruct.NAME`` imports it, and ``saving`` finds the class of a saved estimator by it.
Nothing else is a table of classes: a name that a file holds is looked up here, never
imported as it stands.
"""

import importlib

PUBLIC = {
    "BaggingShuffleAverager": "mixing.averager",
    "CalibratedTagger": "taggers.calibrated_tagger",
    "FeatureTemplates": "features.templates",
    "KBestReranker": "reranker.kbest_reranker",
    "L1CRF": "crf.l1crf",
    "L1CRFCV": "crf.l1crf_cv",
    "NumericFeatures": "features.numeric",
    "PartialSpans": "data.spans",
    "ParameterMixer": "mixing.mixer",
    "PassiveAggressiveTagger": "taggers.perceptron",
    "Segmenter": "taggers.segmenter",
    "SequenceMatrix": "data.matrix",
    "ShiftReduceParser": "parser.shift_reduce",
    "Span": "data.spans",
    "SpanSets": "taggers.span_sets",
    "SpanTagger": "taggers.span_tagger",
    "StructuredPerceptron": "taggers.perceptron",
    "WordSegmenter": "words.word_segmenter",
    "load": "saving.registry",
    "regularization_path": "crf.path",
    "save": "saving.pipelines",
    "warm_up": "_warming",
    **{
        room: room
        for room in (
            "datasets",
            "features",
            "inspection",
            "interchange",
            "metrics",
            "serving",
        )
    },
}
"""Name -> the module that defines it, or that it is."""


def lazy(package, names):
    """The functions ``__getattr__`` and ``__dir__`` of a package whose names are
    imported at their first use.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : dict of str to str
        As :data:`PUBLIC`, of modules in the package.
    """

    def find(name):
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{names[name]}")
        return module if names[name] == name else getattr(module, name)

    def listed():
        return sorted({*vars(importlib.import_module(package)), *names})

    return find, listed
