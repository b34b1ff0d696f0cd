"""The verbs that take X, for the table *kinds of corpus x verbs*; each gives what can
be compared.

A verb is a function of a `Cell`. It says all that it found but the tokens as they are
shown, which differ from kind to kind.
"""

import copy
import functools
import re

import numpy as np
from kind_cases import FEATURES, KINDS, corpus, labels, object_array
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    NumericFeatures,
    ParameterMixer,
    StructuredPerceptron,
    inspection,
)
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
    WordVectors,
)

VERBS = {}
"""Name -> function of a `Cell`."""


ALONE = set()
"""Verbs that take one corpus only."""


def alone(function):
    ALONE.add(function.__name__)
    return verb(function)


def verb(function):
    VERBS[function.__name__] = function
    return function


def perceptron(family, **parameters):
    features = parameters.pop("features", FEATURES[family])
    return StructuredPerceptron(features, max_iter=2, random_state=0, **parameters)


MODELS = {
    "tagger": perceptron,
    "varieties": lambda family: perceptron(
        family, features=["U0:%x[0,0]", "U1:%av2[0,0]"]
    ),
    "order2": lambda family: perceptron(family, order=2),
    "calibrated": lambda family: CalibratedTagger(
        perceptron(family), cv=2, random_state=0
    ),
    "crf": lambda family: L1CRF(FEATURES[family], c1=0.1, max_iter=20, random_state=0),
    "averager": lambda family: BaggingShuffleAverager(
        perceptron(family), 2, random_state=0
    ),
    "mixer": lambda family: ParameterMixer(perceptron(family), 2, random_state=0),
    "reranker": lambda family: KBestReranker(
        perceptron(family), k=3, cv=2, max_iter=2, random_state=0
    ),
    "search": lambda family: GridSearchCV(
        perceptron(family), {"average": [True, False]}, cv=2
    ),
}


@functools.cache
def trained(kind, model):
    """A model of a kind, fitted once; not to be changed."""
    return MODELS[model](KINDS[kind]).fit(corpus(kind, "train"), labels("train"))


class Cell:
    """What a verb gets: the corpus of training, of one kind, and new sentences, of
    another one.
    """

    def __init__(self, training, prediction, folder, part="new", form="as trained"):
        self.kind, self.family, self.folder = training, KINDS[training], folder
        self.X, self.y = corpus(training, "train"), labels("train")
        self.new, self.new_y = corpus(prediction, part, form), labels(part)

    def make(self, model="tagger"):
        """A model that learns from such a corpus, not fitted."""
        return MODELS[model](self.family)

    def model(self, model="tagger"):
        """A fitted one, which no verb changes."""
        return trained(self.kind, model)

    def copy(self, model="tagger"):
        return copy.deepcopy(self.model(model))


def plain(value):
    """Arrays as lists, throughout."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        shown = {
            key: each for key, each in value.items() if key not in ("token", "text")
        }
        return {
            key: sorted(plain(each)) if key == "features" else plain(each)
            for key, each in shown.items()
        }
    return [*map(plain, value)] if isinstance(value, (list, tuple)) else value


def weights(model):
    """All weights by name."""
    found = {
        (name, str(label)): weight
        for name, label, weight in inspection.feature_weights(model)
    }
    return sorted(found.items()), inspection.transition_weights(model)


def seen(cell, model):
    """What a fitted model makes of the new sentences."""
    return model.predict(cell.new), model.decision_function(cell.new)


# -- learning --------------------------------------------------------------------------
@verb
def fit(cell):
    """Trained on the one kind, with held-out sentences of the other."""
    model = cell.make().fit(cell.X, cell.y, X_val=cell.new, y_val=cell.new_y)
    return weights(model), [record["validation_score"] for record in model.history_]


@verb
def partial_fit(cell):
    return weights(cell.copy().partial_fit(cell.new, cell.new_y))


@verb
def warm_start(cell):
    return weights(cell.copy().set_params(warm_start=True).fit(cell.new, cell.new_y))


@verb
def fit_shards(cell):
    """A shard of each kind."""
    shards = [lambda: (cell.X, cell.y), lambda: (cell.new, cell.new_y)]
    return weights(ParameterMixer(cell.make(), 2, random_state=0).fit_shards(shards))


@verb
def shards_of_crf(cell):
    model = cell.make("crf").fit_shards(
        [lambda: (cell.X, cell.y), lambda: (cell.new, cell.new_y)]
    )
    return np.round(model.decision_function(cell.X), 6)


@verb
def adapt(cell):
    strings = cell.family in ("words", "columns", "both")
    return seen(cell, cell.copy("varieties" if strings else "tagger").adapt(cell.new))


@verb
def average(cell):
    return seen(cell, cell.model("averager"))


@verb
def mix(cell):
    return seen(cell, cell.model("mixer"))


@verb
def rerank(cell):
    return cell.model("reranker").predict(cell.new)


@verb
def second_order(cell):
    return seen(cell, cell.model("order2"))


@verb
def crf(cell):
    """Dense columns go through matrix products: the last digits differ."""
    return [np.round(p, 6) for p in cell.model("crf").predict_marginals(cell.new)]


@verb
def search(cell):
    model = cell.model("search")
    return (
        model.predict(cell.new),
        model.cv_results_["mean_test_score"],
        model.score(cell.new, cell.new_y),
    )


@alone
def cross_validate(cell):
    return list(cross_val_predict(cell.make(), cell.X, object_array(cell.y), cv=2))


# -- predicting ------------------------------------------------------------------------
@verb
def predict(cell):
    return cell.model().predict(cell.new)


@verb
def encode(cell):
    """Once, for several verbs, and for parts of the corpus."""
    model = cell.model("calibrated")
    corpus = model.encode(cell.new)
    return [
        (model.predict(X), model.predict_marginals(X))
        for X in (corpus, corpus[::-1], corpus[1:])
    ]


@verb
def decision_function(cell):
    return cell.model().decision_function(cell.new)


@verb
def predict_kbest(cell):
    return cell.model().predict_kbest(cell.new, 3)


@verb
def predict_allowed(cell):
    return cell.model().predict(
        cell.new, allowed=[[("L0", "L1")] * len(s) for s in cell.new_y]
    )


@verb
def predict_marginals(cell):
    """Of a calibrated tagger, as what follows."""
    return cell.model("calibrated").predict_marginals(cell.new)


@verb
def predict_posterior(cell):
    return cell.model("calibrated").predict_posterior(cell.new)


@verb
def sequence_log_proba(cell):
    return cell.model("calibrated").sequence_log_proba(cell.new, cell.new_y)


@verb
def score(cell):
    return cell.model().score(cell.new, cell.new_y)


# -- looking ---------------------------------------------------------------------------
@verb
def explain(cell):
    return [inspection.explain(cell.model(), x).to_dict() for x in cell.new]


@verb
def features_of(cell):
    return [[*map(sorted, inspection.features_of(cell.model(), x))] for x in cell.new]


@verb
def errors(cell):
    return inspection.errors(
        cell.model(), cell.new, cell.new_y, vocabulary=set()
    ).to_dict()


@verb
def report(cell):
    page = inspection.report(cell.model("calibrated"), cell.new, cell.new_y)
    return (
        page.scores,
        page.by_label,
        page.wrong,
        re.sub('(<bdi>|class="mark[^>]*>)[^<]*', "", page.to_html()),
    )


@verb
def select(cell):
    """With and without a look at the tokens."""
    model, given = (
        cell.model("calibrated"),
        {"least_confident": 0.5, "margin": 0.0, "entropy": 0.5},
    )
    return [
        inspection.select(model, cell.new, 3, strategy=s, diversity=d)
        for s, d in given.items()
    ]


@alone
def label_issues(cell):
    # Dicts are shown by their word, which also counts in the chance; what a model
    # surely rejects is found whatever the chance.
    found = inspection.label_issues(cell.make("calibrated"), cell.X, cell.y, cv=2)
    rejected = [issue for issue in found if issue.probability > 0.5]
    assert rejected
    return sorted(
        tuple(issue._replace(text="", chance=None, score=None)) for issue in rejected
    )


@alone
def out_of_fold_marginals(cell):
    return inspection.out_of_fold_marginals(
        cell.make("calibrated"), cell.X, cell.y, cv=2
    )


@verb
def size_curve(cell):
    curve = inspection.size_curve(cell.model(), cell.new, cell.new_y, keep=[1.0, 0.3])
    return curve.keep, curve.score


# -- keeping ---------------------------------------------------------------------------
@verb
def save_and_load(cell):
    """And go on training."""
    cell.model().save(cell.folder / "model")
    model = skstruct.load(cell.folder / "model")
    return seen(cell, model), weights(model.partial_fit(cell.new, cell.new_y))


@verb
def compress(cell):
    return cell.model().compress(dtype="float64").predict(cell.new)


# -- pipelines -------------------------------------------------------------------------
def last_letters(tokens):
    """Those of words, of the columns of tuples, of the names of features, in whatever
    form they come.
    """

    def parts(token):
        if isinstance(token, dict):
            return [
                name if value is True else f"{name}:{value}"
                for name, value in token.items()
            ]
        return [token] if isinstance(token, str) else token

    return np.array(
        [
            [float(ord(part[-1])) for part in parts(token)]
            for token in np.asarray(tokens, dtype=object)
        ]
    )


def foreign(kind, per="corpus"):
    """A transformer of scikit-learn's that reads the tokens of a kind."""
    family, encoder = KINDS[kind], OneHotEncoder(handle_unknown="ignore")
    if family == "both":
        steps = (
            (MaxAbsScaler(), ["x0", "x3"]),
            (encoder if per == "corpus" else "drop", ["class"]),
        )
        return make_column_transformer(*steps)
    if family == "numbers":
        return MaxAbsScaler()
    return (
        encoder
        if family == "columns" and per == "corpus"
        else FunctionTransformer(last_letters)
    )


def vectorizer(kind):
    return TokenVectorizer(
        "auto" if KINDS[kind] == "numbers" else FEATURES[KINDS[kind]]
    )


def vectors(kind):
    return WordVectors(2, min_count=1, random_state=0)


def beside(kind):
    """What stands beside others in a union: what reads the kind."""
    return Window(1, 0) if KINDS[kind] == "numbers" else vectorizer(kind)


STEPS = {
    "token_transformer": lambda kind: TokenTransformer(foreign(kind)),
    "by_sequence": lambda kind: TokenTransformer(
        foreign(kind, "sequence"), per="sequence"
    ),
    "token_vectorizer": vectorizer,
    "word_vectors": vectors,
    "window": lambda kind: Window(1, 1),
    "token_predictions": lambda kind: TokenPredictions(
        make_pipeline(foreign(kind), BernoulliNB()), cv=2
    ),
    "union": lambda kind: SequenceUnion(
        [("a", TokenTransformer(foreign(kind))), ("b", beside(kind))]
    ),
    "union_of_vectors": lambda kind: SequenceUnion(
        [("a", vectorizer(kind)), ("b", vectors(kind))]
    ),
    "passthrough": lambda kind: SequenceUnion(
        [("a", "passthrough"), ("b", Window(1, 0))], transformer_weights={"b": 2.0}
    ),
}
"""Transformers, by the verb that fits one to one kind and lets it see the other; a
tagger is behind it.
"""


@functools.cache
def pipeline(kind, step):
    tagger = StructuredPerceptron(
        NumericFeatures(scale=1.0), max_iter=2, random_state=0
    )
    return make_pipeline(STEPS[step](kind), tagger).fit(
        corpus(kind, "train"), labels("train")
    )


def through(step, cell):
    fitted = pipeline(cell.kind, step)
    found = fitted[:-1].transform(cell.new)
    matrix = found.matrix.toarray() if sparse.issparse(found.matrix) else found.matrix
    return matrix, found.lengths, fitted.predict(cell.new)


VERBS |= {step: functools.partial(through, step) for step in STEPS}
