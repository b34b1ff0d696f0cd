"""Segmenters and span taggers as one file: texts in, words and spans out."""

import random

import pytest
from one_file_cases import NODE, asked, check_source, loaded, written
from one_file_models import perceptron

from skstruct import L1CRF, Segmenter, SpanTagger, StructuredPerceptron
from skstruct.datasets import load_segmentation

pytestmark = pytest.mark.filterwarnings("ignore")

ODD = "\u3000\x1c\x85\ufeff\u200b\u200d\u0301\r\n\t 😀👩🇩🇪é.。!\"'()-$7٣ΣA한ไ漢かが\u1100\u1161"


def random_texts(n, of, seed=0):
    """Texts of known words and odd characters."""
    rng = random.Random(seed)
    return [
        "".join(
            rng.choice(of) if rng.random() < 0.5 else rng.choice(ODD)
            for _ in range(rng.randint(0, 40))
        )
        for _ in range(n)
    ]


def check_file(model, X, folder):
    """Predictions and their kinds are those of the model, in each language."""
    path = written(model, folder)
    check_source(path)
    file, expected = loaded(path), model.predict(X)
    assert file.predict(X) == expected
    for text in [5, ["a"]]:
        with pytest.raises(
            ValueError, match=r"^X: sequence 1: expected a text \(str\), got "
        ):
            file.predict(["a", text])
    for given in (3, "ab"):
        for ask in (file.predict, file.decision_function):
            with pytest.raises(ValueError) as error:
                ask(given)
            assert (
                str(error.value)
                == f"X must be a list of texts, got {given!r}; use [text] for one text"
            )
        if NODE:
            found = asked(
                written(model, folder, "tagger.js"), given, "decisionFunction"
            )
            assert found["decisionFunction"]["error"] == str(error.value)
    if NODE:
        said = asked(written(model, folder, "tagger.js"), X, "predict", "explain")
        assert said["predict"] == [
            [[*item] if isinstance(item, tuple) else item for item in x]
            for x in expected
        ]
        mine = [[reasons["margin"] for reasons in file.explain(x)] for x in X[:20]]
        assert [
            [reasons["margin"] for reasons in x] for x in said["explain"][:20]
        ] == mine
    return file


@pytest.mark.parametrize("scheme", ["BMES", "BI", "B2B3MES"])
@pytest.mark.parametrize("tagged", [False, True])
def test_segmenters(scheme, tagged, tmp_path):
    X, y = load_segmentation()
    if tagged:
        y = [[(word, "N" if len(word) > 1 else "V") for word in words] for words in y]
    model = Segmenter(perceptron("char"), scheme=scheme).fit(X[:80], y[:80])
    check_file(model, [*X[80:120], *random_texts(100, "".join(X[:20]))], tmp_path)


TEXTS = [
    "Ann Lee lives in Rome.\n\nBob left Paris; Ann, too.",
    "In Rome, Ann met Bob.\nBob Lee is in Paris (France).",
]
SPANS = [
    [(0, 7, "PER"), (17, 21, "LOC"), (24, 27, "PER"), (33, 38, "LOC"), (40, 43, "PER")],
    [
        (3, 7, "LOC"),
        (9, 12, "PER"),
        (17, 20, "PER"),
        (22, 29, "PER"),
        (36, 41, "LOC"),
        (43, 49, "LOC"),
    ],
]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tokenizer": "characters", "scheme": "BIO"},
        {"pieces": "texts", "max_length": 3, "scheme": "BILOU"},
        {"pieces": "paragraphs", "layout": False, "max_length": None, "scheme": "IOB1"},
        {"pieces": "lines", "max_length": 4, "scheme": "BMES"},
    ],
)
def test_span_taggers(options, tmp_path):
    model = SpanTagger(StructuredPerceptron(max_iter=5, random_state=0), **options).fit(
        TEXTS, SPANS
    )
    words = [*" ".join(TEXTS).split(), "\r\n", "\n\n", "\n \n", " "]
    X = [*TEXTS, *random_texts(100, words)]
    check_file(model, X, tmp_path)
    if NODE:
        for name in ("tagger.js", "tagger.mjs"):
            said = asked(written(model, tmp_path, name), TEXTS[0], "tokens")["tokens"]
            assert "".join(TEXTS[0][start:end] for start, end in said) == "".join(
                TEXTS[0].split()
            )
        (said,) = asked(
            written(model, tmp_path, "tagger.mjs"), X, "predictUtf16"
        ).values()
        for text, spans, units in zip(X, model.predict(X), said, strict=True):
            raw = text.encode("utf-16-le", "surrogatepass")
            for (start, end, label), (a, b, other) in zip(spans, units, strict=True):
                assert (
                    raw[2 * a : 2 * b].decode("utf-16-le", "surrogatepass"),
                    other,
                ) == (
                    text[start:end],
                    label,
                )


def test_probabilities_of_characters(tmp_path):
    X, y = load_segmentation()
    model = Segmenter(L1CRF("char", c1=0.1, max_iter=20, random_state=0)).fit(
        X[:50], y[:50]
    )
    file = loaded(written(model, tmp_path))
    (rows,) = file.predict_marginals([X[60]])
    assert len(rows) == len(X[60].replace(" ", ""))
    assert rows[0] == pytest.approx(
        model.tagger_.predict_marginals([list(X[60])])[0][0].tolist(), abs=1e-12
    )


def test_tokenizers_that_are_refused(tmp_path):
    for tokenizer, kind in ((r"\w+", "regular expression"), (str.split, "function")):
        model = SpanTagger(tokenizer=tokenizer).fit(["Ann left"], [[(0, 3, "PER")]])
        text = (
            f"the model cannot be written as one file: the tokenizer is a {kind}; "
            '"words" and "characters" can be written'
        )
        with pytest.raises(ValueError) as error:
            written(model, tmp_path)
        assert str(error.value) == text
