"""Online learners whose weights are those of pairs that training shows."""

import itertools
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from inside import model_of, training_of

from skstruct import PassiveAggressiveTagger, StructuredPerceptron, load
from skstruct._chain.state import with_pairs
from skstruct._saving.container import ModelFileError
from skstruct._taggers import online_tagger
from skstruct.features.encoded import features_listed, grid_listed
from skstruct.inspection import feature_weights, transition_weights

RNG = np.random.default_rng(0)
CYCLES = (RNG.integers(4, size=(30, 1)) + np.arange(6)) % 4
WORDS = 4 * RNG.integers(6, size=(30, 6)) + (CYCLES + (RNG.random((30, 6)) < 0.3)) % 4
X = [[{"w": f"w{k}", "x": float(k % 3)} for k in x] for x in WORDS.tolist()]
Y = [["ABCD"[k] for k in y] for y in CYCLES.tolist()]

LEARNERS = {
    "perceptron": lambda **given: StructuredPerceptron(
        max_iter=4, random_state=0, **given
    ),
    "noise": lambda **given: StructuredPerceptron(
        max_iter=4, random_state=0, penalty="l1", alpha=1e-4, dropout=0.1, **given
    ),
    "margin": lambda **given: PassiveAggressiveTagger(
        max_iter=4, random_state=0, cost="hamming", **given
    ),
    "order 2": lambda **given: StructuredPerceptron(
        max_iter=4, random_state=0, order=2, **given
    ),
}


def _shown(X, y):
    """Pairs of feature and label, and of labels, that sequences show."""
    tokens = [(token, label) for x, z in zip(X, y) for token, label in zip(x, z)]
    states = {(f"w:{token['w']}", label) for token, label in tokens}
    states |= {("x", label) for token, label in tokens if token["x"]}
    return states, {pair for z in y for pair in itertools.pairwise(z)}


def _weighted(tagger):
    """Those that have a weight."""
    states = {(entry[0], entry[1]) for entry in feature_weights(tagger)}
    labels = tagger.classes_
    return states, {
        (labels[p], labels[z]) for p, z in np.argwhere(transition_weights(tagger))
    }


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("kind", [False, "states", "transitions"])
def test_pairs_that_are_not_shown_have_no_weight(learner, kind):
    states, transitions = _shown(X, Y)
    free = _weighted(LEARNERS[learner]().fit(X, Y))
    assert free[0] - states and free[1] - transitions
    found = _weighted(LEARNERS[learner](all_pairs=kind).fit(X, Y))
    assert bool(found[0] - states) == (kind == "states")
    assert bool(found[1] - transitions) == (kind == "transitions")
    assert found[0] & states and found[1] & transitions


def test_streams_keep_what_earlier_calls_have_shown():
    tagger = StructuredPerceptron(random_state=0, all_pairs=False)
    for part in (slice(0, 15), slice(15, 30)) * 3:
        tagger.partial_fit(X[part], Y[part])
    states, transitions = _weighted(tagger)
    assert states <= _shown(X, Y)[0] and transitions <= _shown(X, Y)[1]
    assert states & (_shown(X[:15], Y[:15])[0] - _shown(X[15:], Y[15:])[0])


def test_sets_of_labels_show_each_and_missing_labels_none():
    y = [
        [{"A", "B"} if k == 0 else None if k == 1 else "C" for k in range(len(x))]
        for x in X[:1]
    ]
    tagger = StructuredPerceptron(random_state=0, all_pairs=False, max_iter=9).fit(
        X[:1] + X[2:3], [*y, Y[2]]
    )
    named, (first, _, *rest) = _weighted(tagger)[0], X[0]
    allowed = {(f"w:{first['w']}", a) for a in "AB"} | {
        (f"w:{token['w']}", "C") for token in rest
    }
    allowed |= _shown(X[2:3], Y[2:3])[0] | {("x", a) for a in "ABC"}
    assert named <= allowed


def test_the_choice_is_saved(tmp_path):
    tagger = StructuredPerceptron(
        random_state=0, all_pairs="transitions", max_iter=3
    ).fit(X, Y)
    tagger.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.all_pairs == "transitions"
    more = [
        each.set_params(warm_start=True, max_iter=6).fit(X, Y)
        for each in (tagger, again)
    ]
    assert np.array_equal(*(model_of(each).nodes.value for each in more))
    assert _weighted(again)[0] <= _shown(X, Y)[0]


def some_pairs_again(tagger):
    """Further training on a part of the corpus, which shows some of the pairs again."""
    return tagger.set_params(warm_start=True, max_iter=2).fit(X[20:], Y[20:])


@pytest.mark.parametrize("kind", [False, "states", "transitions"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_files_keep_the_pairs_shown_that_have_no_weight(learner, kind, tmp_path):
    """Pairs with a weight follow from the weights; those that were always right are in
    no other place.
    """
    tagger = LEARNERS[learner](all_pairs=kind).set_params(max_iter=1).fit(X, Y)
    tagger.save(tmp_path / "model")
    again = load(tmp_path / "model")
    kept = [training_of(each).pairs for each in (tagger, again)]
    assert [each is None for each in kept[0]] == [
        kind == "states",
        kind == "transitions",
    ]
    for mine, theirs in zip(*kept):
        assert (mine is theirs is None) or np.array_equal(mine, theirs)
    one, other = some_pairs_again(tagger), some_pairs_again(again)
    for name in "nodes", "edges":
        assert np.array_equal(
            getattr(model_of(one), name).value, getattr(model_of(other), name).value
        )
    tagger.save(tmp_path / "small", training=False)
    assert training_of(load(tmp_path / "small")).pairs is None


def test_pairs_follow_labels_and_features_that_are_new():
    tagger = StructuredPerceptron(["U:%x[0,0]", "B"], random_state=0, all_pairs=False)
    tagger.partial_fit([["a", "b"]], [["M", "P"]]).partial_fit(
        [["c", "b", "a"]], [["A", "N", "Z"]]
    )
    (nodes, edges), labels = training_of(tagger).pairs, tagger.classes_.tolist()
    L, encoder = len(labels), model_of(tagger).encoder
    names = encoder.row_names(set(range(encoder.n_node_rows)))
    seen = {(names[key // L], labels[key % L]) for key in nodes.tolist()}
    assert seen == {
        ("U:a", "M"),
        ("U:b", "P"),
        ("U:c", "A"),
        ("U:b", "N"),
        ("U:a", "Z"),
    }
    found = [(labels[key // L], labels[key % L]) for key in edges.tolist()]
    assert found == [("A", "N"), ("M", "P"), ("N", "Z")]


@pytest.mark.parametrize("broken", ["far", "twice"])
def test_a_file_whose_pairs_are_wrong_is_refused(broken, tmp_path):
    tagger = StructuredPerceptron(random_state=0, all_pairs=False, max_iter=1).fit(X, Y)
    state = training_of(tagger)
    nodes = state.pairs.nodes.copy()
    nodes[-1] = 10**9 if broken == "far" else nodes[-2]
    state.pairs = state.pairs._replace(nodes=nodes)
    tagger.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="nodes"):
        load(tmp_path / "model")


# -- what the choice takes -------------------------------------------------------------
@pytest.fixture
def chosen(monkeypatch):
    """The tasks of fits, in which pairs are chosen, and the most memory that the choice
    took.
    """
    found = []

    def choose(*given):
        tracemalloc.start()
        task = with_pairs(*given)
        found.extend([task, tracemalloc.get_traced_memory()[1]])
        tracemalloc.stop()
        return task

    monkeypatch.setattr(online_tagger, "with_pairs", choose)
    return found


def _as_mask(pairs, columns):
    """(R, C) bool."""
    mask = np.zeros((len(pairs.start) - 1, columns), bool)
    mask[np.repeat(np.arange(len(mask)), np.diff(pairs.start)), pairs.column] = True
    return mask


@pytest.mark.parametrize(
    "features",
    [["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"], ["U:%x[0,0]", "B0:%x[0,0]", "B"]],
)
def test_the_pairs_are_those_that_tokens_show(chosen, features):
    """Of features and labels, and of labels by what transitions look at; sets show each
    of their labels.
    """
    words = [[token["w"] for token in x] for x in X]
    y = [[{"A", "B"} if z == "A" and t % 2 else None if z == "D" and not t else z for t, z in enumerate(row)]
         for row in Y]  # fmt: skip
    StructuredPerceptron(features, all_pairs=False, random_state=0, max_iter=1).fit(
        words, y
    )
    task, labels = chosen[0], "ABCD"
    held = [[set(z) if isinstance(z, set) else {z} - {None} for z in row] for row in y]
    flat, firsts = list(itertools.chain(*held)), set(task.token.tolist())
    listed, nodes, edges = features_listed(task, task.token), set(), set()
    seen = grid_listed(task, task.token, task.edges, task.edge_alive)
    for t, own in enumerate(flat):
        rows = listed.row[listed.start[t] : listed.start[t + 1]].tolist()
        nodes |= {(row, labels.index(z)) for row in rows for z in own}
        if t not in firsts:
            looked = [0, *seen.row[seen.start[t] : seen.start[t + 1]].tolist()]
            pairs = [
                (labels.index(p), labels.index(z)) for p in flat[t - 1] for z in own
            ]
            edges |= {(e * 4 + p, z) for e in looked for p, z in pairs}
    assert (
        set(zip(*map(np.ndarray.tolist, np.nonzero(_as_mask(task.node_pairs, 4)))))
        == nodes
    )
    assert (
        set(zip(*map(np.ndarray.tolist, np.nonzero(_as_mask(task.edge_pairs, 4)))))
        == edges
    )


def _many_labels(n_labels, n_tokens, n_features):
    """Tokens with features of their own and a label of their own, and all labels that
    there are.
    """
    tokens = range(n_tokens)
    X = [[{f"f{t * n_features + k}": 1.0 for k in range(n_features)}] for t in tokens]
    return X, [[f"{t:05d}"] for t in tokens], [f"{k:05d}" for k in range(n_labels)]


def test_pairs_take_the_memory_of_what_is_shown(chosen):
    """Not a byte for each row and label, nor for two labels: weights are sparse, and so
    is the choice.
    """
    X, y, classes = _many_labels(n_labels=1200, n_tokens=150, n_features=100)
    tagger = StructuredPerceptron(all_pairs="transitions", random_state=0).partial_fit(
        X, y, classes=classes
    )
    pairs, peak = chosen[0].node_pairs, chosen[1]
    assert model_of(tagger).nodes.sparse and len(pairs.column) == 150 * 100
    assert pairs.start.nbytes + pairs.column.nbytes < 200_000
    assert peak < 1200 * 1200 * 8 < 150 * 100 * 1200


@pytest.mark.slow
def test_more_pairs_than_32_bits_can_number():
    """600,000 features with 4,000 labels are 2.4e9 pairs: those that are shown have
    weights, others none.
    """
    script = textwrap.dedent(
        """
        import resource
        import numpy as np
        from skstruct import StructuredPerceptron
        from skstruct.inspection import feature_weights

        L, N, F = 4000, 300, 2000
        X = [[{f"f{t * F + k}": 1.0 for k in range(F)}] for t in range(N)]
        y = [[f"{t:05d}"] for t in range(N)]
        tagger = StructuredPerceptron(all_pairs="transitions", random_state=0)
        tagger.partial_fit(X, y, classes=[f"{k:05d}" for k in range(L)])
        found = {(name, label) for name, label, _ in feature_weights(tagger)}
        # The first label wins where all scores are 0, so that its token teaches nothing.
        expected = {(f"f{t * F + k}", f"{t:05d}") for t in range(1, N) for k in range(F)}
        print(N * F * L > 2**31, found == expected, tagger.score(X, y))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    facts, peak = done.stdout.splitlines()
    assert facts == "True True 1.0"
    assert int(peak) < 2 * 2**20 * (
        1 if sys.platform.startswith("linux") else 1024
    )  # kB, on a Mac bytes
