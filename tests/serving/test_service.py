"""The application of models, asked as WSGI asks; no server is between."""

import json

import numpy as np
import pytest
from serving_cases import asked, call
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import (
    L1CRF,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.datasets import load_chunking, load_tagging
from skstruct.features import TokenTransformer, WordVectors
from skstruct.serving import app, from_environment
from skstruct.serving.label_studio import Backend

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


TEXTS = ["🚒 Ann met Bob.", "Bob met Ann"]


SPANS = [[[2, 5, "PER"], [10, 13, "PER"]], [[0, 3, "PER"], [8, 11, "PER"]]]


@pytest.fixture(scope="module")
def models():
    X, y = load_tagging()
    chunks = [part[:20] for part in load_chunking()]
    words = ["他在北京", "她在上海"], [["他", "在", "北京"], ["她", "在", "上海"]]
    spans = [list(map(tuple, each)) for each in SPANS]
    return {
        "tags": L1CRF("word", max_iter=5).fit(X[:40], y[:40]),
        "chunks": StructuredPerceptron("word-tag", max_iter=1).fit(*chunks),
        "ner": SpanTagger(L1CRF(max_iter=20)).fit(TEXTS, spans),
        "words": Segmenter(L1CRF("char", max_iter=20)).fit(*words),
    }


@pytest.fixture(scope="module")
def service(models):
    return app(models, max_bytes=5000)


@pytest.mark.parametrize(
    "kind",
    [None, "application/json", "application/x-www-form-urlencoded", "foo", "a/b"],
)
def test_everything_but_plain_text_is_json(kind, service):
    assert asked(service, TEXTS, "/ner/predict", kind=kind) == (200, SPANS)


def test_sets_of_spans(models, service):
    sets = SpanSets(FrozenEstimator(models["ner"]), recall=0.85).fit(
        TEXTS * 5, [[*map(tuple, y)] for y in SPANS] * 5
    )
    offered = json.loads(
        json.dumps([list(map(list, spans)) for spans in sets.predict_sets(TEXTS)])
    )
    assert len(offered[0]) >= 2
    assert asked(app(sets), TEXTS, query="sets=1") == (200, offered)
    _, wide = asked(app(sets), TEXTS, query="sets=1&offsets=utf-16")
    assert [span[:2] for span, _ in wide[0]] == [
        [a + 1, b + 1] for (a, b, _), _ in offered[0]
    ]
    for query, message in (
        ("sets=1&proba=1", "cannot both be given"),
        ("sets=2", "sets must be 1"),
    ):
        status, answer = asked(app(sets), TEXTS, query=query)
        assert status == 400 and message in answer["error"]
    status, answer = asked(service, TEXTS, "/ner/predict", query="sets=1")
    assert (
        status == 400 and "this SpanTagger offers no sets of spans" in answer["error"]
    )


def test_the_models_of_a_service(models, service):
    assert asked(service, [["the", "dog"]]) == asked(
        service, [["the", "dog"]], "/tags/predict"
    )
    rows = [[["the", "DT"], ["dog", "NN"]]]
    expected = models["chunks"].predict([[("the", "DT"), ("dog", "NN")]])
    assert asked(service, rows, "/chunks/predict") == (200, expected)
    assert asked(service, b"the/DT dog/NN", "/chunks/predict", kind="text/plain") == (
        200,
        expected[0],
    )
    status, answer = asked(
        service, b"the dog", "/chunks/predict", kind="Text/Plain; charset=UTF-8"
    )
    assert status == 400 and "slashes" in answer["error"] and "example" not in answer
    assert asked(service, TEXTS[0].encode(), "/ner/predict", kind="text/plain") == (
        200,
        SPANS[0],
    )
    assert asked(
        service, b"\xef\xbb\xbf" + json.dumps(TEXTS).encode(), "/ner/predict"
    ) == (200, SPANS)
    assert asked(service, ["他在北京"], "/words/predict") == (
        200,
        [["他", "在", "北京"]],
    )


def test_health_models_and_heads(service):
    status, _, body = call(service, path="/health")
    assert status == 200 and json.loads(body)["models"]["ner"] == "SpanTagger"
    _, headers, body = call(service, path="/models")
    about = json.loads(body)["models"]
    assert about[1] == {
        "name": "chunks", "kind": "StructuredPerceptron", "predict": "/chunks/predict",
        "example": [[["the", "tag"], ["dog", "tag"]]],
    }  # fmt: skip
    for each in about:  # what is shown as an example is taken
        assert asked(service, each["example"], each["predict"])[0] == 200
    status, head, empty = call(service, "HEAD", "/models")
    assert (status, head, empty) == (200, headers, b"")


def test_the_example_of_a_model_of_rows_has_their_columns():
    mixer = ParameterMixer(StructuredPerceptron()).fit(
        [np.eye(3)] * 4, [["A", "B", "C"]] * 4
    )
    (about,) = json.loads(call(app({"rows": mixer}), path="/models")[2])["models"]
    assert asked(app({"rows": mixer}), about["example"])[0] == 200


def test_names_are_unquoted_and_not_those_of_routes(models):
    service = app({"my ner": models["ner"], "é": models["ner"]})
    for name in (
        "my ner",
        "é".encode().decode("latin-1"),
    ):  # as servers of WSGI give them
        assert asked(service, TEXTS, f"/{name}/predict") == (200, SPANS)
    listed = [
        each["predict"]
        for each in json.loads(call(service, path="/models")[2])["models"]
    ]
    assert listed == ["/my%20ner/predict", "/%C3%A9/predict"]
    for name in (
        "health",
        "models",
        "predict",
        "",
        "a/b",
        "webhook",
        "ping",
        "invocations",
    ):
        with pytest.raises(ValueError, match="a model cannot be called"):
            app({name: models["ner"]})
    with pytest.raises(ValueError, match="must hold a model"):
        app({})


def test_probabilities(models, service):
    (spans,) = models["ner"].predict_segment_proba(TEXTS[:1])
    found = asked(service, TEXTS[:1], "/ner/predict", query="proba=1")[1]
    assert found == [[[list(span), p] for span, p in spans]]
    found = asked(service, TEXTS[:1], "/ner/predict", query="proba=1&offsets=utf-16")[1]
    assert found[0][0][0] == [3, 6, "PER"]
    X = [["the", "dog"]]
    ((first, second),) = asked(service, X, query="proba=1")[1]
    labels, marginals = (
        models["tags"].predict(X)[0],
        models["tags"].predict_marginals(X)[0],
    )
    assert [first[0], second[0]] == labels
    assert [first[1], second[1]] == pytest.approx(marginals.max(axis=1).tolist())
    words = asked(
        service,
        "他在北京".encode(),
        "/words/predict",
        query="proba=1",
        kind="text/plain",
    )[1]
    assert [word for word, _ in words] == ["他", "在", "北京"] and all(
        0 < p <= 1 for _, p in words
    )
    status, answer = asked(service, [[]], "/chunks/predict", query="proba=1")
    assert (
        status == 400
        and "proba: StructuredPerceptron has no probabilities; L1CRF" in answer["error"]
    )
    parser = ShiftReduceParser(labeled=False, max_iter=1).fit(
        [[("a", "N"), ("b", "V")]], [[2, 0]]
    )
    for model in (
        parser,
        ParameterMixer(parser).fit([[("a", "N"), ("b", "V")]] * 2, [[2, 0]] * 2),
    ):
        status, answer = asked(app({"trees": model}), [[["a", "N"]]], query="proba=1")
        assert status == 400 and answer["error"].startswith(
            "proba: ShiftReduceParser predicts trees, by a"
        )
    reranker = KBestReranker(StructuredPerceptron(), k=2, cv=2, max_iter=1).fit(
        [["a"]] * 4, [["N"]] * 4
    )
    status, answer = asked(app({"best": reranker}), [["a"]], query="proba=1")
    assert status == 400 and answer["error"].startswith(
        "proba: KBestReranker has no probabilities; its base"
    )


def test_k_best(models, service):
    ranked = models["ner"].predict_kbest(TEXTS[:1], 2)[0]
    found = asked(service, TEXTS[:1], "/ner/predict", query="kbest=2")[1]
    assert found == [[[list(map(list, spans)), score] for spans, score in ranked]]
    utf16 = asked(service, TEXTS[:1], "/ner/predict", query="kbest=2&offsets=utf-16")[1]
    assert utf16[0][0][0] == [[3, 6, "PER"], [11, 14, "PER"]]


@pytest.mark.parametrize(
    "query, error",
    [
        ("prob=1", "no option 'prob'; there are offsets, proba, kbest"),
        ("proba=yes", "proba must be 1"),
        ("proba=1&proba=1", "given twice"),
        ("proba=1&kbest=2", "cannot both"),
        ("kbest=0", "from 1 to 100"),
        ("kbest=101", "from 1 to 100"),
        ("kbest=x", "from 1 to 100"),
        ("offsets=utf16", "offsets must be characters or utf-16"),
        ("offsets=utf-16", "for models that mark spans"),
    ],
)
def test_options_have_an_effect_or_are_refused(query, error, service):
    status, answer = asked(service, [["a"]], "/tags/predict", query=query)
    assert status == 400 and error in answer["error"]


def test_the_place_of_what_is_wrong(service):
    assert (
        "not UTF-8: invalid start byte at byte 2"
        in asked(service, b"[[\xff")[1]["error"]
    )
    status, answer = asked(service, [["a"], ["a", 3]])
    assert status == 400 and (answer["sequence"], answer["position"]) == (1, 1)
    assert "sequence 1, position 1" in answer["error"] and "example" not in answer


@pytest.mark.parametrize("name", ["ner", "words", "texts in a pipeline"])
def test_models_of_texts_speak_of_texts(name, models):
    """Wherever a body is wrong; the key of the place is the same for all models."""
    model = make_pipeline(models["ner"]) if "pipeline" in name else models[name]
    service = app(model)
    for body in '"Ann"', "3", "null":
        for query in "", "kbest=2":
            status, answer = asked(
                service, body.encode() if isinstance(body, str) else body, query=query
            )
            assert status == 400 and "sequence" not in answer["error"]
            assert "expected a JSON list of texts, got " in answer["error"]
            assert 'of one text ["..."]' in answer["error"]
    for body in ["Ann", 3], ["Ann", ["Bob"]], ["Ann", {"text": "Bob"}], ["Ann", None]:
        status, answer = asked(service, body)
        assert status == 400 and answer["sequence"] == 1
        assert answer["error"].startswith("X: text 1: expected a text (str), got ")


def test_the_page_posts(service):
    def page(body):
        status, headers, shown = call(
            service, "POST", "/", body, kind="application/x-www-form-urlencoded"
        )
        assert headers["Content-Type"].startswith("text/html")
        return status, shown.decode()

    status, _, empty = call(service)
    assert (
        status == 200
        and b'method="post"' in empty
        and empty.startswith(b"<!DOCTYPE html>")
    )
    text = page(b"model=ner&text=%F0%9F%9A%92+Ann+met+Bob.")[1]
    assert text.count("PER") == 2 and "<script" not in text
    assert "slashes" in page(b"model=chunks&text=the+dog")[1]
    assert "&lt;b>" in page(b"model=ner&text=%3Cb%3E")[1]
    assert (
        page(b"model=ner&text=Ann%0D%0Amet")[1] == page(b"model=ner&text=Ann%0Amet")[1]
    )  # forms send CRLF
    assert (
        page(b"model=words&text=" + "他在北京".encode() * 300)[0] == 200
    )  # no limit of addresses
    assert call(service, "POST", "/", b"model=none&text=a")[0] == 404


def test_pipelines(models):
    X, y = load_tagging()
    service = app(make_pipeline(models["tags"]))
    assert asked(service, X[:1]) == (200, models["tags"].predict(X[:1]))
    assert asked(service, X[:1], query="proba=1")[0] == 200
    page = call(service, "POST", "/", b"text=the+dog")[2].decode()
    assert "send JSON" not in page and "dog" in page
    rows = [np.random.default_rng(0).normal(size=(3, 2)) for _ in range(10)]
    labels = [[str(row[0] > 0) for row in x] for x in rows]
    steps = (
        TokenTransformer(StandardScaler()),
        CalibratedTagger(StructuredPerceptron(max_iter=1), cv=2),
    )
    service = app(make_pipeline(*steps).fit(rows, labels))
    status, answer = asked(service, [x.tolist() for x in rows[:2]], query="proba=1")
    assert status == 200 and all(0 <= p <= 1 for row in answer for _, p in row)
    assert b"send JSON" in call(service, "POST", "/", b"text=the+dog")[2]


def test_pipelines_over_columns():
    """JSON has no tuples, and the column that a step adds is not sent."""
    X = [[("the", "D"), ("dog", "N")], [("a", "D"), ("cat", "N")]] * 3
    y = [["B", "I"], ["B", "I"]] * 3
    words = FrozenEstimator(WordVectors(2, n_clusters=2, min_count=1).fit(X))
    tagger = StructuredPerceptron(["U:%x[0,1]", "U1:%x[0,2]", "B"], random_state=0)
    service = app(make_pipeline(words, tagger).fit(X, y))
    assert asked(service, [[["the", "D"], ["cat", "N"]]]) == (200, [["B", "I"]])
    (about,) = json.loads(call(service, "GET", "/models")[2])["models"]
    assert asked(service, about["example"])[0] == 200
    page = call(service, "POST", "/", b"text=the/D+cat/N")[2].decode()
    assert "send JSON" not in page and "cat" in page


def test_from_the_environment(models, tmp_path, monkeypatch):
    models["ner"].save(tmp_path / "my ner")
    monkeypatch.setenv(
        "SKSTRUCT_MODELS", f"'{tmp_path}/my ner' tags='{tmp_path}/my ner'"
    )
    monkeypatch.setenv("SKSTRUCT_MAX_BYTES", "50")
    monkeypatch.setenv("SKSTRUCT_ALLOWED_HOSTS", "ner.example")
    service = from_environment()
    assert asked(service, TEXTS[1:], "/my ner/predict", HTTP_HOST="ner.example") == (
        200,
        SPANS[1:],
    )
    assert asked(service, TEXTS * 3, "/tags/predict", HTTP_HOST="ner.example")[0] == 413
    assert asked(service, TEXTS, HTTP_HOST="localhost")[0] == 400
    for name in (
        "SKSTRUCT_MAX_BYTES",
        "SKSTRUCT_ALLOWED_HOSTS",
    ):  # set to nothing: as if not set
        monkeypatch.setenv(name, "")
    assert asked(from_environment(), TEXTS * 3, "/tags/predict") == (200, SPANS * 3)
    monkeypatch.setenv("SKSTRUCT_MODELS", "")
    with pytest.raises(ValueError, match="SKSTRUCT_MODELS must name"):
        from_environment()


@pytest.mark.parametrize("backend", [False, True])
def test_no_request_waits_for_kernels(backend, models, tmp_path, monkeypatch):
    """What requests can ask for was asked of each model before the service is there."""
    called = []
    inner = SpanTagger if backend else L1CRF
    names = {"predict", "predict_kbest"}
    names |= {"predict_segment_proba"} if backend else {"predict_marginals"}

    def spied(name, method):
        def spy(self, *arguments, **more):
            called.append(name)
            return method(self, *arguments, **more)

        return spy

    for name in names:
        monkeypatch.setattr(inner, name, spied(name, getattr(inner, name)))
    path = tmp_path / "m"
    models["ner" if backend else "tags"].save(path)
    if backend:
        Backend(path)
    else:
        monkeypatch.setenv("SKSTRUCT_MODELS", str(path))
        from_environment()
    assert set(called) == names
