"""Constructor parameters: written once, shown, checked and kept by every estimator."""

import doctest
import html
import inspect
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
import sklearn
import training_cases
from forked import python
from inside import check_parameters
from sklearn.base import BaseEstimator, clone
from sklearn.utils.fixes import parse_version

import skstruct
from skstruct._core.codes import PENALTIES
from skstruct._training.parameters import (
    Parameters,
    RunParameters,
    documented,
    parameter,
)

STRENGTHS = dict(training_cases.PENALTIES)

ESTIMATORS = [
    c
    for c in (getattr(skstruct, n) for n in skstruct.__all__)
    if hasattr(c, "get_params")
]
each = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)

BY_POSITION = {
    "BaggingShuffleAverager": ["estimator", "n_estimators"],
    "CalibratedTagger": ["estimator"],
    "KBestReranker": ["base", "k", "cv"],
    "L1CRF": ["features"],
    "L1CRFCV": ["features"],
    "ParameterMixer": ["estimator", "n_shards"],
    "PassiveAggressiveTagger": ["features"],
    "Segmenter": ["tagger", "scheme"],
    "ShiftReduceParser": ["templates"],
    "SpanSets": ["estimator"],
    "SpanTagger": ["tagger"],
    "StructuredPerceptron": ["features"],
    "WordSegmenter": ["templates"],
}


def shown(cls):
    """{parameter: (kind and default, text)} of the docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)\n\n", inspect.cleandoc(cls.__doc__), re.M | re.S
    )[1]
    return {
        name: (head, " ".join(text.split()))
        for name, head, text in re.findall(
            r"^(\w+) : (.*)\n((?:    .*(?:\n|$))+)", section, re.M
        )
    }


@each
def test_the_docstring_shows_every_parameter_with_its_default(cls):
    documentation = shown(cls)
    signature = inspect.signature(cls).parameters
    assert list(documentation) == list(signature)
    assert set(signature) == set(cls().get_params(deep=False))
    for name, (head, text) in documentation.items():
        kind, _, default = head.rpartition(", default=")
        assert kind and eval(default, {}) == signature[name].default, (name, head)
        assert len(text) > 5 and text.endswith((".", ")")), (name, text)
        assert "as in :class:`StructuredPerceptron`." not in text.lower()


@each
def test_references_of_the_docstring_exist(cls):
    used = set(re.findall(r"\[(\d)\]_", cls.__doc__))
    assert used == set(
        re.findall(r"^\.\. \[(\d)\]", inspect.cleandoc(cls.__doc__), re.M)
    )


@each
def test_what_may_be_given_by_position(cls):
    kinds = {name: p.kind for name, p in inspect.signature(cls).parameters.items()}
    by_position = [
        name
        for name, kind in kinds.items()
        if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    assert by_position == BY_POSITION[cls.__name__]
    with pytest.raises(TypeError, match="positional argument"):
        cls(*[None] * (len(by_position) + 1))
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_itr'"):
        cls(max_itr=3)


@each
def test_an_estimator_only_stores_its_parameters(cls):
    given = {name: object() for name in inspect.signature(cls).parameters}
    estimator = cls(**given)
    assert vars(estimator) == given
    assert estimator.get_params(deep=False) == given
    assert estimator.set_params(**{next(iter(given)): None}) is estimator


@each
def test_estimators_are_equal_only_to_themselves(cls):
    one, other = cls(), cls()
    assert one != other and len({one, other, one}) == 2
    assert (
        clone(one).get_params(deep=False)
        == pickle.loads(pickle.dumps(one)).get_params(deep=False)
        == one.get_params(deep=False)
    )
    assert repr(one) == f"{cls.__name__}()"


@each
def test_every_parameter_is_checked(cls):
    X, y = ["ab"], [["a", "b"]]
    for name in inspect.signature(cls).parameters:
        # What a tokenizer may be is no matter of its type: `SpanTagger` looks itself.
        what = (
            name if name == "tokenizer" else f"The '{name}' parameter of {cls.__name__}"
        )
        with pytest.raises(ValueError, match=f"{what} must be"):
            cls(**{name: object()}).fit(X, y)


@each
def test_examples_of_docstrings_are_found(cls):
    (test,) = (t for t in doctest.DocTestFinder(recurse=False).find(cls, cls.__name__))
    assert len(test.examples) >= 4


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="shows no text of parameters",
)
@each
def test_scikit_learn_shows_the_text_of_every_parameter(cls):
    class Linked(cls):
        __doc__ = cls.__doc__
        _doc_link_module = __name__.partition(".")[0]
        _doc_link_template = "https://example.org"

    page = Linked()._repr_html_()
    for name, (head, _) in shown(cls).items():
        assert html.escape(f"{name}: {head}") + "<br>" in page


def test_a_shared_parameter_is_one_entry():
    @dataclass(kw_only=True, eq=False, repr=False)
    class Patience(Parameters):
        patience: int = parameter(2, "Epochs to\nwait.")

    @documented(n_jobs="Threads that wait.")
    @dataclass(eq=False, repr=False)
    class Waiting(Patience, RunParameters, BaseEstimator):
        """Waits.

        Notes
        -----
        It does.
        """

        place: str = parameter("here", "Where.", "str", [str])

    assert (
        str(inspect.signature(Waiting))
        == "(place='here', *, patience=2, n_jobs=None, random_state=None)"
    )
    assert inspect.getdoc(Waiting).startswith(
        'Waits.\n\nParameters\n----------\nplace : str, default="here"\n    Where.\n'
        "patience : int, default=2\n    Epochs to wait.\n"
        "n_jobs : int or None, default=None\n    Threads that wait.\n"
    )
    assert inspect.getdoc(Waiting).endswith("\n\nNotes\n-----\nIt does.")
    assert repr(Waiting("there", patience=3)) == "Waiting(patience=3, place='there')"
    with pytest.raises(
        ValueError, match="The 'patience' parameter of Waiting must be an int"
    ):
        check_parameters(Waiting(patience=0))
    with pytest.raises(TypeError, match=r"Waiting has no parameter \['pace'\]"):
        documented(pace="Of waiting.")(Waiting)


STRIPPED = """
import sys
from importlib.machinery import PathFinder, SourceFileLoader

class Stripped(SourceFileLoader):
    def get_code(self, name):
        return compile(self.get_data(self.path), self.path, "exec", optimize=2)

class Finder:
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name.startswith("skstruct") else None
        if spec is not None:
            spec.loader = Stripped(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder())
"""
"""Lets the package be compiled as by ``python -OO``, and not all that it imports."""

UNDOCUMENTED = """
import inspect, skstruct
assert skstruct.__doc__ is None and skstruct.StructuredPerceptron.fit.__doc__ is None
print(*inspect.signature(skstruct.Segmenter).parameters)
try:
    skstruct.StructuredPerceptron(max_iter=0).fit([["a"]], [["b"]])
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("of_all", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_without_docstrings(of_all):
    if of_all:
        command = [sys.executable, "-OO", "-c", UNDOCUMENTED]
    else:
        command = [*python(), "-c", STRIPPED + UNDOCUMENTED]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "tagger scheme\nThe 'max_iter' parameter of StructuredPerceptron must be"
    )


@pytest.mark.parametrize("name", [name for name in PENALTIES if name])
def test_a_penalty_is_entered_where_its_name_is_needed(name):
    known = skstruct.StructuredPerceptron.__doc__.partition("penalty : {")[2].partition(
        "}"
    )[0]
    lacking = []
    if f'"{name}"' not in known:
        lacking.append(f'_training/parameters.py, penalty: Literal[..., "{name}"]')
    if name not in STRENGTHS:
        lacking.append(f'tests/training_cases.py, PENALTIES: ("{name}", 2**-5)')
    assert not lacking, "add to " + "\n".join(lacking)


SENTENCE = [("the", "D"), ("dog", "N"), ("saw", "V"), ("cats", "N")]
TREE = [(2, "det"), (3, "nsubj"), (0, "root"), (3, "obj")]


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (skstruct.ShiftReduceParser("hs28", max_iter=2), [SENTENCE], [TREE]),
        (skstruct.WordSegmenter(max_iter=2), ["abcab"], [["ab", "c", "ab"]]),
    ],
    ids=["parser", "words"],
)
def test_a_beam_size_set_after_fitting_is_that_of_prediction(model, X, y):
    model.set_params(beam_size=8, random_state=0).fit(X, y)
    assert len(model.predict_kbest(X, 3)[0]) == 3
    model.set_params(beam_size=1)
    assert len(model.predict_kbest(X, 3)[0]) == 1
    narrow = model.predict(X), model.decision_function(X).tolist(), model.score(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (
        again.predict(X),
        again.decision_function(X).tolist(),
        again.score(X, y),
    ) == narrow
    for wrong in (-1, 0, "all"):
        model.set_params(beam_size=wrong)
        for verb in (model.predict, model.predict_kbest, model.decision_function):
            with pytest.raises(ValueError, match="The 'beam_size' parameter"):
                verb(X)


@pytest.mark.parametrize("penalty", ["elasticnet", "elastic-net", ("l1", "l2")])
@each
def test_two_penalties_at_once_are_refused_with_who_has_them(cls, penalty):
    if "penalty" not in cls().get_params():
        return
    with pytest.raises(ValueError, match="Got .*; L1 and L2 do not combine.*L1CRF"):
        check_parameters(cls(penalty=penalty))


@each
def test_no_thread_at_all_is_refused_before_anything_is_fitted(cls):
    if "n_jobs" not in cls().get_params():
        return
    with pytest.raises(ValueError, match="'n_jobs' parameter .* Got 0 instead"):
        check_parameters(cls(n_jobs=0))
    check_parameters(cls(n_jobs=-1))
