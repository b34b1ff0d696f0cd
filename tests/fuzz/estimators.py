"""Random taggers: features and parameters."""

from skstruct import (
    L1CRF,
    FeatureTemplates,
    NumericFeatures,
    PassiveAggressiveTagger,
    StructuredPerceptron,
)
from skstruct._core.codes import PENALTIES
from skstruct.features.patterns import Patterns

from .corpora import NUMBERS

LEXICON = FeatureTemplates(
    ["U0:%lex_place[0,0]", "U1:%x[0,0]", "B"], lexicons={"place": ["wa", "xb", "yc zd"]}
)

FEATURES = {
    "str": [
        "auto", "word", "word-best", "collins", LEXICON,
        ["B"], ["U0", "B"], ["U0:%x[0,0]"], ["U0:%x[0,0]", "B"], ["U0:%x[0,0]", "B", "B1:%x[0,0]"],
        ["U0:%x[-3,0]", "U1:%x[2,0]/%x[0,0]/%x[-1,0]", "B"], ["B1:%x[0,0]", "U0:%x[0,0]"],
        ["U:%x[0,0]", "U:%x[-1,0]", "U:%x[1,0]", "B"],
        ["U0:%suffix3[0,0]", "U1:%prefix1[1,0]", "U2:%shape[0,0]/%type[0,0]", "U3:%av2[0,0]", "B"],
        Patterns(["U0:%x[0,0]", "U0:%x[-1,0]", "U:%x[1,0]/%x[0,0]", "B"]),
        Patterns(["U0:%x[0,0]", "B1:%x[0,0]", "B"]),
        Patterns(["u:%x[0,0]", 'u:%m[-1,0,".?$"]', '*:%t[1,0,"w"]', "b:%X[0,0]", "b"], "wapiti"),
    ],
    "char": ["auto", "char", "char-av", "char-best", ["U0:%x[0,0]", "U1:%av3[0,0]", "B"]],
    "tuple": [
        "auto", "word-tag", "chunk", "chunk-best", ["U0:%x[0,0]/%x[0,1]", "U1:%x[-1,1]", "B"],
        ["U0:%x[0,0]", "B", "B1:%x[0,1]", "B2:%x[-1,1]/%x[0,1]"],
        Patterns(["U0:%x[0,0]/%x[0,1]", "B:%x[0,1]", "B"]),
        Patterns(["u:%x[@1,0]/%x[0,1]", "*:1=%X[-1,0]/%x[0,1]", "b"], "wapiti"),
    ],
    "tuple3": [
        "auto", ["U0:%x[0,0]", "U1:%x[0,1]/%x[0,2]", "B"], ["U1:%x[1,2]", "B0:%x[0,2]", "B"],
        Patterns(["U1:%x[1,2]/%x[-8,0]", "U:%x[0,1]", "B"]),
    ],
    "frame": ["auto", ["U0:%x[0,0]", "U1:%x[-1,1]", "B"], ["U0:%x[0,0]", "B1:%x[0,1]"]],
}  # fmt: skip


def features(draw, kind):
    """What ``features=`` may be for tokens of a kind."""
    found = "auto"
    if kind in NUMBERS and draw.chance(0.5):
        window = draw.one((0, 0), (-1, 1), (-2, 0), (0, 3))
        found = NumericFeatures(draw.chance(0.5), draw.one("auto", 1.0, 0.1), window)
    elif kind in FEATURES:
        found = draw.one(*FEATURES[kind])
    draw.note(features=str(found))
    return found


def constraints(draw, corpus):
    """A scheme, or pairs that the corpus has and others; seldom, since they take
    time.
    """
    if corpus.scheme:
        return draw.one(corpus.scheme, corpus.scheme, None)
    labels = corpus.labels
    if draw.chance(0.8) or len(labels) > 40:
        return None
    draw.note(constraints="pairs")
    more = {(draw.one(*labels), draw.one(*labels)) for _ in labels}
    return sorted(
        corpus.pairs() | more | {(None, labels[0]), (labels[0], None)}, key=repr
    )


def online_parameters(draw):
    """Of the learners that go example by example."""
    found = {
        "max_iter": draw.int(1, 3),
        "shuffle": draw.chance(0.7),
        "penalty": draw.one(None, *PENALTIES),
        "alpha": draw.one(1e-6, 1e-3, 0.2, 0.0),
        "dropout": draw.one(0.0, 0.0, 0.2, 0.9),
        "feature_noise": draw.one(None, None, "dropout", "zipf"),
        "edge_noise": draw.one(None, None, "same", "dropout", "zipf"),
        "noise_rate": draw.one(0.1, 0.5),
        "zipf_exponent": draw.one(1.1, 3.0),
        "random_state": draw.int(0, 999),
        "warm_start": draw.chance(0.2),
        "n_jobs": draw.one(None, 1, 2),
    }
    if draw.chance(0.25):
        share = draw.one(0.1, 0.4)
        found |= {
            "early_stopping": True,
            "n_iter_no_change": 1,
            "validation_fraction": share,
        }
    return found


def crf_parameters(draw, most=6):
    """Of L1CRF, whose fit takes ``most`` passes."""
    return {
        "solver": draw.one("two-stage", "owlqn", "sgd"),
        "c1": draw.one(0.0, 0.01, 0.3, 1.0, 20.0),
        "c2": draw.one(0.0, 0.0, 0.01, 1.0),
        "all_pairs": draw.one(True, False, "states", "transitions"),
        "max_iter": draw.int(1, most),
        "sgd_iter": draw.int(1, 2),
        "line_search": draw.chance(0.2),
        "max_trials": draw.one(1, 3),
        "memory": draw.one(1, 5, 80),
        "tol": draw.one(0.0, 2e-4),
        "random_state": draw.int(0, 999),
        "warm_start": draw.chance(0.2),
        "n_jobs": draw.one(None, 1, 2),
    }


LEARNERS = {
    "perceptron": StructuredPerceptron,
    "pa": PassiveAggressiveTagger,
    "crf": L1CRF,
}


def tagger(draw, corpus, learner=None, orders=(1, 1, 2)):
    """An estimator for a corpus."""
    learner = learner or draw.one(*LEARNERS)
    found = {
        "features": features(draw, corpus.kind),
        "constraints": constraints(draw, corpus),
    }
    if corpus.kind not in NUMBERS and draw.chance(0.2):
        found["min_count"] = draw.one(2, 3, 50)
    if draw.chance(0.2):
        found["class_weight"] = draw.one(
            "balanced", {corpus.labels[0]: draw.one(0.5, 5.0)}
        )
    if learner == "crf":
        found |= crf_parameters(draw)
    else:
        found |= online_parameters(draw)
        found["order"] = 1 if len(corpus.labels) > 40 else draw.one(*orders)
        found["average"] = draw.chance(0.8)
    if learner == "pa":
        found["average"] = draw.one("step", "epoch", None)
        found |= {
            "C": draw.one(1.0, 0.01, 100.0),
            "variant": draw.one("PA", "PA-I", "PA-II"),
        }
        found["cost"] = draw.one("one", "hamming")
    draw.note(
        learner=learner,
        **{k: v for k, v in found.items() if k not in ("features", "constraints")},
    )
    return LEARNERS[learner](**found)


def plain_tagger(draw, corpus, *learners, orders=(1, 2)):
    """An estimator for others to take, without what these set themselves."""
    return tagger(draw, corpus, draw.one(*(learners or LEARNERS)), orders).set_params(
        warm_start=False, n_jobs=None
    )
