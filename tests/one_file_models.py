"""The kinds of models that one file can hold, and random tokens for each."""

import random

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    FeatureTemplates,
    ParameterMixer,
    PassiveAggressiveTagger,
    StructuredPerceptron,
)
from skstruct.datasets import load_chunking
from skstruct.features import WordVectors
from skstruct.features.patterns import Patterns

N_TRAINING = 60

FUNCTIONS = [
    "U1:%lower[0,0]", "U2:%shape[0,0]/%x[1,0]", "U3:%type[0,0]", "U4:%digit[-1,0]", "U5:%upper[0,0]",
    "U6:%hyphen[0,0]", "U7:%prefix2[0,0]", "U8:%suffix3[0,0]/%suffix1[-1,0]", "U9:bias", "B",
]  # fmt: skip
CONDITIONED = [
    "U:%x[0,0]",
    "B1:%x[-1,0]/%x[0,0]",
    "B2:%suffix2[0,0]",
    "B3:%suffix2[-1,0]",
    "B",
]
LEXICONS = {"p": ["the", "of the", ("New", "York"), "in the"]}
CRFPP = ["U1:%x[0,0]", "U2:%x[-1,0]/%x[0,1]", "U3:x", "B1:%x[0,1]", "B"]
WAPITI = ["u:%x[0,0]", "u2:%X[-6,0]", "*3:%x[@1,0]", "u4:%x[@-1,1]", "b:%x[1,1]"]
CRF = {"c1": 0.05, "max_iter": 30, "random_state": 0}


def perceptron(features="word", **parameters):
    return StructuredPerceptron(features, max_iter=3, random_state=0, **parameters)


MODELS = {
    "chunk": ("tuple", lambda: perceptron("chunk", constraints="BIO")),
    "chunk-best": ("tuple", lambda: perceptron("chunk-best")),
    "functions": ("str", lambda: perceptron(FUNCTIONS)),
    "numbers as labels": ("str", lambda: perceptron(["U:%x[0,0]", "B"])),
    "no label bigram": ("str", lambda: perceptron(["U:%x[0,0]"])),
    "one template behind": ("str", lambda: perceptron(["U:%x[2,0]/%x[3,0]", "B1:%x[1,0]"])),
    "passive-aggressive": ("str", lambda: PassiveAggressiveTagger("word", max_iter=3, random_state=0)),
    "cut-off": ("str", lambda: perceptron(min_count=3)),
    "order 2": ("str", lambda: perceptron(order=2, constraints="BIO")),
    "order 2, conditioned": ("str", lambda: perceptron(["U:%x[0,0]", "B1:%x[0,0]"], order=2)),
    "conditioned": ("str", lambda: perceptron(CONDITIONED)),
    "L1CRF": ("str", lambda: L1CRF("word", constraints="BIO", **CRF)),
    "L1CRF, conditioned": ("str", lambda: L1CRF(CONDITIONED, **CRF)),
    "calibrated": ("str", lambda: CalibratedTagger(perceptron(), cv=2, random_state=0)),
    "average": ("str", lambda: BaggingShuffleAverager(perceptron(), n_estimators=3, random_state=0)),
    "average of L1CRF": (
        "str", lambda: BaggingShuffleAverager(L1CRF("word", **CRF), n_estimators=2, random_state=0)
    ),
    "mixture": ("str", lambda: ParameterMixer(perceptron(), n_shards=2, random_state=0)),
    "dicts": ("dict", lambda: StructuredPerceptron(max_iter=3, random_state=0)),
    "lists": ("list", lambda: L1CRF(**CRF)),
    "lexicons": (
        "str", lambda: perceptron(FeatureTemplates(["U:%lex_p[0,0]/%x[0,0]", "B"], lexicons=LEXICONS))
    ),
    "clusters": (
        "str", lambda: perceptron(
            ["U:%cluster[0,0]/%x[1,0]", "B"], words=WordVectors(5, n_clusters=9, min_count=2, random_state=0)
        )
    ),
    "accessor variety": ("str", lambda: perceptron("char-av")),
    "CRF++": ("tuple", lambda: L1CRF(Patterns(CRFPP), **CRF)),
    "Wapiti": ("tuple", lambda: perceptron(Patterns(WAPITI, "wapiti"))),
}  # fmt: skip

ODD = [
    "ΣΑΣ",
    "Σ",
    "aΣ",
    "İstanbul",
    "😀",
    "x😀y",
    "\ud800",
    "ǅ",
    "三",
    "７",
    "Ａ",
    "",
    "a-b",
    "</script>",
    "'\"`${\0\u2028",
]


def fitted(name):
    """(model, kind of its tokens), fitted to the embedded chunks."""
    kind, make = MODELS[name]
    X, y = load_chunking()
    labels = sorted({label for labels in y for label in labels})
    if name == "numbers as labels":
        y = [list(map(labels.index, each)) for each in y]
    return make().fit(tokens(X[:N_TRAINING], kind), y[:N_TRAINING]), kind


def tokens(X, kind):
    """Sentences of (word, tag) as tokens of a kind."""
    make = {
        "tuple": lambda word, tag: (word, tag),
        "str": lambda word, tag: word,
        "list": lambda word, tag: ["w=" + word, "s=" + word[-2:], "w=" + word],
        "dict": lambda word, tag: {
            "w": word, "up": word.isupper(), "n": len(word) / 3, "near": ["a", word[:1]],
            "in": {"x": word[-1:], "k": 2}, "zero": 0,
        },
    }[kind]  # fmt: skip
    return [[make(*token) for token in sentence] for sentence in X]


def random_sentences(kind, n, seed=0):
    """Sentences of known and unknown tokens, of odd characters too."""
    rng = random.Random(seed)
    known = [
        token for sentence in load_chunking()[0][: 2 * N_TRAINING] for token in sentence
    ]
    sentences = []
    for _ in range(n):
        sentence = []
        for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 9])):
            word, tag = rng.choice(known)
            if rng.random() < 0.3:
                word = "".join(
                    rng.choice("aZ9-Σς😀三．\u0301é") for _ in range(rng.randint(0, 5))
                )
            elif rng.random() < 0.1:
                word = rng.choice(ODD)
            sentence.append((word, tag if rng.random() < 0.9 else "?"))
        sentences.append(sentence)
    return tokens(sentences, kind)
