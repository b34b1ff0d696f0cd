"""A corpus of six texts and one of four, for what holds an estimator inside: as texts
and words, as characters and places, and as prose and spans. Tests repeat them as often
as they have folds.
"""

WORDS = [
    ["ab", "cab"],
    ["b", "ab"],
    ["cab", "b", "ab"],
    ["ab", "ab"],
    ["b", "cab"],
    ["cab", "cab"],
]
TEXTS = ["".join(words) for words in WORDS]
CHARACTERS = [list(text) for text in TEXTS]
PLACES = [
    [label for word in words for label in ["B"] + ["E"] * (len(word) - 1)]
    for words in WORDS
]
PROSE = ["Ann lives in Rome", "in Rome lives Bob", "Bob saw Ann", "Rome saw Bob"]
SPANS = [
    [(0, 3, "P"), (13, 17, "L")],
    [(3, 7, "L"), (14, 17, "P")],
    [(0, 3, "P"), (8, 11, "P")],
    [(0, 4, "L"), (9, 12, "P")],
]

ROLES = {
    "BaggingShuffleAverager": "estimator",
    "ParameterMixer": "estimator",
    "CalibratedTagger": "estimator",
    "SpanSets": "estimator",
    "Segmenter": "tagger",
    "SpanTagger": "tagger",
    "KBestReranker": "base",
}
"""The parameter that holds the estimator inside, where None stands for one."""
