"""Bodies that are objects: as the list answers, in the shape that belongs to them."""

import json
import re

import pytest
from serving_cases import asked, call

from skstruct import L1CRF, Segmenter, SpanTagger, StructuredPerceptron
from skstruct.datasets import load_chunking, load_tagging
from skstruct.serving import app
from skstruct.serving.answers import OPTIONS
from skstruct.serving.wsgi import object_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TEXTS = ["🚒 Ann met Bob.", "Bob met Ann"]
SPANS = [[(2, 5, "PER"), (10, 13, "PER")], [(0, 3, "PER"), (8, 11, "PER")]]


@pytest.fixture(scope="module")
def service():
    X, y = load_tagging()
    chunks = [part[:20] for part in load_chunking()]
    words = ["他在北京", "她在上海"], [["他", "在", "北京"], ["她", "在", "上海"]]
    models = {
        "tags": L1CRF("word", max_iter=5).fit(X[:40], y[:40]),
        "chunks": StructuredPerceptron("word-tag", max_iter=1).fit(*chunks),
        "ner": SpanTagger(L1CRF(max_iter=20)).fit(TEXTS, SPANS),
        "words": Segmenter(L1CRF("char", max_iter=20)).fit(*words),
    }
    return app(models, max_bytes=5000)


PLAIN = {
    "tags": "the dog",
    "chunks": "the/DT dog/NN",
    "ner": TEXTS[0],
    "words": "他在北京",
}
"""A text for each kind of model."""


@pytest.mark.parametrize("name", PLAIN)
def test_bodies_that_are_objects(name, service):
    """Each answers as the list does, in the shape that belongs to it."""
    text, path = PLAIN[name], f"/{name}/predict"
    status, one = asked(service, text.encode(), path, kind="text/plain")
    assert status == 200
    assert asked(service, {"text": text}, path) == (200, one)
    assert asked(service, {"texts": [text] * 2}, path) == (200, [one] * 2)
    for instance in text, {"text": text}:
        found = asked(service, {"instances": [instance] * 2}, path)
        assert found == (200, {"predictions": [one] * 2})
    status, found = asked(service, {"inputs": text}, path)
    assert (status, found) == asked(service, {"inputs": [text]}, path)[:1] + (
        asked(service, {"inputs": [text]}, path)[1][0],
    )
    if name != "ner":
        assert found == one
    listed = one_sequence(name, text)
    assert asked(service, {"instances": [listed]}, path)[1] == {"predictions": [one]}
    assert asked(service, {"texts": []}, path) == (200, [])


def one_sequence(name, text):
    """A text as JSON for the model of the name."""
    if name in ("ner", "words"):
        return text
    return [word.split("/") if "/" in word else word for word in text.split()]


def test_spans_as_objects(service):
    status, found = asked(service, TEXTS[:1], "/ner/predict", query="objects=1")
    first = {"start": 2, "end": 5, "label": "PER", "text": "Ann"}
    assert status == 200 and found[0][0] == first
    query = "objects=1&proba=1&offsets=utf-16"
    ((wide, _),) = asked(service, TEXTS[:1], "/ner/predict", query=query)[1]
    assert 0 < wide.pop("probability") <= 1
    assert wide == {**first, "start": 3, "end": 6}
    # Hugging Face's names, with a score where the model knows probabilities
    spans = asked(service, {"inputs": TEXTS[0]}, "/ner/predict")[1]
    assert list(spans[0]) == ["start", "end", "entity_group", "word", "score"]
    ranked = asked(
        service, {"inputs": TEXTS, "parameters": {"kbest": 2}}, "/ner/predict"
    )
    assert ranked == asked(service, TEXTS, "/ner/predict", query="kbest=2")
    plain = SpanTagger(StructuredPerceptron(max_iter=1)).fit(TEXTS, SPANS)
    (spans,) = asked(app(plain), {"inputs": TEXTS[:1]})[1]
    assert all(list(each) == ["start", "end", "entity_group", "word"] for each in spans)


def test_parameters_are_options(service):
    for name, value, query in (
        ("proba", True, "proba=1"),
        ("kbest", 2, "kbest=2"),
        ("offsets", "utf-16", "offsets=utf-16"),
        ("objects", 1, "objects=1"),
        ("proba", False, ""),
    ):
        body = {"texts": TEXTS, "parameters": {name: value}}
        status, found = asked(service, body, "/ner/predict")
        assert (status, found) == asked(service, TEXTS, "/ner/predict", query=query)
        assert status == 200


@pytest.mark.parametrize(
    "body, error",
    [
        ({"text": 3}, "'text' must hold a text, got 3"),
        ({"texts": "Ann"}, "'texts' must hold a list, got 'Ann'"),
        ({"texts": ["Ann", None]}, "'texts' must hold a list of texts, got None"),
        ({"instances": {}}, "'instances' must hold a list, got {}"),
        (
            {"instances": [{"content": "Ann"}]},
            "has the key 'text' alone, got 'content'",
        ),
        ({"id": 1, "text": "Ann"}, "one of the keys text, texts, inputs, instances"),
        ({"text": "a", "texts": ["a"]}, "got the keys 'text', 'texts'"),
        ({}, "got none of them"),
        ({"parameters": {}}, "got none of them"),
        ({"text": "a", "parameters": [1]}, "'parameters' must hold an object"),
        ({"text": "a", "parameters": {"top_k": 1}}, "there is no parameter 'top_k'"),
        ({"text": "a", "parameters": {"proba": [1]}}, "the parameter 'proba' must be"),
        ({"text": "a", "parameters": {"objects": 2}}, "objects must be 1"),
        ({"text": "a", "parameters": {"proba": 1, "kbest": 1}}, "cannot both"),
        ({"text": "a", "parameters": {"objects": 1, "kbest": 1}}, "cannot both"),
    ],
)
def test_objects_that_are_no_bodies(body, error, service):
    status, answer = asked(service, body, "/ner/predict")
    assert status == 400 and error in answer["error"]


def test_an_option_is_given_once(service):
    body = {"text": "Ann", "parameters": {"proba": 1}}
    status, answer = asked(service, body, "/ner/predict", query="proba=1")
    assert status == 400 and "given twice" in answer["error"]
    status, answer = asked(service, [["a"]], "/tags/predict", query="objects=1")
    assert status == 400 and "for models that mark spans" in answer["error"]


def test_what_sagemaker_asks(service):
    assert call(service, path="/ping")[0] == 200
    X = [["the", "dog"]]
    assert asked(service, X, "/invocations") == asked(service, X)


@pytest.mark.parametrize("options", [{}, {"proba": 1}, {"kbest": 2}])
def test_what_is_known_of_texts(service, options):
    """It says the same in either unit, of one text or of several."""
    path, text, known = "/ner/predict", TEXTS[0], [2, 5, "O"]
    body = {"parameters": options}
    status, one = asked(service, {"text": text, "known": [known], **body}, path)
    free = asked(service, {"text": text, **body}, path)[1]
    assert status == 200 and "[2, 5, 'PER']" in str(free)
    assert "[2, 5, 'PER']" not in str(one) and "[10, 13, 'PER']" in str(one)
    several = {"texts": [text], "known": [[known]], **body}
    assert asked(service, several, path) == (200, [one])
    body = {"parameters": {**options, "offsets": "utf-16"}}
    status, wide = asked(service, {"text": text, "known": [[3, 6, "O"]], **body}, path)
    assert status == 200 and "[11, 14, 'PER']" in str(wide)
    assert "[3, 6, 'PER']" not in str(wide)


@pytest.mark.parametrize("label", ["PER", "O", None, ["PER"]])
def test_what_is_known_in_either_unit(label, service):
    """Of each form of a label, as a list or as an object."""
    found = []
    for start, end, query in (2, 5, ""), (3, 6, "offsets=utf-16"):
        span = {"start": start, "end": end, "label": label}
        for known in [start, end, label], span, {**span, "text": "Ann"}:
            body = {"text": TEXTS[0], "known": [known]}
            status, answer = asked(service, body, "/ner/predict", query=query)
            assert status == 200, answer
            found.append([start, end] in [each[:2] for each in answer])
    assert found == [label != "O"] * 6


@pytest.mark.parametrize("query", ["objects=1", "objects=1&offsets=utf-16"])
def test_answers_can_be_sent_back_as_known(query, service):
    """Moved, or in another unit, their offsets do not fit the texts that they quote."""
    body = {"texts": TEXTS}
    spans = asked(service, body, "/ner/predict", query=query)[1]
    body["known"] = spans
    assert asked(service, body, "/ner/predict", query=query) == (200, spans)
    moved = [{**each, "start": each["start"] - 1} for each in spans[0]]
    other = "" if "utf-16" in query else "offsets=utf-16"
    wrong = [(moved, query), (spans[0], other)]
    for known, units in wrong:
        body = {"texts": TEXTS[::-1], "known": [[], known]}
        status, answer = asked(service, body, "/ner/predict", query=units)
        assert status == 400 and (answer["sequence"], answer["position"]) == (1, 0)
        assert answer["error"].startswith("known: text 1, position 0: ")
        assert "not its text, 'Ann'" in answer["error"]


def test_units_that_are_half_a_character(service):
    body = {"text": TEXTS[0], "known": [[1, 6, "PER"]]}
    status, answer = asked(service, body, "/ner/predict", query="offsets=utf-16")
    assert status == 400 and answer["error"].startswith("known: text 0, position 0: ")


@pytest.mark.parametrize("key", ["text", "parameters", "known", "proba"])
def test_a_key_that_is_given_twice(key, service):
    """Of two values, one would be lost."""
    body = json.dumps({"text": "Ann", "known": [], "parameters": {"proba": 1}})
    twice = re.sub(f'("{key}": )', r'\1"x", \1', body)
    status, answer = asked(service, twice.encode(), "/ner/predict")
    assert status == 400 and f"the key '{key}' is given twice" in answer["error"]
    assert asked(service, body.encode(), "/ner/predict")[0] == 200


def test_many_keys_are_each_looked_at_once():
    """A client cannot keep a worker busy by a body with many of them."""

    class Key(str):
        __hash__ = str.__hash__
        compared = 0

        def __eq__(self, other):
            Key.compared += 1
            return str.__eq__(self, other)

    pairs = [(Key(k), k) for k in range(2000)]
    with pytest.raises(ValueError, match="the key '1999' is given twice"):
        object_of([*pairs, (Key(1999), 0)])
    assert Key.compared < 2 * len(pairs)
    assert object_of(pairs) == dict(pairs)


@pytest.mark.parametrize("name", OPTIONS)
def test_true_stands_for_a_flag_alone(name, service):
    """``true`` is no number; ``false`` is as if it were not there."""
    given = {"text": TEXTS[0], "parameters": {name: True}}
    status, answer = asked(service, given, "/ner/predict")
    if name in ("proba", "objects"):
        query = f"{name}=1"
        expected = asked(service, {"text": TEXTS[0]}, "/ner/predict", query=query)
        assert (status, answer) == expected
    else:
        assert status == 400 and name in answer["error"]
    if name in ("proba", "objects", "sets"):
        given["parameters"] = {name: False}
        expected = asked(service, {"text": TEXTS[0]}, "/ner/predict")
        assert asked(service, given, "/ner/predict") == expected


def test_known_is_refused_where_it_means_nothing(service):
    status, answer = asked(
        service, {"text": "a", "known": [[0, 1, "X"]]}, "/ner/predict"
    )
    assert status == 400 and "known: text 0, position 0: (0, 1, 'X')" in answer["error"]
    status, answer = asked(service, {"text": "a", "known": []}, "/tags/predict")
    assert (
        status == 400 and "this L1CRF does not support known spans" in answer["error"]
    )
    status, answer = asked(service, {"known": []}, "/ner/predict")
    assert status == 400 and "one of the keys" in answer["error"]


@pytest.mark.parametrize("options", [{}, {"kbest": 2}])
def test_words_of_a_dictionary(service, options):
    """Of one text or of several; tags are for segmenters that tag."""
    path, text, body = "/words/predict", "他在北京", {"parameters": options}
    free = asked(service, {"text": text, **body}, path)[1]
    status, one = asked(service, {"text": text, "dictionary": ["他在"], **body}, path)
    assert status == 200 and "'他在'" in str(one) and "'他在'" not in str(free)
    several = {"texts": [text], "dictionary": {"他在": None}, **body}
    assert asked(service, several, path) == (200, [one])
    several["dictionary"] = {"他在": "X"}
    status, answer = asked(service, several, path)
    assert status == 400 and "has tags, and the model predicts none" in answer["error"]


@pytest.mark.parametrize(
    "more, path, error",
    [
        ({}, "ner", "dictionary: this SpanTagger does not support"),
        ({"parameters": {"proba": 1}}, "words", "proba and dictionary cannot both be"),
        ({"dictionary": "他在"}, "words", "dictionary must be a collection of words"),
        ({"dictionary": 3}, "words", "dictionary must be a collection of words"),
        ({"dictionary": [3]}, "words", "dictionary"),
    ],
)
def test_dictionaries_that_are_refused(more, path, error, service):
    body = {"text": "他在北京", "dictionary": ["他在"], **more}
    status, answer = asked(service, body, f"/{path}/predict")
    assert status == 400 and error in answer["error"]


def test_spans_that_are_probable_enough(service):
    """As an option or a parameter; with pairs and objects, too."""
    path, body = "/ner/predict", {"texts": TEXTS}
    pairs = asked(service, {**body, "parameters": {"proba": 1}}, path)[1]
    every = sorted(p for row in pairs for _, p in row)
    least = every[-1]
    some = [[pair for pair in row if pair[1] >= least] for row in pairs]
    spans = [[span for span, _ in row] for row in some]
    assert 0 < sum(map(len, some)) < len(every)
    for given in least, str(least), f"PER={least}", f"{least},PER={least}":
        limit = {"min_proba": given}
        assert asked(service, {**body, "parameters": limit}, path) == (200, spans)
        limit["proba"] = 1
        assert asked(service, {**body, "parameters": limit}, path) == (200, some)
    query = f"min_proba=PER={least}"
    assert asked(service, TEXTS, path, query=query) == (200, spans)
    found = asked(service, {"inputs": TEXTS}, path, query=query)[1]
    assert [[each["score"] for each in row] for row in found] == [
        [p for _, p in row] for row in some
    ]


@pytest.mark.parametrize(
    "given, path, error",
    [
        ({"min_proba": "x"}, "ner", "min_proba must be a number, or TYPE=P"),
        ({"min_proba": 0}, "ner", "min_proba must be a number above 0, up to 1"),
        ({"min_proba": "nan"}, "ner", "min_proba must be a number above 0, up to 1"),
        ({"min_proba": "X=.5,.5"}, "ner", "no label has the type 'X'"),
        ({"min_proba": "PER=2"}, "ner", "min_proba of the type 'PER' must be"),
        ({"min_proba": 0.5, "kbest": 2}, "ner", "kbest and min_proba cannot both"),
        ({"min_proba": 0.5}, "tags", "for models that mark spans of texts"),
        ({"min_proba": 0.5}, "words", "for models that mark spans of texts"),
    ],
)
def test_least_probabilities_that_are_refused(given, path, error, service):
    body = {"text": "Ann", "parameters": given}
    status, answer = asked(service, body, f"/{path}/predict")
    assert status == 400 and error in answer["error"]
