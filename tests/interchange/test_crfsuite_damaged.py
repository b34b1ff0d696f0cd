"""Damaged models of CRFsuite."""

import pickle
import random

import joblib
import pytest
from crfsuite_cases import fitted_crf
from foreign_models import crfsuite, crfsuite_small, damaged

from skstruct._saving.registry import ModelFileError
from skstruct.interchange import load_crfsuite


# -- damage ----------------------------------------------------------------------------
def changed(at, data):
    raw = bytearray(crfsuite_small())
    raw[at : at + len(data)] = data
    return bytes(raw)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"lCRF", "cut off"),
        (
            crfsuite_small()[:-8],
            "byte 4: the file has .* bytes, but says .*: it is cut off",
        ),
        (changed(8, b"XXXX"), "byte 8: expected 'FOMC'"),
        (changed(12, b"\x65"), "byte 12: expected version 100, found 101"),
        (changed(20, b"\xff\xff\xff\xff"), "byte 20: 4294967295 labels"),
        (changed(20, b"\x02"), "expected 2 labels, found 3"),
        (changed(32, b"\xff\xff\xff\x7f"), "byte 32: the offset 2147483647 is outside"),
        (changed(48, b"X"), "byte 48: expected 'FEAT'"),
        (changed(56, b"\x07"), "byte 52: 7 features take 152 bytes, not 172"),
        (changed(60, b"\x01"), "lists"),
        (changed(68, b"\x09"), "byte 60: a feature of a label above 2"),
        (changed(72, b"\0\0\0\0\0\0\xf8\x7f"), "byte 60: a weight that is not finite"),
        (crfsuite(["O", "O"], [], [], []), "the label 'O' occurs twice"),
        (
            crfsuite(["O"], ["a", "a"], [("a", "O", 1.0)], []),
            "an attribute occurs twice",
        ),
        (
            crfsuite(["O"], ["a"], [("a", "O", 1.0), ("a", "O", 2.0)], []),
            "a feature that occurs before",
        ),
        (crfsuite([], [], [], []), "no labels; it was trained on nothing"),
        (b"PK\x03\x04 something", "neither a CRFsuite model nor a pickle"),
        (b"\x1f\x8b\x08 something", "not a gzip file, or damaged"),
    ],
)
def test_damage_is_named(data, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        load_crfsuite(data)
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"model'.*: "):
        load_crfsuite(tmp_path / "model")


def test_files_that_unpack_to_far_more_are_refused():
    bomb = joblib.compressor.zlib.compress(bytes(2**27), 9)
    with pytest.raises(ModelFileError, match="unpacks to more than"):
        load_crfsuite(bomb)


@pytest.mark.parametrize("kind", ["model", "pickle 0", "pickle 4"])
def test_whatever_happens_to_a_file_there_is_one_kind_of_error(kind):
    raw, draw = crfsuite_small(), random.Random(0)
    if kind != "model":
        raw = pickle.dumps(fitted_crf()[0], protocol=int(kind[-1]))
    n_loaded = 0
    for _ in range(300):
        try:
            crf = load_crfsuite(damaged(raw, draw))
        except ModelFileError:
            continue
        n_loaded += 1
        crf.predict([[{"w": "he"}, {"w": "ran"}]])
    assert 0 < n_loaded < 300
