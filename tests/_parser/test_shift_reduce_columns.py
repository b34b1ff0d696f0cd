"""Words of more columns than form and tag."""

import numpy as np
import pytest

import skstruct
from skstruct import BaggingShuffleAverager, ShiftReduceParser, inspection

WORDS = {
    "puer": ("N", "NOUN", "Case=Nom|Gender=Masc|Number=Sing"),
    "puerum": ("N", "NOUN", "Case=Acc|Gender=Masc|Number=Sing"),
    "puella": ("N", "NOUN", "Case=Nom|Gender=Fem|Number=Sing"),
    "puellam": ("N", "NOUN", "Case=Acc|Gender=Fem|Number=Sing"),
    "videt": ("V", "VERB", "Number=Sing"),
    "amat": ("V", "VERB", "Number=Sing"),
}


def clause(*forms, order="svo"):
    """A sentence, and its tree; ``order`` says what each word is."""
    verb = order.index("v") + 1
    labels = {"s": "nsubj", "o": "obj", "v": "root"}
    words = [(form, *WORDS[form]) for form in forms]
    return words, [(0 if what == "v" else verb, labels[what]) for what in order]


TRAINING = [
    clause(
        *({"s": subject, "o": object_, "v": verb}[what] for what in order), order=order
    )
    for subject in ("puer", "puella")
    for object_ in ("puerum", "puellam")
    for verb in ("videt", "amat")
    for order in ("svo", "ovs", "sov", "osv", "vso", "vos")
]


X, Y = map(list, zip(*TRAINING))


def parser(**parameters):
    return ShiftReduceParser(random_state=0, **parameters)


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y)


def test_features_tell_of_words_that_were_never_seen(fitted):
    """Who does what to whom stands in the case alone."""
    lupus = ("lupus", "N", "NOUN", "Case=Nom|Gender=Masc|Number=Sing")
    canem = ("canem", "N", "NOUN", "Case=Acc|Gender=Com|Number=Sing")
    mordet = ("mordet", "V", "VERB", "Number=Sing")
    trees = fitted.predict([[lupus, mordet, canem], [canem, mordet, lupus]])
    assert trees == [
        [(2, "nsubj"), (0, "root"), (2, "obj")],
        [(2, "obj"), (0, "root"), (2, "nsubj")],
    ]


def test_known_parts_count_however_many_stand_beside_them(fitted):
    def score(change):
        return fitted.decision_function(
            [[(*w[:3], change(w[3])) for w in s] for s in X]
        )

    one = score(lambda parts: f"{parts}|New=0")
    many = "|".join(f"New={k}" for k in range(5))
    np.testing.assert_array_equal(score(lambda parts: f"{many}|{parts}"), one)
    np.testing.assert_array_equal(score(lambda parts: f"{parts}|{many}"), one)
    four, five = (
        "Case=Acc|Case=Nom|Gender=Fem|Gender=Masc",
        "|Number=Sing",
    )  # training: three at most
    assert (score(lambda _: four) != score(lambda _: four + five)).all()
    arc = inspection.explain(fitted, [(*X[0][0][:3], four + five), X[0][1]]).arcs[0]
    assert {f"s1.p3={part}" for part in (four + five).split("|")} <= {
        name for name, _ in arc.features
    }
    assert (score(lambda parts: parts) == fitted.decision_function(X)).all()


def test_columns_are_features_with_names(fitted):
    names = {name for name, _, _ in inspection.feature_weights(fitted)}
    assert any("m.p3=Case=Acc" in name for name in names)
    assert any(name.startswith("s0.c2=") for name in names)
    assert not any(".p2=" in name for name in names)  # a class has no parts


def test_two_columns_are_read_by_rich_alone():
    two = [[word[:2] for word in sentence] for sentence in X]
    auto, rich = parser().fit(two, Y), parser(templates="rich").fit(two, Y)
    assert auto.n_features() == rich.n_features()
    assert auto.predict(two) == rich.predict(two)
    np.testing.assert_array_equal(
        auto.decision_function(two), rich.decision_function(two)
    )


def test_files_hold_columns(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = skstruct.load(tmp_path / "model")
    assert again.inputs.width == 4
    assert again.predict(X) == fitted.predict(X)
    more = [
        [(*word[:3], word[3] + "|Style=High") for word in sentence] for sentence in X
    ]  # one more part
    a, b = again.partial_fit(more, Y), parser().fit(X, Y).partial_fit(more, Y)
    np.testing.assert_array_equal(a.decision_function(more), b.decision_function(more))
    assert any("Style=High" in name for name, _, _ in inspection.feature_weights(a))


def test_columns_are_averaged_and_mixed(fitted):
    model = BaggingShuffleAverager(parser(), 2, random_state=0, n_jobs=2).fit(X, Y)
    assert model.predict(X) == Y
    shards = [
        lambda: (X[:2], Y[:2]),
        lambda: ([[(*w[:3], "_") for w in X[2]], X[3]], Y[2:4]),
    ]
    mixed = skstruct.ParameterMixer(parser(), 2, random_state=0).fit_shards(shards)
    assert len(mixed.predict(X)) == len(X)
    x, y = (
        [("x", "Z", "A=b|C=d"), ("y", "Q", "_")],
        [(0, "r"), (1, "a")],
    )  # two parts in all, and a word without
    few = skstruct.ParameterMixer(parser(), random_state=0).fit_shards(
        [lambda: ([x], [y])] * 2
    )
    assert few.predict([x]) == [y]
    narrow = [[word[:3] for word in sentence] for sentence in X]
    with pytest.raises(
        ValueError, match="shard 1: its words have 3 columns, those of shard 0 have 4"
    ):
        skstruct.ParameterMixer(parser(), 2).fit_shards(
            [lambda: (X, Y), lambda: (narrow, Y)]
        )


def test_words_of_other_widths_are_refused(fitted):
    wrong = [X[0], [X[1][0], X[1][1][:3], X[1][2]]]
    for each in (lambda: parser().fit(wrong, Y[:2]), lambda: fitted.predict(wrong)):
        with pytest.raises(
            ValueError,
            match=r"sequence 1, position 1: expected a tuple .* of 4 str, got",
        ):
            each()
    with pytest.raises(
        ValueError, match="sequence 0, position 1: no column may be empty"
    ):
        parser().fit([[X[0][0], ("a", "b", "c", "")]], [[(2, "a"), (0, "b")]])
    with pytest.raises(ValueError, match="expected a tuple .* of 4 str"):
        fitted.predict([[("puer", "N")]])
    with pytest.raises(
        ValueError, match=r"template 's0.c4' reads column 4, but words have 4 columns"
    ):
        parser(templates=["s0.t s1.t", "s0.c4"]).fit(X, Y)


def test_dropout_hides_forms_and_nothing_else():
    names = [
        name
        for name, _, _ in inspection.feature_weights(parser(dropout=1 - 1e-9).fit(X, Y))
    ]
    assert not any("w=pue" in name for name in names) and any(
        "p3=Case=Nom" in name for name in names
    )


def test_templates_without_any_feature_are_refused():
    with pytest.raises(
        ValueError,
        match="give no feature of states: each reads labels, which labeled=False",
    ):
        parser(templates=["s0.lc.r s0.t"], labeled=False).fit(X, Y)
    with pytest.raises(
        ValueError, match="or parts of a column, .* where no word has some"
    ):
        parser(templates=["s0.p2"]).fit(X, Y)
    assert parser(templates=["s0.p2", "s0.p3"]).fit(X, Y).n_features() > 0


def test_held_out_words_of_other_columns_are_refused_before_training(fitted):
    others, heads = [[word[:2] for word in sentence] for sentence in X], Y
    with pytest.raises(
        ValueError, match=r"^X_val: sequence 0, position 0: expected a tuple"
    ):
        parser(max_iter=1).fit(X, Y, X_val=others, y_val=heads)
