"""The public names, and the modules that define them: what is imported at its first use.

``skstruct.NAME`` imports it, and ``saving`` finds the class of a saved estimator by it. Nothing else is a
table of classes: a name that a file holds is looked up here, never imported as it stands.
"""

import importlib

PUBLIC = {
    "BaggingShuffleAverager": "mixing.averager",
    "CalibratedTagger": "calibration.tagger",
    "FeatureTemplates": "features.templates",
    "KBestReranker": "reranker.estimator",
    "L1CRF": "crf.estimator",
    "L1CRFCV": "crf.search",
    "NumericFeatures": "features.numeric",
    "ParameterMixer": "mixing.mixer",
    "PassiveAggressiveTagger": "chain.passive_aggressive",
    "Segmenter": "chain.segmenter",
    "SequenceMatrix": "data.matrix",
    "ShiftReduceParser": "parser.estimator",
    "Span": "data.spans",
    "SpanTagger": "chain.span_tagger",
    "StructuredPerceptron": "chain.perceptron",
    "WordSegmenter": "words.estimator",
    "datasets": "datasets",
    "features": "features",
    "inspection": "inspection",
    "interchange": "interchange",
    "load": "saving.registry",
    "metrics": "metrics",
    "regularization_path": "crf.path",
    "warm_up": "_warming",
}
"""Name -> the module that defines it, or that it is."""


def lazy(package, names):
    """The functions ``__getattr__`` and ``__dir__`` of a package whose names are imported at their first use.

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
