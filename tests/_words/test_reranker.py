"""Re-ranking: lattices, exact search, training against a naive trainer, and the estimator around them."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from inside import model_of, run_and_lattices_of
from sklearn.base import clone

from skstruct import (
    KBestReranker,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
    load,
)
from skstruct._core.noise import QUIET
from skstruct._training.epochs import epoch_order
from skstruct._words import reranker_epoch as structure
from skstruct._words.reranker_epoch import ABSENT
from skstruct._words.word_lattice import RIGHT, lattice, make_task, paths, view_of
from skstruct.datasets import load_segmentation
from skstruct.metrics import word_f1_score

TAGGER = StructuredPerceptron(
    ["U0:%x[0,0]", "U1:%x[-1,0]", "B"], max_iter=2, random_state=0
)


def texts(n=24, seed=0, tags=True):
    """Texts over a few words that are parts of each other, with tags."""
    generator = np.random.default_rng(seed)
    lexicon = [
        ("a", "X"),
        ("b", "Y"),
        ("ab", "X"),
        ("ba", "Z"),
        ("aab", "Y"),
        ("c", "Z"),
    ]
    y = [
        [
            lexicon[k]
            for k in generator.integers(0, len(lexicon), generator.integers(1, 5))
        ]
        for _ in range(n)
    ]
    X = ["".join(w for w, _ in items) for items in y]
    return X, y if tags else [[w for w, _ in items] for items in y]


def reranker(k=6, cv=3, **options):
    return KBestReranker(
        Segmenter(TAGGER), k, cv, max_iter=3, random_state=0, **options
    )


# ------------------------------------------------------------------------------------------- the oracle


def features(path):
    """The features of a path of (begin, end, word, tag, bucket, ...): the 20 templates."""
    found = defaultdict(float)
    start = ("~", "~", 0, "~")
    atoms = [start, start] + [
        (w, t, end - begin, m) for begin, end, w, t, m, *_ in path
    ]
    for (_, t1, l1, _), (w2, t2, l2, m2), (w3, t3, l3, m3) in zip(
        atoms, atoms[1:], atoms[2:]
    ):
        keys = [w3], [t3], [l3], [w3, t3], [l3, t3], [m3]
        keys += (
            [w3, w2],
            [w3, t2],
            [t3, w2],
            [t3, t2],
            [l3, w2],
            [w3, l2],
            [l3, t2],
            [t3, l2],
            [l3, l2],
        )
        keys += [m3, m2], [t3, t1], [t3, t2, t1], [l3, l1], [l3, l2, l1]
        for k, key in enumerate(keys):
            found[(k, *key)] += 1.0
    return found


def all_paths(nodes, T):
    """All ways through a lattice, as tuples of positions."""
    ways = [((), 0)]
    while ways:
        way, at = ways.pop()
        if at == T:
            yield way
        ways += [
            ((*way, j), nodes[j][1]) for j in range(len(nodes)) if nodes[j][0] == at
        ]


def first_path(nodes, T):
    """Where nothing is known: from the end, nodes of small margins, those that begin earlier first."""
    way, at = (), T
    last = min(j for j in range(len(nodes)) if nodes[j][1] == T)
    while True:
        way, at = (last, *way), nodes[last][0]
        if at == 0:
            return way
        last = min((nodes[j][5], j) for j in range(len(nodes)) if nodes[j][1] == at)[1]


def naive_training(lattices, targets, orders):
    """Averaged perceptron with complete weight vectors; None where a tie would decide.

    At weights of zero everything ties: there the search takes the arc listed first at each step, which
    prefers small margins and is found by :func:`first_path`.
    """
    weights, total, steps = defaultdict(float), defaultdict(float), 0
    for order in orders:
        for i in order:
            nodes, T = lattices[i], max(node[1] for node in lattices[i])
            scored = sorted(
                ((sum(weights[f] * x for f, x in features([nodes[j] for j in way]).items()), way)
                 for way in all_paths(nodes, T)),
                reverse=True,
            )  # fmt: skip
            best = scored[0][1]
            tied = [way for value, way in scored if value == scored[0][0]]
            if len(tied) == len(scored):
                best = first_path(nodes, T)
            elif len(tied) > 1:
                return None
            if best != targets[i]:
                for f, x in features([nodes[j] for j in targets[i]]).items():
                    weights[f] += x
                for f, x in features([nodes[j] for j in best]).items():
                    weights[f] -= x
            steps += 1
            for f, w in weights.items():
                total[f] += w
    return {f: w / steps for f, w in total.items()}


def prepared(estimator, X, y):
    """(run, lattices with buckets, targets) of a fit that has not begun."""
    run, nodes_of = run_and_lattices_of(estimator, X, y)
    task = run.task
    lattices, targets = [], []
    for i, nodes in enumerate(nodes_of):
        bounds = slice(task.node[i], task.node[i + 1])
        buckets = task.margin[bounds].tolist()
        lattices.append([(*n[:4], m, n[4]) for n, m in zip(nodes, buckets)])
        targets.append(tuple(np.flatnonzero(task.target[bounds] != ABSENT).tolist()))
    return run, lattices, targets


def test_training_equals_the_naive_trainer():
    compared = 0
    for seed in range(30):
        X, y = texts(6, seed)
        estimator = reranker(k=4, cv=2, shuffle=False)
        run, lattices, targets = prepared(estimator, X, y)
        orders = [epoch_order(run.state.key, e, len(X), False) for e in range(3)]
        weights = naive_training(lattices, targets, orders)
        if weights is None:
            continue
        run.train(X, y)
        assert_same_scores(model_of(estimator), lattices, weights)
        compared += 1
    assert compared >= 1


def score_of(model, lattices, way_of):
    """Scores by the package of lattices that hold one path only."""
    single = [[nodes[j] for j in way] for nodes, way in zip(lattices, way_of)]
    lengths = [max(n[1] for n in nodes) for nodes in single]
    task = make_task(
        [[n[:5] for n in nodes] for nodes in single], lengths, model.words, model.tags
    )
    buckets = [n[4] for nodes in single for n in nodes]
    task = task._replace(margin=np.array(buckets, np.int32))
    out, score = np.zeros(len(buckets), np.bool_), np.empty(len(single))
    work = structure.new_work(task, training=False)
    structure.predict(task, 0, len(single), model.reranker(), QUIET, work, out, score)
    assert out.all()
    return score


def assert_same_scores(model, lattices, weights):
    for nodes in lattices:
        ways = list(itertools.islice(all_paths(nodes, max(n[1] for n in nodes)), 30))
        expected = [
            sum(
                weights.get(f, 0.0) * x
                for f, x in features([nodes[j] for j in way]).items()
            )
            for way in ways
        ]
        np.testing.assert_allclose(
            score_of(model, [nodes] * len(ways), ways), expected, atol=1e-9
        )


def test_search_is_exact():
    """The path chosen is the best of all, under the weights of a fit."""
    X, y = texts()
    estimator = reranker().fit(X, y)
    model, base = model_of(estimator), estimator.base_
    view = view_of(base)
    candidates = view.candidates(base, X, 6)
    for i, found in enumerate(candidates):
        nodes = lattice(found)
        task = make_task([nodes], [len(X[i])], model.words, model.tags)
        buckets = [(*n[:4], m) for n, m in zip(nodes, task.margin.tolist())]
        ways = list(all_paths(buckets, len(X[i])))
        scores = score_of(model, [buckets] * len(ways), ways)
        assert estimator.decision_function([X[i]])[0] == pytest.approx(
            scores.max(), abs=1e-9
        )
        assert len(ways) >= len({tuple(items) for _, items in found})


def test_lattice_margins_and_targets():
    candidates = [
        (5.0, [(0, 2, "ab", "X"), (2, 3, "c", "Z")]),
        (4.0, [(0, 1, "a", "X"), (1, 2, "b", "Y"), (2, 3, "c", "Z")]),
        (1.5, [(0, 1, "a", "X"), (1, 3, "bc", "Y")]),
    ]
    nodes = lattice(candidates)
    assert nodes == [
        (0, 2, "ab", "X", 0.0), (0, 1, "a", "X", 1.0), (1, 2, "b", "Y", 1.0), (1, 3, "bc", "Y", 3.5),
        (2, 3, "c", "Z", 0.0),
    ]  # fmt: skip
    gold = [[(0, 1, "a", "Y"), (1, 2, "b", "Y"), (2, 3, "c", "Q")]]
    task = make_task([nodes], [3], {}, {}, gold)
    assert task.right.tolist() == [0, 1, RIGHT, 0, 1]
    (path,) = paths([nodes], task.target != ABSENT)
    assert path == [(0, 1, "a", "X"), (1, 2, "b", "Y"), (2, 3, "c", "Z")]
    assert task.margin.tolist() == [
        0,
        *[int(2 * math.log(2 * m + 1)) for m in (1.0, 1.0, 3.5)],
        0,
    ]


# ---------------------------------------------------------------------------------------- the estimator


def test_words_tags_and_white_space():
    X, y = texts()
    joint = reranker().fit(X, y)
    predicted = joint.predict([*X, "", "a b ab"])
    assert ["".join(w for w, _ in items) for items in predicted] == [*X, "", "abab"]
    assert all(tag in {"X", "Y", "Z"} for items in predicted for _, tag in items)
    assert predicted[-2] == [] and {"a"} == {predicted[-1][0][0]}
    assert joint.score(X, y) == pytest.approx(word_f1_score(y, joint.predict(X)))
    assert joint.oracle_ <= 1.0 and joint.n_features() == model_of(joint).n_features
    plain = reranker().fit(*texts(tags=False))
    assert all(isinstance(w, str) for items in plain.predict(X) for w in items)


@pytest.mark.parametrize("kind", ["str", "tuple", "dict"])
def test_base_is_a_tagger(kind):
    X, y = texts(tags=True)
    X = [
        [
            w if kind == "str" else (w, w[:1]) if kind == "tuple" else {"w": w}
            for w, _ in s
        ]
        for s in y
    ]
    labels = [[t for _, t in s] for s in y]
    base = PassiveAggressiveTagger(max_iter=2, order=2, random_state=0)
    estimator = KBestReranker(base, k=5, cv=2, random_state=0).fit(X, labels)
    assert estimator.score(X, labels) > 0.9
    assert [len(s) for s in estimator.predict([*X, []])] == [*map(len, X), 0]
    labels[0][0] = None
    assert estimator.fit(X, labels).score(X, labels) > 0.9


def test_threads_change_nothing():
    X, y = texts()
    one, two = reranker().fit(X, y), reranker(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        model_of(one).weights.value, model_of(two).weights.value
    )
    assert one.predict(X) == two.predict(X)
    assert one.decision_function(X).tolist() == two.decision_function(X).tolist()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("min_count", [1, 2])
def test_saved_and_loaded(tmp_path, training, min_count):
    X, y = texts()
    estimator = reranker(warm_start=True, min_count=min_count).fit(X, y)
    estimator.save(tmp_path / "model", training=training)
    loaded = load(tmp_path / "model")
    assert (
        loaded.get_params(deep=False).keys() == estimator.get_params(deep=False).keys()
    )
    assert loaded.predict(X) == estimator.predict(X)
    assert (
        loaded.decision_function(X).tolist() == estimator.decision_function(X).tolist()
    )
    if training:
        np.testing.assert_array_equal(
            model_of(loaded.fit(X, y)).weights.value,
            model_of(estimator.fit(X, y)).weights.value,
        )
    else:
        assert loaded.fit(X, y).n_iter_ == 3


def test_warm_start_goes_on():
    X, y = texts()
    whole = reranker().set_params(max_iter=6).fit(X, y)
    parts = reranker(warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(
        model_of(whole).weights.value, model_of(parts).weights.value
    )
    with pytest.raises(ValueError, match="min_count=2 differs"):
        parts.set_params(min_count=2).fit(X, y)
    known = len(model_of(parts).words)
    X2, y2 = [*X, "dd", "dd", "dd"], [*y, *[[("d", "W"), ("d", "W")]] * 3]
    parts.set_params(min_count=1).fit(X2, y2)
    assert "d" in model_of(parts).words and len(model_of(parts).words) > known


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": "l2", "alpha": 0.01},
        {"penalty": "l1", "alpha": 0.01},
        {"penalty": "l1-cumulative", "alpha": 0.01, "average": False},
        {"dropout": 0.3},
        {"feature_noise": "dropout", "edge_noise": "same"},
        {"edge_noise": "zipf", "zipf_exponent": 1.5},
        {"min_count": 3},
        {"early_stopping": True, "tol": 0.0},
    ],
)
def test_shared_parameters_have_an_effect(options):
    X, y = texts(40)
    plain, other = (
        reranker(shuffle=False).fit(X, y),
        reranker(shuffle=False, **options).fit(X, y),
    )
    again = reranker(shuffle=False, **options).fit(X, y)
    assert other.decision_function(X).tolist() == again.decision_function(X).tolist()
    assert other.decision_function(X).tolist() != plain.decision_function(X).tolist()
    assert len(other.predict(X)) == len(X)


def test_checkpoint_resumes(tmp_path):
    X, y = texts()
    whole = reranker().fit(X, y)
    kept = reranker(checkpoint=tmp_path).fit(X, y)
    np.testing.assert_array_equal(
        model_of(whole).weights.value, model_of(kept).weights.value
    )
    assert kept.resumed_from_ == 0 and not list(tmp_path.iterdir())


def test_weights_of_sequences():
    X, y = texts()
    weight = np.ones(len(X))
    weight[:5] = 0.0
    some = reranker().fit(X, y, sample_weight=weight)
    rest = reranker().fit(X[5:], y[5:], sample_weight=weight[5:])
    assert some.predict(X) == rest.predict(X)


def test_clone_and_default_base():
    X, y = load_segmentation()
    estimator = clone(KBestReranker(k=3, cv=2, max_iter=2, random_state=0))
    assert estimator.fit(X, y).score(X, y) > 0.9
    assert isinstance(estimator.base_, Segmenter) and estimator.base is None


def test_its_base_adapts():
    """That of training is trained anew, so that adapting the base before ``fit`` would be in vain."""
    X, y = (
        ["abcabc", "cab", "bcab"] * 4,
        [["ab", "c", "ab", "c"], ["c", "ab"], ["b", "c", "ab"]] * 4,
    )
    tagger = StructuredPerceptron("char-av", max_iter=2, random_state=0)
    reranker = KBestReranker(
        Segmenter(tagger), k=2, cv=2, max_iter=1, random_state=0
    ).fit(X, y)
    with pytest.raises(AttributeError, match="its base_ has adapt"):
        reranker.adapt(["ccab"] * 20)
    before = reranker.base_.predict_kbest(X, 2)
    reranker.base_.adapt(["ccab"] * 20)
    assert reranker.base_.predict_kbest(X, 2) != before


def test_bad_input_is_named():
    X, y = texts()
    with pytest.raises(
        ValueError, match="y: sequence 1, position 0: the words must spell"
    ):
        reranker().fit(X[:2], [y[0], [("q", "X")]])
    with pytest.raises(
        ValueError, match="cv=3 folds need at least as many sequences .* got 2"
    ):
        reranker().fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="has no predict_kbest"):
        KBestReranker(Segmenter(KBestReranker(TAGGER))).fit(X, y)
    with pytest.raises(
        ValueError, match="sequence 0: expected a text"
    ):  # as of Segmenter(WordSegmenter())
        KBestReranker(Segmenter(WordSegmenter())).fit(X, y)
    with pytest.raises(
        ValueError, match="base must be a Segmenter, a WordSegmenter or a tagger"
    ):
        KBestReranker(ShiftReduceParser()).fit(X, y)
    with pytest.raises(
        ValueError, match=r"sequence 0, position 0: .* WordSegmenter learns no tags"
    ):
        KBestReranker(WordSegmenter(), cv=2).fit(X, y)
    for wrong in ({"k": 0}, {"cv": 1}, {"base": 3}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter"):
            reranker().set_params(**wrong).fit(X, y)
    fitted = reranker().fit(X, y)
    before = fitted.decision_function(X).tolist()
    with pytest.raises(ValueError, match="sequence 1: expected a text"):
        fitted.predict(["a", 3])
    with pytest.raises(ValueError, match="same number of sequences"):
        fitted.fit(X, y[:-1])
    assert fitted.decision_function(X).tolist() == before


def test_errors_of_the_base_name_the_sequence_empty_ones_counted():
    texts, words = ["", "看书", "读书", "看报"], [[], ["看书"], ["读书"], ["看报"]]
    base = Segmenter(
        StructuredPerceptron("char", constraints="BMES", max_iter=1, random_state=0)
    )
    reranker = KBestReranker(base, k=2, cv=2, max_iter=1, random_state=0).fit(
        texts, words
    )
    before = reranker.predict(texts)
    with pytest.raises(ValueError, match="^sequence 3: the constraints"):
        reranker.predict(["", "看书", "", "看"])
    with pytest.raises(
        ValueError, match="^sequence 2: the constraints"
    ):  # unlike what its part learns from
        reranker.fit(["", "看书", "看", "读书"], [[], ["看书"], ["看"], ["读书"]])
    assert reranker.predict(texts) == before
    tagger = KBestReranker(
        StructuredPerceptron(["U:%x[0,0]"], max_iter=1), k=2, cv=2, max_iter=1
    )
    X, y = [[], ["a"], ["a"], ["b"]], [[], ["A"], ["A"], ["B"]]
    with pytest.raises(ValueError, match="sequence 3, position 0"):
        tagger.fit([*X[:3], [3]], y)
    with pytest.raises(ValueError, match="sequence 2, position 0"):
        tagger.fit(X, y).predict([[], ["a"], [3]])
