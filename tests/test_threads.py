"""Threads that share what they may share get what one thread gets alone.

That is every fitted model (loaded, so that nothing is prepared yet), every transformer,
pipelines, and the application of a service. Threads come first and the single one
second, so that caches of the package are cold when they are raced for.
"""

import json
import sys
import threading
import time

import numpy as np
import pytest
from model_cases import (
    ALL_CASES,
    CASES,
    KINDS_OF_TOKENS,
    WITHOUT_LABELS,
    covering,
    fitted,
)
from scipy import sparse
from serving_cases import asked
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import L1CRF, load
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
    WordVectors,
)
from skstruct.inspection import explain, render
from skstruct.serving import app

pytestmark = pytest.mark.filterwarnings("ignore")

THREADS = 4

METHODS = (
    "predict", "decision_function", "predict_kbest", "predict_marginals", "predict_segment_proba",
    "predict_sets", "sequence_posterior", "transform",
)  # fmt: skip
"""Methods of one argument, for those that have them."""


def plain(value):
    """A result as something that ``==`` compares to the bit."""
    if isinstance(value, np.ndarray):
        return (
            value.shape,
            value.dtype.str,
            value.tobytes() if value.dtype != object else repr(value),
        )
    if sparse.issparse(value):
        value = value.tocsr()
        return value.shape, *(
            plain(part) for part in (value.data, value.indices, value.indptr)
        )
    if isinstance(value, (list, tuple)) or hasattr(value, "offsets"):
        return [plain(each) for each in value]
    return (
        value
        if isinstance(value, (str, int, float, bytes, type(None)))
        else repr(value)
    )


def outcome(job):
    """What a job gives, or the message of its error."""
    try:
        return plain(job())
    except ValueError as error:  # of a model without a label scheme, say
        return type(error), str(error)


def hammered(jobs, rounds=3):
    """{number of a job: list of what it gives, in many threads at once}."""
    found, failed = {k: [] for k in range(len(jobs))}, []
    start = threading.Barrier(THREADS)

    def run(first):
        start.wait()
        try:
            for k in range(rounds * len(jobs)):
                number = (first + k) % len(jobs)
                found[number].append(outcome(jobs[number]))
        except BaseException as error:
            failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    try:
        firsts = (k * len(jobs) // THREADS for k in range(THREADS))
        threads = [threading.Thread(target=run, args=(first,)) for first in firsts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failed == []
    return found


def check(jobs_of, shared, alone):
    """Compare what threads get of a shared object with what one gets of an equal
    one.
    """
    found = hammered(jobs_of(shared))
    for number, job in enumerate(jobs_of(alone)):
        expected = outcome(job)
        assert len(found[number]) == 3 * THREADS
        assert all(each == expected for each in found[number])


def jobs_over(X):
    """The function that gives the jobs of an estimator: methods times parts of X."""
    parts = [X, X[:1], X[1:2], X[2:5], X[-1:]]

    def jobs(estimator):
        methods = [
            getattr(estimator, name) for name in METHODS if hasattr(estimator, name)
        ]
        return [lambda f=f, part=part: f(part) for f in methods for part in parts]

    return jobs


@pytest.mark.parametrize("name", covering([*CASES, *WITHOUT_LABELS, *KINDS_OF_TOKENS]))
def test_models(name, tmp_path):
    model, X, _ = fitted(name, 4)
    model.save(tmp_path / "model")
    check(jobs_over(X), *(load(tmp_path / "model") for _ in range(2)))


@pytest.mark.parametrize("name", ["perceptron", "l1crf", "spans-l1crf", "parser"])
def test_explanations_and_pictures(name, tmp_path):
    model, X, _ = fitted(name, 4)
    model.save(tmp_path / "model")

    def jobs(model):
        return [
            lambda: explain(model, X[0]).describe(3),
            lambda: explain(model, X[1]).describe(3),
            lambda: str(render(X[:2], model.predict(X[:2]))),
        ]

    check(jobs, *(load(tmp_path / "model") for _ in range(2)))


WORDS, LABELS = (part for part in ALL_CASES["perceptron"][0](4))
ROWS = [np.random.default_rng(k).normal(size=(3 + k % 3, 2)) for k in range(12)]
OF_ROWS = [[str(row[0] > 0) for row in x] for x in ROWS]

TRANSFORMERS = {
    "TokenVectorizer": (
        lambda: TokenVectorizer(["U0:%x[0,0]", "U1:%x[-1,0]"]),
        WORDS,
        LABELS,
    ),
    "TokenTransformer": (lambda: TokenTransformer(StandardScaler()), ROWS, OF_ROWS),
    "Window": (lambda: Window(1, 1), ROWS, OF_ROWS),
    "SequenceUnion": (
        lambda: SequenceUnion(
            [("a", TokenTransformer(StandardScaler())), ("b", Window(1, 0))]
        ),
        ROWS,
        OF_ROWS,
    ),
    "TokenPredictions": (
        lambda: TokenPredictions(LogisticRegression(), cv=2),
        ROWS,
        OF_ROWS,
    ),
    "WordVectors": (
        lambda: WordVectors(n_components=2, n_clusters=2, random_state=0),
        WORDS,
        LABELS,
    ),
    "pipeline": (
        lambda: make_pipeline(
            TokenTransformer(StandardScaler()), L1CRF(max_iter=5, random_state=0)
        ),
        ROWS,
        OF_ROWS,
    ),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name):
    make, X, y = TRANSFORMERS[name]
    check(jobs_over(X), *(make().fit(X, y) for _ in range(2)))


def test_the_application_of_a_service(tmp_path):
    names = {
        "tags": "l1crf",
        "spans": "spans-l1crf",
        "trees": "parser",
        "words": "segmenter-l1crf",
    }
    data = {}
    for route, name in names.items():
        model, data[route], _ = fitted(name, 4)
        model.save(tmp_path / route)

    def jobs(application):
        requests = []
        for route, X in data.items():
            body = json.dumps(X[:3]).encode()
            queries = ["", "kbest=2"] + ["proba=1"] * (route != "trees")
            requests += [(body, f"/{route}/predict", query) for query in queries]
            requests += [
                (b'[[{"a": []}]]', f"/{route}/predict", "")
            ]  # and one that is refused
        return [
            lambda body=body, path=path, query=query: asked(
                application, body, path, query=query
            )
            for body, path, query in requests
        ]

    services = [
        app({route: load(tmp_path / route) for route in names}) for _ in range(2)
    ]
    assert {status for status, _ in (job() for job in jobs(services[1]))} == {200, 400}
    check(jobs, *services)


class Leaking:
    """Passes its argument through an attribute, which no object that is shared may
    do.
    """

    def predict(self, X):
        self.X = X
        time.sleep(0.001)
        return list(self.X)


def test_what_passes_arguments_through_attributes_is_found():
    with pytest.raises(AssertionError):
        check(jobs_over(list("abcdef")), Leaking(), Leaking())
