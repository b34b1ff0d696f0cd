"""Tasks of Label Studio: several texts, several labels, and what storages hold."""

import contextlib

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.contents import NOT_ANNOTATED
from skstruct.datasets.formats.span_files import AnnotationReader
from skstruct.datasets.formats.span_records import Reading


def region(start, end, *labels, to="text"):
    value = {"start": start, "end": end, "labels": list(labels)}
    return {"type": "labels", "from_name": "label", "to_name": to, "value": value}


def task(*regions, **data):
    return {
        "id": 1,
        "data": {"text": "Ann ran", **data},
        "annotations": [{"result": list(regions)}],
    }


def test_regions_of_another_text_are_left_out():
    """A tag Text that is called as another text of the task is that one's."""
    both = task(region(0, 3, "PER"), region(0, 4, "X", to="title"), title="Title")
    with pytest.warns(UserWarning, match=r"1 span \(of the text 'title'\), first"):
        assert read_spans([both]) == (["Ann ran"], [[(0, 3, "PER")]])
    with pytest.warns(UserWarning, match=r"1 span \(of the text 'text'\), first"):
        assert read_spans([both], text="title") == (["Title"], [[(0, 4, "X")]])


@pytest.mark.filterwarnings("error")
def test_tags_of_other_names_are_chosen():
    both = task(region(0, 3, "PER", to="a"), region(4, 7, "X", to="b"))
    assert read_spans([task(region(0, 3, "PER", to="a"))])[1] == [[(0, 3, "PER")]]
    with pytest.raises(ValueError, match="several tags Text: 'a', 'b'; name the one"):
        read_spans([both])
    assert read_spans([both], to_name="a")[1] == [[(0, 3, "PER")]]
    with pytest.raises(ValueError, match="there is no to_name 'c'; found a, b"):
        read_spans([both], to_name="c")


def test_annotations_as_a_storage_holds_them():
    stored = {
        "id": 7,
        "completed_by": {"id": 1},
        "task": {"id": 3, "data": {"text": "Ann ran"}},
        "result": [region(0, 3, "PER")],
        "was_cancelled": False,
    }
    X, y, metadata = read_spans([stored], return_metadata=True)
    assert (X, y, metadata) == (["Ann ran"], [[(0, 3, "PER")]], [{"id": 3}])
    with pytest.warns(UserWarning, match="1 record .cancelled."):
        assert read_spans([{**stored, "was_cancelled": True}]) == ([], [])


def test_two_labels():
    two = task(region(0, 3, "PER", "VIP"))
    with pytest.raises(ValueError, match="pass labels='first' to take the first"):
        read_spans([two])
    assert read_spans([two], labels="first")[1] == [[(0, 3, "PER")]]
    assert read_spans([two], labels="VIP")[1] == [[(0, 3, "VIP")]]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"annotations": []}, NOT_ANNOTATED),
        ({"annotations": None}, "null under 'annotations'"),
        ({"annotations": [{"id": 1}]}, "an annotation without result"),
        (
            {"annotations": [], "marks": [{"result": []}]},
            "a list under 'marks' that is not understood",
        ),
    ],
)
def test_why_a_task_is_left_out(change, why):
    reading = Reading(AnnotationReader())
    tasks = [task(region(0, 3, "PER")), {**task(), **change}]
    with contextlib.ExitStack() as told:
        if why is not NOT_ANNOTATED:
            told.enter_context(pytest.warns(UserWarning, match="left out: 1 record"))
        found = list(reading.options.marked(tasks, reading))
    assert len(found) == 1 and list(reading.contents.records.left_out) == [why]


def test_other_results_are_counted():
    choice = {"type": "choices", "value": {"choices": ["a"]}}
    with pytest.warns(UserWarning, match="1 span .of the type 'choices', which is no"):
        assert read_spans([task(region(0, 3, "PER"), choice)])[1] == [[(0, 3, "PER")]]


@pytest.mark.parametrize("who", ["one", "two"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_ground_truth_counts_before_later_annotations(order, who):
    """Wherever it stands, and whoever made the others; unless an annotator is named."""
    value = {"start": 0, "end": 3, "labels": ["PER"]}
    result = [{"type": "labels", "from_name": "l", "to_name": "text", "value": value}]
    annotations = [
        {"result": [], "created_at": f"2024-01-0{day}", "completed_by": who}
        for day in (1, 3)
    ]
    truth = {"result": result, "created_at": "2024-01-02", "ground_truth": True}
    annotations.insert(order, {**truth, "completed_by": "one"})
    task = {"data": {"text": "Ann ran"}, "annotations": annotations}
    assert read_spans([task])[1] == [[(0, 3, "PER")]]
    if who == "two":
        assert read_spans([task], annotator="two")[1] == [[]]
