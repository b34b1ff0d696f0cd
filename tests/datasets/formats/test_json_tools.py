"""Records of tools that differ from others in their keys."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME

TEXT = "Ann in Rome"
SPANS = [(0, 3, "PER")]
RECORDS = {
    "presidio": {
        "full_text": TEXT,
        "spans": [
            {
                "entity_type": "PER",
                "entity_value": "Ann",
                "start_position": 0,
                "end_position": 3,
            }
        ],
    },
    "rasa": {
        "rasa_nlu_data": {
            "common_examples": [
                {
                    "text": TEXT,
                    "intent": "x",
                    "entities": [
                        {"start": 0, "end": 3, "value": "Anna", "entity": "PER"}
                    ],
                }
            ]
        }
    },
    "dataturks": {
        "content": TEXT,
        "annotation": [
            {"label": ["PER"], "points": [{"start": 0, "end": 2, "text": "Ann"}]}
        ],
    },
    "pubannotation": {
        "text": TEXT,
        "denotations": [{"span": {"begin": 0, "end": 3}, "obj": "PER"}],
    },
    "spacy-doc": {
        "text": TEXT,
        "ents": [{"start": 0, "end": 3, "label": "PER"}],
        "tokens": [{"id": 0, "start": 0, "end": 3}],
    },
    "vertex": {
        "textContent": TEXT,
        "textSegmentAnnotations": [{"endOffset": 3, "displayName": "PER"}],
    },
    "ground-truth": {
        "source": TEXT,
        "task": {
            "annotations": {
                "entities": [{"startOffset": 0, "endOffset": 3, "label": "PER"}],
                "labels": [{"label": "PER"}],
            }
        },
        "task-metadata": {"type": "groundtruth/text-span"},
    },
    "kili": {
        "externalId": "a",
        "content": TEXT,
        "labels": [
            {
                "labelType": "DEFAULT",
                "jsonResponse": {
                    "NER": {
                        "annotations": [
                            {
                                "beginOffset": 0,
                                "endOffset": 3,
                                "content": "Ann",
                                "categories": [{"name": "PER"}],
                            }
                        ]
                    }
                },
            }
        ],
    },
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", RECORDS)
def test_it_is_known_by_its_keys(name):
    record, format = RECORDS[name], BY_NAME[name]
    assert format.look(Head.of_records("x", [record])).is_yes
    assert not format.look(Head.of_records("x", [{"text": TEXT}])).is_yes
    assert read_spans([record]) == ([TEXT], [SPANS])


EMPTY = {
    "presidio": {"full_text": "no one", "spans": []},
    "pubannotation": {"text": "no one", "denotations": []},
    "spacy-doc": {"text": "no one", "ents": [], "tokens": []},
    "vertex": {"textContent": "no one", "textSegmentAnnotations": []},
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EMPTY)
def test_empty_records_first_hide_nothing(name):
    """More of them than are looked at."""
    records = [*[EMPTY[name]] * 60, RECORDS[name]]
    X, y = read_spans(records)
    assert len(X) == 61 and y == [*[[]] * 60, SPANS]


@pytest.mark.parametrize("name", [n for n in RECORDS if n != "rasa"])
def test_a_record_of_another_format_names_both(name):
    other = "doccano" if name != "doccano" else "presidio"
    line = {"text": "Bo", "label": [[0, 2, "PER"]]}
    with pytest.raises(ValueError, match=f"record 3: .* of {other}, .* as {name}"):
        read_spans([*[RECORDS[name]] * 3, line])
    with pytest.raises(ValueError, match=f"record 3: .* of {name}, .* as {other}"):
        read_spans([*[line] * 3, RECORDS[name]])


def test_what_nobody_annotated_is_left_out_and_ends_can_be_named():
    record = RECORDS["dataturks"]
    with pytest.warns(UserWarning, match=r"left out: 1 record \(null under"):
        assert read_spans([record, {"content": "x", "annotation": None}])[0] == [TEXT]
    assert read_spans([record], ends="inclusive")[1] == [SPANS]


def test_rasa_says_what_a_span_stands_for():
    """A value is a synonym, or as the user wrote it; examples may have no spans."""
    examples = [
        {
            "text": "fly to NYC",
            "entities": [
                {"start": 7, "end": 10, "value": "New York City", "entity": "city"}
            ],
        },
        {"text": "hi", "intent": "greet"},
    ]
    data = {"rasa_nlu_data": {"common_examples": examples}}
    assert read_spans([data]) == (["fly to NYC", "hi"], [[(7, 10, "city")], []])


def test_what_a_tool_writes_in_place_of_spans_is_told():
    ground_truth = RECORDS["ground-truth"]
    two = {**ground_truth, "other": ground_truth["task"]}
    with pytest.raises(
        ValueError,
        match="several jobs have spans: task, other; choose one, such as spans=",
    ):
        read_spans([two])
    assert read_spans([two], spans="other.annotations.entities")[1] == [SPANS]
    renamed = {**ground_truth, "task": {"annotations": {"marks": []}}}
    with pytest.warns(UserWarning, match="no list under 'task.annotations.entities'"):
        assert read_spans([ground_truth, renamed])[1] == [SPANS]
    kili = RECORDS["kili"]
    classes = {**kili, "labels": [{"jsonResponse": {"JOB": {"categories": []}}}]}
    with pytest.warns(
        UserWarning, match="1 record .no annotations under 'jsonResponse"
    ):
        assert read_spans([kili, classes])[1] == [SPANS]
    with pytest.warns(UserWarning, match="1 span .in an earlier label of the asset"):
        assert read_spans([{**kili, "labels": kili["labels"] * 2}])[1] == [SPANS]


def test_examples_of_old_rasa():
    example = RECORDS["rasa"]["rasa_nlu_data"]["common_examples"]
    data = {"common_examples": [], "entity_examples": example}
    assert read_spans([{"rasa_nlu_data": data}]) == ([TEXT], [SPANS])


def test_jobs_of_kili():
    record = RECORDS["kili"]
    answers = record["labels"][0]["jsonResponse"]
    two = {**record, "labels": [{"jsonResponse": {**answers, "B": answers["NER"]}}]}
    with pytest.raises(
        ValueError, match="several jobs have spans: NER, B; choose one with spans="
    ):
        read_spans([two])
    assert read_spans([two], spans="B")[1] == [SPANS]
