"""Files of CRF++, binary and text, hold the same model."""

import struct

import pytest

from skstruct import L1CRF
from skstruct._saving.container import ModelFileError
from skstruct.interchange import load_crfpp, save_crfpp

X = [["the", "dog"], ["a", "cat"]]
Y = [["D", "N"], ["D", "N"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The bytes of both kinds of file."""
    path = tmp_path_factory.mktemp("crfpp") / "model"
    model = L1CRF(["U:%x[0,0]", "B"], random_state=0, max_iter=20).fit(X, Y)
    out = []
    for text in (False, True):
        save_crfpp(model, path, text=text)
        out.append(path.read_bytes())
    return out


def test_both_kinds_say_the_same(files):
    binary, text = map(load_crfpp, files)
    assert binary.predict(X) == text.predict(X) == Y
    scores = [model.decision_function(X) for model in (binary, text)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-6)


def test_the_header_is_that_of_the_tool(files):
    binary, text = files
    version, kind, cost, n_weights = struct.unpack_from("<IidI", binary)
    assert (version, kind, cost) == (100, 0, 1.0)
    lines = text.decode().splitlines()
    assert lines[:3] == ["version: 100", "cost-factor: 1", f"maxid: {n_weights}"]


def test_what_is_cut_off_is_said(files):
    for data in files:
        with pytest.raises(ModelFileError, match="the model: "):
            load_crfpp(data[: len(data) // 2])
