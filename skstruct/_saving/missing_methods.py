"""Reasons why an estimator lacks a method that others have, for the error that names
it.

Idea: every estimator has the methods that make sense for it, and ``hasattr`` says
which. Who calls another one gets Python's AttributeError, with the reason or with what
to use instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_INSIDE = "has it if the estimator inside has"

REASONS = {
    "partial_fit": {
        "L1CRF": "minimises its objective over the whole corpus; warm_start=True lets fit go on",
        "L1CRFCV": "chooses its penalties on the whole corpus; best_estimator_ with warm_start=True goes on",
        "BaggingShuffleAverager": "averages finished learners; its estimator has it if it learns online",
        "ParameterMixer": "mixes after passes over whole shards; its estimator has partial_fit",
        "CalibratedTagger": "fits its temperature on text that its tagger has not seen; the tagger has it",
        "SpanSets": "would invalidate its promise; its estimator_ has it if the estimator inside has",
        "KBestReranker": "needs bases that were trained on other parts of the whole corpus",
        "": _INSIDE,
    },
    "fit_shards": {
        "L1CRFCV": "chooses its penalties on one machine; an L1CRF with c1_ and c2_ has fit_shards",
        "": "fits on one machine; L1CRF has fit_shards, and ParameterMixer around online learners",
    },
    "member_scores": {"": "has no members; BaggingShuffleAverager has"},
    "adapt": {
        "ShiftReduceParser": "reads no accessor varieties",
        "WordSegmenter": "reads no accessor varieties",
        "SpanSets": "would invalidate its promise; its estimator_ has it if the estimator inside has",
        "KBestReranker": "chooses among the analyses of its base; its base_ has adapt, if the base has",
        "SpanTagger": "cuts texts into pieces; its tagger_ has adapt, for lists of tokens",
        "": _INSIDE,
    },
    "predict_kbest": {
        "SpanSets": "offers sets; its estimator_ has it if the estimator inside has",
        "KBestReranker": "searches the one best path; its base_ has predict_kbest",
        "": _INSIDE,
    },
    "decision_function": {
        "Segmenter": "joins pieces of text; its tagger_ has decision_function, for lists of characters",
        "SpanTagger": "cuts texts into pieces; its tagger_ has decision_function, for lists of tokens",
        "SpanSets": "offers sets; its estimator_ has it if the estimator inside has",
        "": _INSIDE,
    },
    **dict.fromkeys(
        [
            "predict_marginals",
            "predict_posterior",
            "predict_segment_proba",
            "sequence_log_proba",
        ],
        {
            "": "has no probabilities; L1CRF has, and CalibratedTagger gives them to other taggers",
            "KBestReranker": "has no probabilities; its base_ has them if the base has",
            "SpanSets": "keeps the probabilities in its estimator_; predict_sets has those of spans",
            "WordSegmenter": "predicts words, by a search that keeps no other analyses than its beam",
            "ShiftReduceParser": "predicts trees, by a search that keeps no other analyses than its beam",
        },
    ),
    "predict_proba": {
        "": "labels sequences: predict_marginals has the probabilities of each token's labels"
    },
    "classes_": dict.fromkeys(
        ["SpanTagger", "Segmenter"], "has them in its tagger_: labels of tokens"
    ),
    **dict.fromkeys(
        ["coef_", "feature_importances_"],
        {
            "": "has its weights in skstruct.inspection.feature_weights, and those of "
            "pairs of labels in transition_weights",
        },
    ),
    **{
        name: {"": f"has {ours}; skstruct.compat.sklearn_crfsuite has the old names"}
        for name, ours in (
            ("state_features_", "its weights in skstruct.inspection.feature_weights"),
            (
                "transition_features_",
                "its weights in skstruct.inspection.transition_weights",
            ),
            ("attributes_", "its features in skstruct.inspection.features_of"),
            ("training_log_", "history_"),
            ("predict_single", "predict, for a list of sequences"),
            ("predict_marginals_single", "predict_marginals, for a list of sequences"),
        )
    },
}
"""Method -> {class, or "" for all others: the rest of a sentence that begins with the
class}.
"""


class SaysWhy:
    """Base of estimators whose missing methods give a reason."""

    if (
        not TYPE_CHECKING
    ):  # to a type checker the method would mean that every attribute exists

        def __getattr__(self, name: str) -> Any:
            reasons = REASONS.get(name, {})
            kind = type(self).__name__
            reason = reasons.get(kind, reasons.get(""))
            if reason is None:
                return object.__getattribute__(
                    self, name
                )  # raises again what was raised
            wrong = f"{kind!r} object has no attribute {name!r}: {kind} {reason}"
            raise AttributeError(wrong, name=name, obj=self)
