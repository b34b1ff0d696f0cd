"""Damaged models of CRF++ and Wapiti."""

import random

import numpy as np
import pytest
from foreign_models import (
    crfpp_binary,
    crfpp_small,
    damaged,
    wapiti,
    wapiti_small,
)
from tool_cases import BYTES, LOADERS, NAMES, X, text

from skstruct import (
    StructuredPerceptron,
)
from skstruct._saving.registry import ModelFileError
from skstruct.inspection import feature_weights
from skstruct.interchange import (
    load_crfpp,
    load_wapiti,
    save_crfpp,
)


def tagged(**changes):
    parts = dict(zip(("labels", "patterns", "observations", "weights"), wapiti_small()))
    return wapiti(**(parts | changes))


@pytest.mark.parametrize(
    ("load", "data", "message"),
    [
        (load_crfpp, b"", "too short"),
        (load_crfpp, bytes(40), "not a CRF.. model of version 100"),
        (
            load_crfpp,
            crfpp_binary(*crfpp_small())[:-4],
            "byte 16: the parts end at byte",
        ),
        (
            load_crfpp,
            crfpp_binary(*crfpp_small()) + b"x",
            "byte 16: the parts end at byte",
        ),
        (
            load_crfpp,
            text().replace(b"version: 100", b"version: 9"),
            "line 1: expected version 100",
        ),
        (load_crfpp, text().replace(b"maxid: ", b"maxid: 9"), "expected 93. weights"),
        (
            load_crfpp,
            text().replace(b"xsize: 2", b"xsize: two"),
            "line 4: expected a number of xsize",
        ),
        (
            load_crfpp,
            text().replace(b"0.2500000000000000", b"half", 1),
            "expected a weight, found 'half'",
        ),
        (load_crfpp, text(labels=["A", "A", "B"]), "the label 'A' occurs twice"),
        (load_crfpp, text(templates=["U0:%x[0]"]), "malformed macro"),
        (load_crfpp, text(templates=["X0:%x[0,0]"]), "starts with U or B"),
        (load_crfpp, text(templates=["U0:%x[9,0]"]), "reads too far away"),
        (load_crfpp, text(keys=[(0, "U0:he"), (0, "U0:he")]), "a key occurs twice"),
        (
            load_crfpp,
            text(keys=[(31, "U0:he")]),
            "the key 'U0:he' has the number 31, which does not fit 33",
        ),
        (load_crfpp, text(keys=[(0, "Q")]), "the key 'Q'"),
        (load_crfpp, text(weights=[float("nan")] * 33), "weight 0 is not finite"),
        (load_wapiti, b"", "expected #mdl#"),
        (load_crfpp, text()[:-5], "no line feed at its end: it is cut off"),
        (load_wapiti, tagged()[:-9], "no line feed at its end: it is cut off"),
        (load_wapiti, tagged(labels=["A", "A", "B"]), "the label 'A' occurs twice"),
        (
            load_wapiti,
            tagged(observations=["u:x", "u:x"]),
            "an observation occurs twice",
        ),
        (
            load_wapiti,
            tagged(observations=["x"]),
            "the observation 'x' starts with none of u, b and",
        ),
        (load_wapiti, tagged(weights={33: 1.0}), "the weight 33 is above the 33"),
        (load_wapiti, tagged(weights={0: float("inf")}), "expected index=weight"),
        (load_wapiti, tagged(patterns=['u:%m[0,0,"a"']), "malformed macro"),
        (load_wapiti, tagged(patterns=["u:%m[0,0]"]), "%t and %m need an expression"),
        (
            load_wapiti,
            tagged().replace(b"11:u:w=%x[0,0],", b"10:u:w=%x[0,0],"),
            "string 0 of 5 patterns",
        ),
        (
            load_wapiti,
            tagged(labels=[f"L{k}" for k in range(5000)]),
            "5000 labels; at most 4096",
        ),
    ],
)
def test_damage_is_named(load, data, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        load(data)
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"model'"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", NAMES)
def test_whatever_happens_to_a_file_there_is_one_kind_of_error(name):
    raw, draw, n_loaded = BYTES[name](), random.Random(0), 0
    for _ in range(300):
        try:
            crf = LOADERS[name](damaged(raw, draw))
        except ModelFileError:
            continue
        n_loaded += 1
        crf.predict([[(*token, *[""] * 998) for token in X[0]]])
    assert 0 < n_loaded < 300


def test_the_arrays_of_large_models_are_searched_as_the_tool_searches(tmp_path):
    """Keys by the hundred, of which some begin others, come back from the file."""
    rng = np.random.RandomState(0)
    words = sorted(
        {"".join(rng.choice(list("aé東"), rng.randint(1, 6))) for _ in range(400)}
    )
    tagger = StructuredPerceptron(["U:%x[0,0]", "U1:%x[0,0]%x[-1,0]"], random_state=0)
    tagger.fit([words], [[f"L{len(word)}" for word in words]])
    save_crfpp(tagger, tmp_path / "model")
    again = load_crfpp(tmp_path / "model")
    expected = {f[:2]: f[2] for f in feature_weights(tagger)}
    assert {f[:2]: f[2] for f in feature_weights(again)} == pytest.approx(
        expected, rel=1e-6
    )
    assert again.predict([words]) == tagger.predict([words])
