"""Models of every kind and their corpora, as files for the command line."""

from cli_cases import run

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_chunking, load_parsing, load_segmentation

TOKENS, CHUNKS = (part[:20] for part in load_chunking())
FORMS = [[form for form, _ in sentence] for sentence in TOKENS]
TEXTS, WORDS = (part[:20] for part in load_segmentation())
PAIRS = [[(word, "N" if len(word) > 1 else "X") for word in words] for words in WORDS]
SENTENCES, TREES = (part[:10] for part in load_parsing())
HEADS = [[head for head, _ in tree] for tree in TREES]


def chars():
    return StructuredPerceptron("char", max_iter=2, random_state=0)


def averager(estimator):
    return BaggingShuffleAverager(estimator, n_estimators=2, random_state=0)


def mixer(estimator):
    return ParameterMixer(estimator, n_shards=2, random_state=0)


def reranker(base):
    return KBestReranker(base, k=3, cv=2, max_iter=1, random_state=0)


KINDS = {
    "perceptron": (StructuredPerceptron(max_iter=2, random_state=0), TOKENS, CHUNKS),
    "pa, of str": (PassiveAggressiveTagger(max_iter=2, random_state=0), FORMS, CHUNKS),
    "l1crf": (L1CRF(max_iter=3, random_state=0), TOKENS, CHUNKS),
    "averager": (averager(StructuredPerceptron(max_iter=2)), TOKENS, CHUNKS),
    "mixer": (mixer(StructuredPerceptron(max_iter=2)), TOKENS, CHUNKS),
    "reranker of tagger": (reranker(StructuredPerceptron(max_iter=2, random_state=0)), TOKENS, CHUNKS),
    "segmenter": (Segmenter(chars()), TEXTS, WORDS),
    "joint segmenter": (Segmenter(chars()), TEXTS, PAIRS),
    "segmenter of averager": (Segmenter(averager(chars())), TEXTS, WORDS),
    "segmenter of mixer": (Segmenter(mixer(chars())), TEXTS, WORDS),
    "segmenter of reranker": (Segmenter(reranker(chars())), TEXTS, WORDS),
    "mixer of segmenter": (mixer(Segmenter(chars())), TEXTS, WORDS),
    "reranker of segmenter": (reranker(Segmenter(chars())), TEXTS, WORDS),
    "reranker of joint segmenter": (reranker(Segmenter(averager(chars()))), TEXTS, PAIRS),
    "word segmenter": (WordSegmenter(max_iter=2, random_state=0), TEXTS, WORDS),
    "averager of word segmenter": (averager(WordSegmenter(max_iter=2)), TEXTS, WORDS),
    "mixer of word segmenter": (mixer(WordSegmenter(max_iter=2)), TEXTS, WORDS),
    "reranker of word segmenter": (reranker(WordSegmenter(max_iter=2, random_state=0)), TEXTS, WORDS),
    "parser": (ShiftReduceParser("hs28", max_iter=2, random_state=0), SENTENCES, TREES),
    "parser of heads": (
        ShiftReduceParser("hs28", labeled=False, max_iter=2, random_state=0), SENTENCES, HEADS
    ),
    "averager of parser": (averager(ShiftReduceParser("hs28", max_iter=2)), SENTENCES, TREES),
    "mixer of parser": (mixer(ShiftReduceParser("hs28", max_iter=2)), SENTENCES, TREES),
}  # fmt: skip
OF_WORDS = [kind for kind, (_, X, _) in KINDS.items() if X is TEXTS]
OF_TREES = [kind for kind, (_, X, _) in KINDS.items() if X is SENTENCES]


def conllu(sentences, trees):
    """Trees as a file with everything that there can be in one."""
    text = "# newdoc id = d\n"
    for sentence, tree in zip(sentences, trees):
        text += "# text = ...\n1-2\tmulti\t" + "\t".join("_" * 8) + "\n"
        for t, ((form, tag), (head, label)) in enumerate(zip(sentence, tree), start=1):
            text += f"{t}\t{form}\tlemma{t}\tU\t{tag}\tA=b\t{head}\t{label}\t{head}:{label}\tx={t}\n"
            text += f"{t}.1\tempty\t" + "\t".join("_" * 8) + "\n" if t == 1 else ""
        text += "\n"
    return text


def write_models(root):
    """Write corpora, and a model of each kind, to a folder; return it."""
    for kind, (estimator, X, y) in KINDS.items():
        estimator.fit(X, y).save(root / kind)
    rows = [
        "".join(f"{f} {p} {c}\n" for (f, p), c in zip(*pair))
        for pair in zip(TOKENS, CHUNKS)
    ]
    (root / "labels").write_text("\n".join(rows), encoding="utf-8")
    (root / "words").write_text(
        "".join(" ".join(words) + "\n" for words in WORDS), encoding="utf-8"
    )
    (root / "texts").write_text(
        "\n".join([*TEXTS, "", "北京 大学\u3000天天"]) + "\n", encoding="utf-8"
    )
    (root / "trees").write_text(conllu(SENTENCES, TREES), encoding="utf-8")
    rows = ["".join(f"{f}\t{p}\n" for f, p in sentence) for sentence in SENTENCES]
    (root / "pairs").write_text("\n".join(rows), encoding="utf-8")
    return root


def corpus_of(kind):
    return "words" if kind in OF_WORDS else "trees" if kind in OF_TREES else "labels"


def refused(capsys, message, *arguments):
    """The command ends with code 1 and one line."""
    code, out, err = run(capsys, *arguments)
    assert code == 1 and err.startswith("skstruct: error: ") and err.count("\n") == 1, (
        err
    )
    assert message in err
    return out
