"""What a model lacks, and why: the error that a user gets."""

from fnmatch import fnmatch

from model_cases import ALL_CASES

from .cell import Refused

ABSENT = AttributeError, "has no attribute"
NO_ARGUMENT = TypeError, "unexpected keyword argument"
COLUMNS_ONLY = (
    Refused,
    "dicts or lists of features, which the command line cannot; use it in Python",
)
NO_NUMBERS = Refused, "rows of numbers, which the command line cannot; use it in Python"
NO_STEPS = (
    Refused,
    "models of train -a perceptron, and of train without -a, go on|use it in Python",
)
NOT_A_TAGGER = TypeError, "needs a tagger whose scores are sums over a chain"
NO_SCORES = (
    TypeError,
    "needs a tagger whose scores are sums over a chain|which predicts sets of spans",
)
NOT_A_CHAIN = TypeError, "a chain tagger.* is needed, got a"
NOT_ONE_MODEL = ValueError, "cannot be used by"

SEGMENTERS = "segmenter segmenter-*"
OF_WORDS = "word-segmenter averager-word-segmenter mixer-word-segmenter"
MIXED = "mixer-segmenter mixer-spans mixer-reranker"
SPAN_TAGGERS = "spans spans-* sets"
OTHERS = " ".join(name for name in ALL_CASES if not name.startswith("spans"))
ONE_PARSER = "parser parser-columns"
PARSERS = f"{ONE_PARSER} averager-parser mixer-parser mixer-parser-columns"
RERANKERS = "reranker reranker-*"
MEMBERS = "averager averager-*"
SHARDS = "mixer mixer-*"
CALIBRATED = "calibrated calibrated-*"
PLAIN_TAGGERS = f"perceptron perceptron-* passive-aggressive passive-aggressive-* l1crf l1crf-* {CALIBRATED}"
TAGGERS = f"{PLAIN_TAGGERS} averager averager-l1crf* averager-passive-aggressive mixer mixer-passive-aggressive"
ONLINE_TAGGERS = "perceptron perceptron-* passive-aggressive passive-aggressive-*"
WITHOUT_MARGINALS = (
    f"{ONLINE_TAGGERS} {SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS} {OF_WORDS} {SHARDS}"
    " averager averager-passive-aggressive"
)
WITHOUT_PROBABILITIES = (
    f"{ONLINE_TAGGERS} {PARSERS} {RERANKERS} {OF_WORDS} {SHARDS} averager averager-passive-aggressive"
    " segmenter segmenter-mixer segmenter-passive-aggressive segmenter-reranker segmenter-averager"
    " segmenter-default"
    " spans spans-mixer spans-passive-aggressive spans-reranker spans-averager spans-text spans-default spans-by-type"
)
NO_PROBABILITIES = (
    Refused,
    "has no probabilities|keeps no other analyses|--sets writes them",
)
NOT_FOR_TOKENS = {
    f"{SEGMENTERS} {OF_WORDS} mixer-segmenter reranker-segmenter reranker-word-segmenter":
        (ValueError, "takes text, not a list"),
    f"{SPAN_TAGGERS} mixer-spans": (ValueError, r"expected a text \(str\), got list"),
    PARSERS: (ValueError, r"expected a pair \(form, tag\)"),
    "perceptron-pairs perceptron-frames l1crf-patterns":
        (ValueError, "the templates read column 1, but the tokens are plain strings"),
}  # fmt: skip
"""What does not learn labels of tokens that are str."""

NOT_INSIDE = {
    f"{SEGMENTERS} word-segmenter {SPAN_TAGGERS} {ONE_PARSER}":
        (TypeError, "must label tokens, as in .* does not"),
    **NOT_FOR_TOKENS,
}  # fmt: skip
"""What is no tagger inside of a ``Segmenter`` or ``SpanTagger``."""

UNLABELLED = (
    f"sets {PARSERS} {RERANKERS} {OF_WORDS} {MIXED} segmenter-reranker spans-reranker"
)
"""What labels no tokens by itself."""

SEVERAL_CHAINS = (
    ValueError,
    "2 chains of labels .* give its tagger_, or one of its chains_",
)

OFFERING = (
    "spans-l1crf",
    "spans-by-type-l1crf",
    "spans-l1crf-search",
    "spans-calibrated",
    "spans-averager-l1crf",
)
NOT_SETS = " ".join(name for name in ALL_CASES if name != "sets")


def tags_tokens(name):
    """Whether a model is a tagger itself, where others hold one."""
    return any(fnmatch(name, row) for row in PLAIN_TAGGERS.split())


LACKS = {
    "offer": {" ".join(name for name in ALL_CASES if name not in OFFERING): (TypeError, "SpanSets needs a")},
    "predict_sets": {NOT_SETS: ABSENT},
    "predict_sure": {NOT_SETS: ABSENT},
    "fit_with_X_val": {
        "segmenter-l1crf-search spans-l1crf-search": (ValueError, "X_val: the fit of the tagger, a L1CRFCV"),
        "l1crf-search calibrated-l1crf-search sets": NO_ARGUMENT,
    },
    "fit_with_sets": {
        f"{SPAN_TAGGERS} mixer-spans": (ValueError, "sequence 0, position 0: .*set"),
        f"{SEGMENTERS} {OF_WORDS} mixer-segmenter reranker-segmenter reranker-word-segmenter {PARSERS}":
            (ValueError, "sequence 0.*got .*set"),
    },
    "tokens": {OTHERS: ABSENT},
    "alignment_report": {OTHERS: ABSENT},
    "partial_fit": {"sets spans-l1crf* spans-by-type-l1crf spans-averager-l1crf* spans-calibrated spans-mixer spans-reranker": ABSENT,
                    f"l1crf l1crf-* averager-l1crf* {CALIBRATED} {SHARDS} {RERANKERS} segmenter-l1crf*"
                    " segmenter-averager-l1crf* segmenter-calibrated segmenter-mixer segmenter-reranker": ABSENT},
    "update": {"sets spans-l1crf* spans-by-type-l1crf spans-averager-l1crf* spans-calibrated spans-mixer spans-reranker": NO_STEPS,
                    f"l1crf l1crf-* averager-l1crf* {CALIBRATED} {SHARDS} {RERANKERS} segmenter-l1crf*"
                    " segmenter-averager-l1crf* segmenter-calibrated segmenter-mixer segmenter-reranker": NO_STEPS,
               "segmenter segmenter-*": (Refused, "a segmenter and reads text, not word-tag"),
               "*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "forgetting": {"sets spans-l1crf* spans-by-type-l1crf spans-averager-l1crf* spans-calibrated spans-mixer spans-reranker": ABSENT,
                    f"l1crf l1crf-* averager-l1crf* {CALIBRATED} {SHARDS} {RERANKERS} segmenter-l1crf*"
                    " segmenter-averager-l1crf* segmenter-calibrated segmenter-mixer segmenter-reranker": ABSENT},
    "fit_shards": {
        f"{ONLINE_TAGGERS} {CALIBRATED} {SEGMENTERS} {SPAN_TAGGERS} {MEMBERS} {RERANKERS} {ONE_PARSER}"
        " word-segmenter l1crf-search": ABSENT,
        "mixer-reranker": (ValueError, r"KBestReranker cannot learn from shards .*fit\(X, y\)"),
    },
    "adapt": {
        f"{PARSERS} {RERANKERS} {OF_WORDS} mixer-reranker segmenter-reranker": ABSENT,
        f"{SPAN_TAGGERS} mixer-spans": ABSENT,
    },
    # A model that is itself an average, or two models, has no weights of its own to
    # average.
    "average": {f"{SEGMENTERS} {SPAN_TAGGERS} {CALIBRATED} {MEMBERS} {SHARDS} {RERANKERS}": NOT_ONE_MODEL},
    # Only what learns example by example can be mixed after an epoch.
    "mix": {"spans-by-type": (ValueError, "put what mixes models inside of it"),
            "sets spans-l1crf* spans-by-type-l1crf spans-averager* spans-calibrated spans-mixer": NOT_ONE_MODEL,
            f"l1crf l1crf-* segmenter-l1crf* segmenter-averager* segmenter-calibrated segmenter-mixer"
            f" {CALIBRATED} {MEMBERS} {SHARDS}": NOT_ONE_MODEL},
    "rerank": {
        f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker {SPAN_TAGGERS} mixer-spans":
            (ValueError, "base must be .* with predict_kbest|has no predict_kbest"),
    },
    "segment": NOT_INSIDE,
    "spans": NOT_INSIDE,
    "constraints": {f"{PARSERS} {OF_WORDS} reranker-word-segmenter": ABSENT},
    "predict_kbest": {f"sets {RERANKERS} segmenter-reranker spans-reranker mixer-reranker": ABSENT},
    "predict_marginals": {WITHOUT_MARGINALS: ABSENT},
    "predict_posterior": {WITHOUT_MARGINALS: ABSENT},
    "sequence_log_proba": {WITHOUT_MARGINALS: ABSENT},
    "predict_segment_proba": {f"sets {WITHOUT_PROBABILITIES}": ABSENT},
    "tag_proba": {"*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS,
                  f"sets {WITHOUT_PROBABILITIES}": NO_PROBABILITIES},
    "calibrate": {f"{SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {OF_WORDS} {RERANKERS} {CALIBRATED} {MIXED}":
                  NOT_A_TAGGER},
    "encode": {" ".join(name for name in ALL_CASES if not tags_tokens(name)): ABSENT},
    "decision_function": {f"{SEGMENTERS} mixer-segmenter {SPAN_TAGGERS} mixer-spans": ABSENT},
    "member_scores": {f"{PLAIN_TAGGERS} {SEGMENTERS} {SPAN_TAGGERS} {SHARDS} {RERANKERS} {ONE_PARSER}"
                      " word-segmenter": ABSENT},
    "allowed": {f"{SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS} {OF_WORDS} {MIXED}": NO_ARGUMENT},
    "dictionary": {f"{TAGGERS} {SPAN_TAGGERS} mixer-spans mixer-reranker {PARSERS} {RERANKERS}": NO_ARGUMENT},
    "known": {
        f"{TAGGERS} {SEGMENTERS} mixer-segmenter mixer-reranker {PARSERS} {RERANKERS} {OF_WORDS} sets": NO_ARGUMENT,
        "spans-reranker": (ValueError, "does not support known spans: its tagger, a KBestReranker"),
    },
    "min_proba": {
        f"{TAGGERS} {SEGMENTERS} mixer-segmenter mixer-reranker {PARSERS} {RERANKERS} {OF_WORDS} sets": NO_ARGUMENT,
        f"{WITHOUT_PROBABILITIES} mixer-spans": (ValueError, "min_proba needs probabilities: .* has no probabilities"),
    },
    "boundaries": {f"{TAGGERS} {MIXED} {SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS}": NO_ARGUMENT},
    "tag": {"*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "evaluate": {"*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "convert": {
        "perceptron-order2 perceptron-order2-rows calibrated-order2": (Refused, "no place for .*order=2"),
        "*-rows *-frames": (Refused, "no place for (features of tokens of type ndarray|.*order=2)"),
        "l1crf-patterns": (Refused, "no place for transitions conditioned on the input"),
        f"{SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS} {MIXED} {OF_WORDS}":
            (Refused, "a chain tagger is needed, got a"),
    },
    "out_of_fold_marginals": {UNLABELLED: NO_SCORES,
                              "spans-by-type*": (ValueError, "tagger_ and those of chains_ have them")},
    "label_issues": {UNLABELLED: NO_SCORES},
    "thresholds_for": {
        f"{TAGGERS} {SEGMENTERS} {MIXED} {PARSERS} {RERANKERS} {OF_WORDS} sets":
            (TypeError, "thresholds_for needs a SpanTagger, got a"),
        "spans-reranker": NO_SCORES,
    },
    "select": {
        f"{PARSERS} {RERANKERS} mixer-reranker {OF_WORDS}":
            (TypeError, "a tagger, a Segmenter or a SpanTagger is needed"),
        f"{WITHOUT_PROBABILITIES} mixer-segmenter mixer-spans":
            (TypeError, "a model that knows probabilities"),
    },
    "select_by_margin": {f"sets {RERANKERS} segmenter-reranker spans-reranker mixer-reranker": ABSENT},
    "report_page": {"*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "select_lines": {"*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "serve": {"*-frames": (ValueError, "sequence")},
    "transition_weights":
        {"spans-by-type*": SEVERAL_CHAINS,
         f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker spans-reranker {OF_WORDS}": NOT_A_CHAIN},
    "coefficients": {
        "spans-by-type*": SEVERAL_CHAINS,
        f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker spans-reranker {OF_WORDS}": NOT_A_CHAIN,
        "*-frames": (TypeError, "coefficients needs a tagger trained on rows of numbers"),
        f"{SEGMENTERS} mixer-segmenter {SPAN_TAGGERS} mixer-spans perceptron perceptron-order2"
        " passive-aggressive l1crf l1crf-search averager averager-l1crf* mixer perceptron-pairs *-patterns"
        " *-dicts"
        " perceptron-bags averager-passive-aggressive mixer-passive-aggressive calibrated calibrated-order2"
        " calibrated-averager calibrated-l1crf* calibrated-passive-aggressive calibrated-mixer":
            (TypeError, "coefficients needs a tagger trained on rows of numbers"),
    },
    "features_of":
        {"spans-by-type*": SEVERAL_CHAINS,
         f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker spans-reranker {OF_WORDS}": NOT_A_CHAIN},
}  # fmt: skip
"""Verb -> {names of rows: (error, what its message matches)}."""


def lack_of(name, verb):
    """(error, pattern) of a cell, or None if it has to work."""
    for names, reason in LACKS.get(verb, {}).items():
        if any(fnmatch(name, row) for row in names.split()):
            return reason
    return None
