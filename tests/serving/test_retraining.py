"""Models that are trained anew on the annotations collected."""

import json

import pytest
from serving_cases import asked, until

from skstruct import L1CRF, SpanTagger, StructuredPerceptron, load
from skstruct._saving.origin import digest_of
from skstruct.datasets import columns_to_spans, load_entities, write_spans
from skstruct.serving.label_studio import Backend
from skstruct.serving.retraining import held_out, parts_of, retrain

CONFIG = (
    '<View> <Header value="Read the passage"/> <Text name="passage" value="$ner" granularity="word"/> '
    '<Choices name="mood" toName="passage"><Choice value="good"/></Choices>'
    '<Labels name="answer" toName="passage"> <Label value="PER" background="red"/> </Labels>\n'
    '</View><!-- {"data": {"ner": "an example"}} -->'
)


PROJECT = {
    "id": 2,
    "title": "New Project #2",
    "label_config": CONFIG,
    "model_version": "",
    "created_by": 1,
}


TEXTS = ["🚒 Ann met Bob.", "Bob met Ann"]


SPANS = [[(2, 5, "PER"), (10, 13, "PER")], [(0, 3, "PER"), (8, 11, "PER")]]


def predict_request(texts=TEXTS):
    tasks = [
        {
            "id": 19 + k,
            "data": {"ner": text},
            "meta": {},
            "is_labeled": False,
            "project": 2,
        }
        for k, text in enumerate(texts)
    ]
    params = {"login": None, "password": None, "context": None}
    return {
        "tasks": tasks, "model_version": "ner", "project": "2.1629208174", "label_config": CONFIG,
        "params": params,
    }  # fmt: skip


def webhook_request(
    text=TEXTS[0],
    spans=((3, 6, "PER"),),
    action="ANNOTATION_CREATED",
    task=19,
    number=17,
    **more,
):
    """Spans count UTF-16 units."""
    result = [
        {
            "value": {"start": start, "end": end, "text": "?", "labels": [label]}, "id": "WArqkkifYE",
            "from_name": "answer", "to_name": "passage", "type": "labels",
        }
        for start, end, label in spans
    ]  # fmt: skip
    for each in result:
        start, end = (2 * each["value"][name] for name in ("start", "end"))
        each["value"]["text"] = text.encode("utf-16-le")[start:end].decode("utf-16-le")
    mood = {
        "value": {"choices": ["good"]},
        "from_name": "mood",
        "to_name": "passage",
        "type": "choices",
    }
    annotation = {
        "id": number, "result": [mood, *result], "was_cancelled": False, "ground_truth": False,
        "created_at": "2021-08-17T13:52:48.536303Z", "updated_at": "2021-08-17T13:52:48.536370Z",
        "lead_time": 37.13, "prediction": {}, "result_count": 0, "task": task, "completed_by": 1, **more,
    }  # fmt: skip
    return {
        "action": action, "annotation": annotation, "task": {"id": task, "data": {"ner": text}},
        "project": PROJECT,
    }  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "ner.skstruct"
    SpanTagger(L1CRF(max_iter=20)).fit(TEXTS, SPANS).save(path)
    return path


# -- training anew ---------------------------------------------------------------------
def corpus():
    """Twice the same texts, so that enough spans are held out."""
    X, y = columns_to_spans(*load_entities())
    return X * 2, y * 2


def write(file, X, y, first=0):
    numbers = [{"id": first + k, "annotation": k} for k in range(len(X))]
    write_spans(file, X, y, metadata=numbers)


def test_a_better_model_takes_the_place(tmp_path):
    X, y = corpus()
    old, notes, new = (str(tmp_path / name) for name in ("ner", "notes.jsonl", "ner-1"))
    SpanTagger(StructuredPerceptron(max_iter=3, random_state=0)).fit(X[:5], y[:5]).save(
        old
    )
    write(notes, X, y)
    told = retrain(old, notes, new)
    assert (
        "held-out spans" in told
        and "ner-1 takes the place of" in told
        and load(new).predict(X[:1])
    )
    card = load(new).info()["card"]
    assert card["parent"] == {"name": "ner", "sha256": digest_of(old)}
    assert card["data"][0]["name"] == "notes.jsonl" and card["score"]["value"] > 0
    assert card["counts"]["texts"] + 2 * card["score"]["of"] == len(X)
    # A model that knows the held-out texts is not replaced by one that does not.
    SpanTagger(StructuredPerceptron(max_iter=10, random_state=0)).fit(X, y).save(old)
    told = retrain(old, notes, str(tmp_path / "none"))
    assert "the old model stays" in told and not (tmp_path / "none").exists()


OVERLAP = [(0, 7, "PER"), (4, 11, "PER")]


def test_what_cannot_be_learned_is_left_out(tmp_path, capsys):
    """Wherever it stands, among what is learned or what is held out."""
    X, y = corpus()
    old, notes = (str(tmp_path / name) for name in ("ner", "notes.jsonl"))
    model = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    model.fit(X[:5], y[:5]).save(old)
    write(notes, X, y)
    expected = retrain(old, notes, str(tmp_path / "new"))
    tasks = [9000, 9001]
    texts = [
        next(
            text
            for text in map("Ann met Bob {}.".format, range(99))
            if held_out(text) is h
        )
        for h in (False, True)
    ]
    for task, text in zip(tasks, texts):
        with open(tmp_path / "more", "w") as file:
            write(file, [text], [OVERLAP], task)
        with open(notes, "a") as file:
            file.write((tmp_path / "more").read_text())
    capsys.readouterr()
    told = retrain(old, notes, str(tmp_path / "new"))
    assert told == expected
    said = capsys.readouterr().err
    assert all(f"task {task} is left out: " in said for task in tasks)
    assert "overlaps" in said
    # A model that was told what to do with them learns them.
    model.set_params(overlap="longest").fit(X[:5], y[:5]).save(old)
    retrain(old, notes, str(tmp_path / "new"))
    assert "left out" not in capsys.readouterr().err


def test_too_few_held_out_spans(tmp_path, path):
    write(tmp_path / "notes", *(part[:20] for part in corpus()))
    told = retrain(str(path), str(tmp_path / "notes"), str(tmp_path / "new"))
    assert "50 are needed" in told and not (tmp_path / "new").exists()


def test_a_fifth_is_held_out():
    assert 150 < sum(held_out(str(k)) for k in range(1000)) < 250


NAMES = [f"d{k}" for k in range(30)]


def about(k, document=None, was_there=False):
    """The metadata of a line; of one that was there before, its tool's own id."""
    named = {} if document is None else {"doc_id": document}
    return {"id": k, **named} if was_there else {"id": k, "annotation": k, **named}


def test_whole_documents_are_held_out():
    """Also in any order, with more documents, and with texts that name none."""
    rows = [(f"text {k} of {name}", name) for name in NAMES for k in range(7)]
    rows += [(text, None) for text, _ in rows[::3]]  # equal to one of a document
    rows += [(f"alone {k}", None) for k in range(50)] * 2
    found = {}
    for step in (1, -1):
        for n in (len(rows) // 2, len(rows)):
            part = rows[:n][::step]
            texts, names = map(list, zip(*part))
            parts = parts_of(texts, [about(k, name) for k, name in enumerate(names)])
            of_text = dict(row for row in part if row[1])
            for (text, name), held in zip(part, parts.held):
                key = name or of_text.get(text, text)
                assert found.setdefault(key, held) == held
            out = {
                name or of_text.get(text, text)
                for (text, name), held in zip(part, parts.held)
                if held
            }
            assert parts.known and parts.n_held == len(out) > 0
    assert not all(found.values())


def test_what_the_first_model_learned_is_not_held_out():
    """Nor is a document of which it learned a part, whether its lines have ids or not."""
    texts = [f"text {k}" for k in range(100)]
    for was_there in (True, False):
        metadata = [about(k, was_there=was_there) for k in range(100)]
        assert any(parts_of(texts, metadata).held) is not was_there
    both = [about(k) for k in range(100)] + [
        about(k, was_there=True) for k in range(100)
    ]
    assert not any(parts_of(texts * 2, both).held)
    (name,) = [name for name in NAMES if held_out(name)][:1]
    both = [about(1, name), about(2, name, was_there=True)]
    assert parts_of(texts[:2], both).held == [False, False]
    assert parts_of(texts[:2], [about(1, name), about(2, name)]).held == [True, True]


def test_documents_of_a_collection_are_held_out_whole(tmp_path, monkeypatch, capsys):
    """The collection keeps what a task says of its document, and the training reads
    it; without any, it says so.
    """
    monkeypatch.setattr("skstruct.serving.retraining.FEWEST", 5)
    X, y = corpus()
    half = len(X) // 2
    model, file = tmp_path / "ner.skstruct", tmp_path / "notes.jsonl"
    tagger = SpanTagger(StructuredPerceptron(max_iter=1, random_state=0))
    tagger.fit(X[:5], y[:5]).save(model)
    told = []
    for named in (False, True):
        service = Backend(str(model), collect=str(file))
        for k, (text, spans) in enumerate(zip(X[:half], y[:half])):
            body = webhook_request(
                text, [tuple(each) for each in spans], task=k, number=k
            )
            if named:
                where = "data" if k % 2 else "meta"
                body["task"].setdefault(where, {})["document"] = f"d{k // 5}"
            assert asked(service, body, "/webhook")[0] == 200
        with open(file) as lines:
            kept = [json.loads(line) for line in lines if line.strip()]
        names = [each.get("doc_id") for each in kept]
        assert names == [f"d{k // 5}" if named else None for k in range(half)]
        told.append(retrain(str(model), str(file), str(tmp_path / f"new{named}")))
        assert ("no task has a key such as doc_id" in capsys.readouterr().err) != named
    n = sum(held_out(f"d{k}") for k in range(-(-half // 5)))
    score = load(tmp_path / "newTrue").info()["card"]["score"]
    assert score["of"] == n and f"of {n} documents held out" in score["how"]
    assert told[0] != told[1]


def test_after_so_many_annotations_a_model_is_trained(tmp_path):
    X, y = corpus()
    model, file = tmp_path / "ner.skstruct", tmp_path / "notes.jsonl"
    SpanTagger(StructuredPerceptron(max_iter=1, random_state=0)).fit(X[:5], y[:5]).save(
        model
    )
    write(file, X, y)
    service = Backend(str(model), collect=str(file), train_on=2)
    old = model.read_bytes()
    for task in 10_000, 10_001:
        asked(
            service, webhook_request(TEXTS[1], [(0, 3, "PER")], task=task), "/webhook"
        )

    def version():
        return asked(service, predict_request())[1]["model_version"]

    until((tmp_path / "ner-1.skstruct").exists)
    until(lambda: version() != "ner")
    assert version() == "ner-1" and model.read_bytes() == old
    assert load(tmp_path / "ner-1.skstruct").predict(TEXTS)
