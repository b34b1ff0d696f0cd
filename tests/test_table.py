"""The table *every model x every verb*: each cell works, or has a named reason why the
model lacks the verb.

A new model is entered in `model_cases`, a new verb in the package `verbs`; tests at the
end hold that none is left out. What a cell may lack stands in `verbs.lacks`: the error
that a user gets. Every other cell has to work, but for those of costly verbs, which are
tried on `BASES`.

A run tries a cover: each verb with all that a model is made of (`model_cases.traits`). All cells are
tried under the mark ``slow``, once a week.
"""

import functools
import inspect
import re
from fnmatch import fnmatch

import inside
import pytest
from covers import cover, slow_beyond
from model_cases import (
    ALL_CASES,
    CASES,
    KINDS_OF_TOKENS,
    WITHOUT_LABELS,
    inner_of,
    traits,
)
from verbs.cell import COSTLY, VERBS, Cell, trained
from verbs.lacks import LACKS, lack_of

import skstruct
import skstruct.cli
from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    SpanSets,
    SpanTagger,
    inspection,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def first_of_each(names, kind=lambda name: type(ALL_CASES[name][1]())):
    """The first of the names of each class of estimators."""
    found = {}
    for name in names:
        found.setdefault(kind(name), name)
    return [*found.values()]


PLAIN = [
    name for name in CASES | WITHOUT_LABELS if inner_of(ALL_CASES[name][1]()) is None
]
BASES = {
    *PLAIN,
    *first_of_each(CASES),
    *first_of_each(KINDS_OF_TOKENS, lambda name: ALL_CASES[name][0]),
}
"""Every plain model, one base for each wrapper, one model for each kind of token."""


@functools.cache
def first_predicted(name):
    """What the model of a case predicts before any verb has used it."""
    model, X, _ = trained(name, 4)
    return model.predict(X)


KERNELS_OF_THEIR_OWN = {
    (name, "fit_with_sets")
    for name in (
        "perceptron-order2-rows",
        "calibrated-rows",
        "perceptron-order2-frames",
    )
}
"""Cells that compile for several seconds what nothing else calls: sets of labels over
rows of numbers are tried without them, too.
"""


def held(cell):
    """What a cell tries: each trait of the model with the verb, and the model at
    all.
    """
    name, verb = cell
    return {(trait, verb) for trait in traits(name)} | {name}


CELLS = [
    (name, verb)
    for name in ALL_CASES
    for verb in VERBS
    if lack_of(name, verb) is None and (verb not in COSTLY or name in BASES)
]
QUICK = [cell for cell in CELLS if cell not in KERNELS_OF_THEIR_OWN]
COVER = {QUICK[k] for k in cover(QUICK, held)}


@pytest.mark.parametrize(
    "name, verb",
    slow_beyond(COVER, CELLS, lambda name, verb: pytest.mark.xdist_group(name)),
)
def test_cell(name, verb, tmp_path, capsys):
    """A verb does what its function says, and leaves the model as it was."""
    cell = Cell(name, tmp_path, capsys)
    before = first_predicted(name)
    VERBS[verb](cell)
    assert cell.model.predict(cell.X) == before


@pytest.mark.xdist_group("refusals")
@pytest.mark.parametrize("verb", LACKS)
def test_refusals(verb, tmp_path, capsys):
    """Each reason, on the first model of each class that has it."""
    lacking = [name for name in ALL_CASES if lack_of(name, verb) is not None]
    for name in first_of_each(
        lacking, lambda name: (type(ALL_CASES[name][1]()), lack_of(name, verb))
    ):
        error, message = lack_of(name, verb)
        with pytest.raises(error, match=message):
            VERBS[verb](Cell(name, tmp_path, capsys))


REASONED = (
    "partial_fit", "fit_shards", "member_scores", "adapt", "predict_kbest", "predict_marginals",
    "predict_posterior", "sequence_log_proba", "predict_segment_proba", "decision_function",
)  # fmt: skip
"""Methods that not every estimator has: the error that another one raises ends with the
reason.
"""


@pytest.mark.xdist_group("refusals")
@pytest.mark.parametrize("verb", REASONED)
def test_what_is_absent_says_why(verb):
    models = [make() for _, make in ALL_CASES.values()] + [
        trained(name, 4)[0] for name in first_of_each(CASES)
    ]
    for model in models:
        if not hasattr(model, verb):
            with pytest.raises(
                AttributeError,
                match=f"no attribute '{verb}': {type(model).__name__} [a-z]",
            ):
                getattr(model, verb)


# -- nothing is left out ---------------------------------------------------------------
def test_every_trait_meets_every_verb():
    """What all cells try, the cells of each run try."""
    tried = set().union(*map(held, COVER))
    assert tried == set().union(*map(held, QUICK))
    assert len(COVER) < len(CELLS) / 2


PLUMBING = r"(get|set)_params|get_metadata_routing|set_\w+_request|set_callbacks"
"""Methods of scikit-learn's."""

ELSEWHERE = {"save": "save_and_load"}
"""Methods that verbs of another name try."""

MISSING_VERBS = (
    "write a function of this name, marked @verb, in a file of tests/verbs (those of "
    "inspection in looking.py), and in tests/verbs/lacks.py the models that lack it"
)
"""What to do about names without a column."""

COMMANDS_WITHOUT_MODELS = {"demo", "train", "check", "compare", "compile"}

METAS = {
    "segment": Segmenter,
    "spans": SpanTagger,
    "average": BaggingShuffleAverager,
    "calibrate": CalibratedTagger,
    "offer": SpanSets,
    "mix": ParameterMixer,
    "rerank": KBestReranker,
}
"""The estimators that take others, by the verb that tries it."""


def estimators():
    public = (getattr(skstruct, name) for name in skstruct.__all__)
    return {each for each in public if inspect.isclass(each) and hasattr(each, "fit")}


def test_every_estimator_has_a_row():
    rows = {type(make()) for _, make in ALL_CASES.values()}
    assert rows == estimators() == set(inside.savable().values())


def test_every_nesting_that_works_has_a_row():
    made = {name: make() for name, (_, make) in ALL_CASES.items()}
    assert {type(m) for m in made.values() if inner_of(m) is not None} == set(
        METAS.values()
    )
    there = {
        (type(m), type(inner_of(m))) for m in made.values() if inner_of(m) is not None
    }
    plain = {
        name: m for name, m in made.items() if type(inner_of(m)) not in METAS.values()
    }
    works = {
        (METAS[verb], type(m))
        for verb in METAS
        for name, m in plain.items()
        if not lack_of(name, verb)
    }
    assert works - there == set()


def test_every_method_has_a_column():
    methods = {
        name
        for each in estimators()
        for name in dir(each)
        if not name.startswith("_")
        and callable(getattr(each, name))
        and not re.fullmatch(PLUMBING, name)
    }
    missing = {ELSEWHERE.get(name, name) for name in methods} - {*VERBS, "inputs"}
    assert missing == set(), f"{MISSING_VERBS}: {missing}"


def test_every_argument_of_predict_has_a_column():
    arguments = {
        name
        for each in estimators()
        for name in inspect.signature(each.predict).parameters
    }
    others = {"self", "X", "arguments", "options", "kwargs", "params"}
    missing = arguments - others - {*VERBS}
    assert missing == set(), f"{MISSING_VERBS}: {missing}"


def test_every_function_on_models_has_a_column():
    functions = {
        name
        for name in inspection.__all__
        if inspect.isfunction(getattr(inspection, name))
    }
    missing = functions - {*VERBS}
    assert missing == set(), f"{MISSING_VERBS}: {missing}"
    assert {*skstruct.cli.COMMANDS} - {*VERBS} == COMMANDS_WITHOUT_MODELS


def test_every_reason_is_needed():
    for verb, reasons in LACKS.items():
        assert verb in VERBS
        for row in " ".join(reasons).split():
            assert any(fnmatch(name, row) for name in ALL_CASES), (
                f"{verb}: no model is called {row}"
            )
