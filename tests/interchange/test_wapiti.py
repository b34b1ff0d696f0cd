"""Files of Wapiti: strings have their length in front, numbers are hexadecimal."""

import pytest

from skstruct import L1CRF
from skstruct._saving.container import ModelFileError
from skstruct.interchange import load_wapiti, save_wapiti

X = [["the", "dog"], ["a", "cat"]]
Y = [["D", "N"], ["D", "N"]]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The bytes of a file."""
    path = tmp_path_factory.mktemp("wapiti") / "model"
    model = L1CRF(["U:%x[0,0]", "B"], random_state=0, max_iter=20).fit(X, Y)
    save_wapiti(model, path)
    return path.read_bytes()


def test_the_file_is_read_again(data):
    model = load_wapiti(data)
    assert model.predict(X) == Y and list(model.classes_) == ["D", "N"]
    assert data.startswith(b"#mdl#2#") and b"\n9:u:%x[0,0],\n" in data


def test_weights_may_be_decimal_or_written_with_commas():
    """As C writes them in some places of the world."""
    head = b"#mdl#2#1\n#rdr#1/0/0\n9:u:%x[0,0],\n#qrk#2\n1:D,\n1:N,\n#qrk#1\n3:u:a,\n"
    for number in (b"0.5", b"0,5", b"0x1p-1", b"0x1,0p-1"):
        model = load_wapiti(head + b"1=" + number + b"\n")
        assert model.decision_function([["a"]]) == [0.5]
        assert model.predict([["a"]]) == [["N"]]
    for number in (b"nan", b"inf", b"x", b"1e999"):
        with pytest.raises(ModelFileError, match="line 9: expected index=weight"):
            load_wapiti(head + b"1=" + number + b"\n")


def test_other_models_and_cuts_are_refused(data):
    with pytest.raises(ModelFileError, match="a maximum entropy Markov model"):
        load_wapiti(data.replace(b"#mdl#2#", b"#mdl#1#"))
    with pytest.raises(ModelFileError, match="line feed at its end|expected"):
        load_wapiti(data[:-2])
