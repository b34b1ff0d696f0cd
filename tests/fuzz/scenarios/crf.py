"""L1CRF: its objective, gradient and optimum, over shards and along a path of
penalties.
"""

import numpy as np

from skstruct import L1CRF, regularization_path
from skstruct.features import TokenVectorizer

from ... import inside
from .. import drawing, estimators
from ..cases import scenario
from ..checks import check_decoding, objective_of, some
from ..corpora import STRINGS, Corpus
from ..outcomes import attempt, close, finite
from .taggers import check_all, weights


@scenario
def crf_blocks(draw):
    """Lengths about the sizes of groups of sequences, partially labelled, with labels
    that training lacks.
    """
    n, base = draw.one(1, 2, 3, 5, 16, 17), draw.one(*drawing.BLOCKS, 129, 255)

    def corpus(n_labels):
        sizes = [
            base + draw.int(0, 1)
            for _ in range(draw.one(1, 7, 8, 9, 16, 17, 31, 32, 33, 40))
        ]
        if draw.tiny:
            sizes = [min(size, 6) for size in sizes[:9]]
        y = [draw.rng.integers(0, n_labels, size).tolist() for size in sizes]
        return [
            [{"a": True, f"w{k % 3}": draw.one(True, 0.5)} for k in s] for s in y
        ], y

    (X, y), given = corpus(n), {}
    share = draw.one(0.0, 0.3, 0.9)
    y = [
        [None if draw.chance(share) else k for k in s] if draw.chance(0.7) else s
        for s in y
    ]
    if all(k is None for s in y for k in s):
        y[0][0] = 0
    if draw.chance(0.5):
        given = dict(zip(("X_val", "y_val"), corpus(n + 2)))
    parameters = estimators.crf_parameters(draw, most=3)
    draw.note(
        n_labels=n,
        base=base,
        sequences=len(y),
        partial=share,
        X_val=bool(given),
        **parameters,
    )
    model = L1CRF(**parameters).fit(X, y, **given)
    if finite(model.objective_):
        close(model.objective_, objective_of(model, X, y), "objective_", 1e-6, 1e-6)
    check_decoding(draw, model, X)


@scenario
def crf_gradient(draw):
    """The gradient against finite differences, in all layouts of the sums."""
    scheme = draw.one(*drawing.SCHEME_LABELS) if draw.chance(0.2) else None
    corpus = Corpus(
        draw, most_labels=draw.one(3, 9, 20), budget=draw.one(30, 200), scheme=scheme
    )
    if corpus.kind == "dict-values":
        corpus.tokens.size = 1.0
        corpus.X, corpus.y = corpus.made(draw, drawing.lengths(draw, 100))
    model = estimators.tagger(draw, corpus, "crf").set_params(warm_start=False)
    X, weight = corpus.X, weights(draw, corpus)
    if corpus.kind in STRINGS and draw.chance(0.3):
        rows = attempt("vectorizer", TokenVectorizer(model.features).fit_transform, X)
        if rows is not None:
            X = rows
            model.set_params(features="auto", min_count=1)
    objective = inside.run_of(model, X, corpus.y, weight).new_objective(model.c1)
    pairs = np.flatnonzero(
        draw.rng.random(objective.n_optional) < draw.one(1.0, 1.0, 0.5, 0.05)
    )
    view = objective.view(pairs)
    w = draw.rng.normal(size=view.size) * draw.one(0.1, 1.0, 3.0)
    direction = draw.rng.normal(size=view.size)
    direction /= max(1.0, np.linalg.norm(direction))
    value, gradient = objective.evaluate(view, w, keep=True)
    n = objective.n_optional
    if pairs.shape[0] == n:
        close(objective.gradient_of_all(w[:n]), gradient[:n], "gradient_of_all")
    step = 1e-4 / max(1.0, np.abs(direction).max(initial=0.0) * 10)
    ahead, behind = (
        objective.evaluate(view, w + s * step * direction)[0] for s in (1, -1)
    )
    slope, rounding = (ahead - behind) / (2 * step), 1e-9 * abs(value) / step
    close(
        float(gradient @ direction),
        slope,
        "gradient and difference",
        2e-4,
        2e-4 + rounding,
    )
    close(
        objective.evaluate(view, w)[0], value, "objective evaluated again", 1e-12, 1e-12
    )
    objective.curvature(view, w)
    objective.close()


def _small_problem(draw, **how):
    """A corpus, and parameters under which the optimum is one and is reached."""
    labels = [f"L{k}" for k in range(draw.one(2, 3, 5))]
    kind = draw.one("str", "dict", "dense", "sparse")
    corpus = Corpus(draw, kind, labels, budget=draw.one(30, 80), partial=0.0, **how)
    found = {
        "c1": draw.one(0.0, 0.1, 1.0),
        "c2": draw.one(0.05, 0.5),
        "tol": 1e-10,
        "max_iter": 3000,
    }
    found |= {
        "random_state": 0,
        "all_pairs": draw.one(True, False, "states", "transitions"),
    }
    draw.note(**found)
    return corpus, found | {"features": estimators.features(draw, kind)}


@scenario
def crf_optimum(draw):
    """Solvers reach one optimum; weights count as repetitions; names of labels do not
    matter.
    """
    corpus, given = _small_problem(draw)
    X, y = corpus.X, corpus.y

    def fitted(X=X, y=y, weight=None, **changes):
        return L1CRF(**{"solver": "owlqn", **given, **changes}).fit(X, y, weight)

    def agree(one, other, what):
        # Where the passes did not suffice, the bound says how far a model may be from
        # the optimum.
        loose = 1e-5 + sum(m.gap_ for m in (one, other) if m.n_iter_ == m.max_iter)
        close(one.objective_, other.objective_, what, loose, 1e-5)

    best = fitted()
    agree(fitted(solver="two-stage"), best, "two-stage and owlqn")
    names = {label: f"{9 - k}" for k, label in enumerate(corpus.labels)}
    agree(fitted(y=[[names[label] for label in s] for s in y]), best, "labels renamed")
    if isinstance(X, list):
        double = fitted(weight=np.full(len(y), 2.0))
        agree(double, fitted(X + X, y + y), "weights of 2 and repetition")
    if draw.chance(0.5):
        best, sgd = (
            best.objective_,
            fitted(solver="sgd", sgd_iter=150, decay=0.97, eta0=0.1).objective_,
        )
        draw.note(sgd=sgd, optimum=best)
        assert sgd >= best * (1 - 1e-4) - 1e-4, "sgd ends below the optimum"
        if given[
            "c1"
        ]:  # without L1, and with two wide rows, 150 passes are far from enough
            assert sgd <= best * 1.5 + 1.0, f"sgd ends at {sgd}, the optimum is {best}"


@scenario
def crf_path(draw):
    """The models of a path are the optima of single fits, with ever fewer zeros."""
    corpus, given = _small_problem(draw, least=2)
    c1s = sorted(
        {draw.one(0.0, 0.01, 0.1, 0.3, 1.0, 5.0) for _ in range(draw.int(1, 4))},
        reverse=True,
    )
    given["solver"] = draw.one("two-stage", "owlqn")
    (X, y), held_out = corpus.new, {}
    if draw.chance(0.5):
        held_out = {"X_val": X, "y_val": y}
    weight = weights(draw, corpus)
    points = regularization_path(
        L1CRF(**given), corpus.X, corpus.y, c1s, sample_weight=weight, **held_out
    )
    assert [point.c1 for point in points] == c1s, "strengths of the path"
    for point in points:
        close(
            objective_of(point.model, corpus.X, corpus.y, weight),
            point.objective,
            "objective",
            1e-6,
            1e-6,
        )
        alone = L1CRF(**{**given, "c1": point.c1}).fit(corpus.X, corpus.y, weight)
        close(
            point.objective,
            alone.objective_,
            f"path and fit at c1={point.c1}",
            1e-5,
            1e-5,
        )
        if held_out:
            close(point.score, point.model.score(X, y), "score of the path")
            used = [i for i, s in enumerate(y) if len(s)]
            log_proba = point.model.sequence_log_proba(
                some(X, used), [y[i] for i in used]
            )
            # Empty sequences say nothing, and are not counted.
            close(
                point.log_proba,
                np.mean(log_proba),
                "log_proba of the path",
                1e-6,
                1e-6,
            )
    check_all(draw, points[-1].model, corpus, X, y)


@scenario
def crf_shards(draw):
    """``fit_shards`` in threads reaches the optimum of ``fit``."""
    kind = draw.one("str", "dict", "list", "dense", "sparse", "tuple")
    corpus = Corpus(draw, kind, most_labels=8, budget=draw.one(60, 400))
    given = {
        "c1": draw.one(0.0, 0.3),
        "c2": 0.1,
        "tol": 1e-9,
        "max_iter": 400,
        "random_state": 0,
    }
    given |= {
        "solver": draw.one("owlqn", "two-stage"),
        "features": estimators.features(draw, kind),
    }
    given["all_pairs"] = draw.one(True, False, "states", "transitions")
    if kind != "dense":
        given["min_count"] = draw.one(1, 1, 2)
    labelled = [
        i for i, s in enumerate(corpus.y) if any(label is not None for label in s)
    ]
    n = min(draw.one(1, 2, 3, 5), len(labelled))
    shards = [
        [i for i in range(len(corpus.y)) if i % n == k or i == labelled[k]]
        for k in range(n)
    ]
    draw.note(
        shards=n, **{name: value for name, value in given.items() if name != "features"}
    )

    def shard(which):
        return lambda: (some(corpus.X, which), [corpus.y[i] for i in which])

    sharded = L1CRF(**given, n_jobs=2).fit_shards([shard(which) for which in shards])
    used = [i for which in shards for i in which]
    X, y = some(corpus.X, used), [corpus.y[i] for i in used]
    if not corpus.partial:  # else there may be several optima
        whole = L1CRF(**given).fit(X, y)
        close(sharded.objective_, whole.objective_, "fit_shards and fit", 1e-4, 1e-4)
    close(
        sharded.objective_,
        objective_of(sharded, X, y),
        "objective_ of fit_shards",
        1e-6,
        1e-6,
    )
    check_all(draw, sharded, corpus, *corpus.new)
