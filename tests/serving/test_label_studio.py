"""Label Studio's requests, written after its documentation, field by field."""

import copy
import json
import sys
import threading

import pytest
from serving_cases import asked, call
from sklearn.frozen import FrozenEstimator

from skstruct import L1CRF, SpanSets, SpanTagger, StructuredPerceptron, load
from skstruct.cli import main
from skstruct.datasets import read_spans, write_spans
from skstruct.serving.label_studio import Backend, Remembered

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


@pytest.mark.filterwarnings("ignore:10 documents")
def test_sets_of_spans_are_offered_for_review(path, tmp_path):
    """Candidates, which may overlap, in the place of the best spans."""
    sets = SpanSets(FrozenEstimator(load(path)), recall=0.5).fit(TEXTS * 5, SPANS * 5)
    sets.save(tmp_path / "sets.skstruct")
    application = Backend(tmp_path / "sets.skstruct")
    status, answer = asked(application, predict_request())
    assert status == 200
    for result, offered in zip(answer["results"], sets.predict_sets(TEXTS)):
        assert [each["score"] for each in result["result"]] == [p for _, p in offered]
        assert [each["value"]["labels"] for each in result["result"]] == [
            [span.label] for span, _ in offered
        ]
    assert asked(application, {"project": "2.1", "schema": CONFIG}, "/setup")[0] == 200


def test_predictions(path):
    service = Backend(str(path))
    status, answer = asked(service, predict_request())
    assert status == 200 and answer["model_version"] == "ner"
    first, second = answer["results"]
    assert first["model_version"] == "ner" and 0 < first["score"] <= 1
    assert [region["value"]["start"] for region in second["result"]] == [0, 8]
    region = first["result"][0]
    assert (region["from_name"], region["to_name"], region["type"]) == (
        "answer",
        "passage",
        "labels",
    )
    assert region["value"] == {"start": 3, "end": 6, "text": "Ann", "labels": ["PER"]}
    assert (
        len({region["id"] for region in first["result"]}) == 2
        and 0 < region["score"] <= 1
    )
    # The tool's own export of the prediction is read again as the spans that were predicted.
    tasks = [
        {**task, "predictions": [found]}
        for task, found in zip(predict_request()["tasks"], answer["results"])
    ]
    assert read_spans(tasks, text="ner") == (TEXTS, SPANS)
    assert asked(service, predict_request([]))[1]["results"] == []
    many = predict_request(
        [TEXTS[0] + " " * 4000] * 300
    )  # all tasks that are selected come at once
    assert (
        len(json.dumps(many)) > 1_000_000
        and len(asked(service, many)[1]["results"]) == 300
    )


def test_without_probabilities_there_is_no_score(tmp_path):
    SpanTagger(StructuredPerceptron(random_state=0)).fit(TEXTS, SPANS).save(
        tmp_path / "m"
    )
    status, answer = asked(Backend(str(tmp_path / "m")), predict_request())
    assert status == 200 and "score" not in answer["results"][0]


def test_setup_health_and_metrics(path, caplog):
    service = Backend(str(path))
    given = {
        "project": "2.1629208174",
        "schema": CONFIG,
        "hostname": "http://localhost:8080",
        "access_token": "x",
    }
    aliased = CONFIG.replace('value="PER"', 'value="a person" alias="PER"')
    for schema in CONFIG, aliased:
        assert asked(service, {**given, "schema": schema}, "/setup") == (
            200,
            {"model_version": "ner"},
        )
    said = [each for each in caplog.records if not each.name.endswith(".requests")]
    assert said == []
    asked(service, {**given, "schema": CONFIG.replace("PER", "PERSON")}, "/setup")
    assert "project 2.1629208174 has no label PER" in caplog.text
    for route in "/health", "/":
        assert json.loads(call(service, path=route)[2]) == {
            "status": "UP",
            "model_class": "SpanTagger",
        }
    (about,) = json.loads(call(service, path="/models")[2])["models"]
    assert about["name"] == "ner" and len(about["sha256"]) == 64
    status, headers, body = call(service, path="/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain")
    assert b'skstruct_requests_total{path="/setup",status="200"} 3' in body


@pytest.mark.parametrize(
    "change, error",
    [
        ({"label_config": "<View"}, "cannot be read"),
        ({"label_config": None}, "cannot be read"),
        ({"label_config": "a\ud83d"}, "cannot be read"),
        (
            {"label_config": "<View><Text name='a' value='$a'/></View>"},
            "no tag Labels over a tag Text",
        ),
        ({"tasks": None}, "a list under 'tasks'"),
        (
            {"tasks": [{"id": 5, "data": {"text": "a"}}]},
            "task 5 has no text under 'ner'",
        ),
        ({"tasks": ["a"]}, "has no text"),
        ({"tasks": [{"id": 5, "data": None}]}, "task 5 has no text"),
    ],
)
def test_requests_that_cannot_be_answered(change, error, path):
    status, answer = asked(Backend(str(path)), {**predict_request(), **change})
    assert status == 400 and error in answer["error"]


def test_a_task_without_text_costs_only_its_own_prediction(path, caplog):
    """The others are answered in their order, and so are odd values of texts that are there."""
    service, given = (
        Backend(str(path)),
        predict_request(["", TEXTS[0], "\ud83d", "a\x00b", TEXTS[1]]),
    )
    whole = asked(service, given)[1]["results"]
    assert len(whole) == 5
    for k, odd in ((1, None), (3, 7), (5, {}), (7, ["a"])):
        given["tasks"].insert(k, {"id": f"odd {k}", "data": {"ner": odd}})
    given["tasks"] += [{"id": "without data"}, {"id": "odd", "data": []}, "no task"]
    status, answer = asked(service, given)
    nothing = {"model_version": "ner", "result": []}
    assert status == 200 and len(answer["results"]) == len(given["tasks"])
    assert answer["results"][:9:2] == whole
    assert answer["results"][1:9:2] + answer["results"][9:] == [nothing] * 7
    for k in range(1, 9, 2):
        assert (
            f"task odd {k} has no text under 'ner' in its data: no prediction"
            in caplog.text
        )
    # Nothing is remembered of them.
    assert asked(service, given)[0] == 200


def test_requests_that_change_or_remember_come_from_no_page(path, tmp_path):
    """Every route that is posted to; a page of any site could ask one without the user's knowledge."""
    service = Backend(str(path), collect=str(tmp_path / "a"))
    bodies = {
        "/setup": {"project": "1", "schema": CONFIG},
        "/webhook": webhook_request(),
    }
    posted = [route for route, methods in service.routes.items() if "POST" in methods]
    assert set(posted) == {"/predict", "/setup", "/webhook"}
    for route in posted:
        for origin in "https://evil.example", "null":
            given = bodies.get(route, predict_request())
            status, answer = asked(
                service, given, route, HTTP_ORIGIN=origin, kind="text/plain"
            )
            assert status == 403 and "not for a page in a browser" in answer["error"]
    later = webhook_request()
    del later["task"]
    assert (
        asked(service, later, "/webhook")[0] == 400
    )  # nothing was remembered of the tasks
    assert kept(tmp_path / "a") == []
    assert call(service, path="/health", HTTP_ORIGIN="https://evil.example")[0] == 200


def test_many_clients_at_once_when_more_tasks_came_than_are_remembered(path):
    """Old tasks are forgotten while others are remembered."""
    service, failed = Backend(str(path)), []

    def client(k):
        for i in range(3):
            given = predict_request(["A"] * 1000)
            for number, task in enumerate(given["tasks"]):
                task["id"] = f"{k} {i} {number}"
            status, answer = asked(service, given)
            if status != 200 or len(answer["results"]) != 1000:
                failed.append(answer)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=client, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failed == []


def test_what_was_asked_for_last_is_remembered():
    remembered = Remembered(2)
    for number in 1, 2, 1, 3, "4":
        remembered.keep([{"id": number, "data": number}])
        assert remembered.get(1) == (1 if number != "4" else None)
    assert [remembered.get(k) for k in (2, 3, 4)] == [None, 3, "4"]


def kept(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_annotations_are_kept(path, tmp_path):
    file = tmp_path / "notes.jsonl"
    write_spans(file, ["Cid ran"], [[(0, 3, "PER")]])  # what the model was trained on
    service = Backend(str(path), collect=str(file))

    def hook(*given, **more):
        return asked(service, webhook_request(*given, **more), "/webhook")

    assert hook() == (200, {"status": "ok"})
    assert kept(file)[1] == {
        "text": TEXTS[0], "spans": [{"start": 2, "end": 5, "label": "PER", "text": "Ann"}], "id": 19,
        "annotation": 17,
    }  # fmt: skip
    hook(spans=[(11, 14, "PER")], action="ANNOTATION_UPDATED")
    hook(TEXTS[1], [(0, 3, "PER")], task=20, number=18)
    hook("nobody", [], task=21, number=19)
    X, y = read_spans(file)
    assert X == ["Cid ran", *TEXTS, "nobody"]
    assert y[1:] == [[(10, 13, "PER")], [(0, 3, "PER")], []]
    hook("nobody", [], task=21, number=20, was_cancelled=True)
    gone = {
        "action": "ANNOTATIONS_DELETED",
        "annotations": [{"id": 17}],
        "project": PROJECT,
    }
    assert asked(service, gone, "/webhook")[0] == 200
    assert read_spans(file)[0] == ["Cid ran", TEXTS[1]]
    asked(
        service,
        {"action": "TASKS_DELETED", "tasks": [{"id": 20}], "project": PROJECT},
        "/webhook",
    )
    assert read_spans(file) == (["Cid ran"], [[(0, 3, "PER")]])


def test_a_file_whose_last_line_has_no_end_is_gone_on_with(path, tmp_path):
    file = tmp_path / "notes.jsonl"
    file.write_text('{"text": "Eve", "spans": []}', encoding="utf-8")
    service = Backend(str(path), collect=str(file))
    assert asked(service, webhook_request(), "/webhook") == (200, {"status": "ok"})
    assert read_spans(file) == (["Eve", TEXTS[0]], [[], SPANS[0][:1]])


def test_the_data_of_tasks_that_were_predicted_are_known(path, tmp_path):
    """Older Label Studios name the task of an annotation by its number alone."""
    file = tmp_path / "notes.jsonl"
    service, given = Backend(str(path), collect=str(file)), webhook_request()
    del given["task"]
    status, answer = asked(service, given, "/webhook")
    assert status == 400 and "there are no data of task 19" in answer["error"]
    asked(service, predict_request())
    assert asked(service, given, "/webhook")[0] == 200
    assert read_spans(file)[0] == TEXTS[:1]


def test_nothing_is_collected_unless_asked_and_nothing_from_pages(path, tmp_path):
    assert asked(Backend(str(path)), webhook_request(), "/webhook") == (
        200,
        {"status": "ignored"},
    )
    service = Backend(str(path), collect=str(tmp_path / "a"))
    assert asked(service, webhook_request(action="PROJECT_UPDATED"), "/webhook")[1] == {
        "status": "ignored"
    }
    status, _ = asked(
        service, webhook_request(), "/webhook", HTTP_ORIGIN="https://evil.example"
    )
    assert status == 403
    assert kept(tmp_path / "a") == []


def broken(change):
    given = copy.deepcopy(webhook_request())
    change(given)
    return given


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given.update(annotation=None),
        lambda given: given.update(task=[]),
        lambda given: given.update(project=None),
        lambda given: given["annotation"].update(result="x"),
        lambda given: given["annotation"]["result"][1]["value"].update(end=1000),
        lambda given: given["annotation"]["result"][1]["value"].update(text="other"),
        lambda given: given["task"]["data"].clear(),
    ],
)
def test_webhooks_that_cannot_be_kept(change, path, tmp_path):
    service = Backend(str(path), collect=str(tmp_path / "a"))
    assert asked(service, broken(change), "/webhook")[0] == 400
    assert kept(tmp_path / "a") == []


def test_a_file_of_something_else_is_not_written_over(path, tmp_path):
    file = tmp_path / "a"
    file.write_text("[]\n")
    with pytest.raises(ValueError, match="expected JSON lines of objects"):
        Backend(str(path), collect=str(file))
    assert file.read_text() == "[]\n"


def test_usage(path, tmp_path, capsys):
    given = [str(path), "--label-studio"]
    for options in (
        [str(path), "--collect", "a"], [*given, "--train-on", "5"], [*given, str(path)],
        [*given, "--collect", "a", "--train-on", "0"],
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            main(["serve", *options])
    StructuredPerceptron("word", max_iter=1).fit([["a"]], [["A"]]).save(tmp_path / "m")
    assert main(["serve", str(tmp_path / "m"), "--label-studio"]) == 1
    assert "needs a model that marks spans" in capsys.readouterr().err


def test_labels_that_the_interface_lacks_are_not_sent(path):
    """They could not be shown; an interface that lists none takes its labels from tasks."""
    service = Backend(str(path))
    (status, whole), *_ = [asked(service, predict_request())]
    assert status == 200 and any(each["result"] for each in whole["results"])
    other = {**predict_request(), "label_config": CONFIG.replace("PER", "CITY")}
    found = asked(service, other)[1]["results"]
    assert [each["result"] for each in found] == [[] for _ in found]
    label = '<Label value="PER" background="red"/>'
    open_ = {**predict_request(), "label_config": CONFIG.replace(label, "")}
    assert asked(service, open_)[1]["results"] == whole["results"]
