"""Segmented text needs evidence."""

import pytest

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.segmented import Segmented

CHINESE = ["我 喜欢 书", "他 来", "天气 很 好"]


@pytest.mark.parametrize(
    ("name", "lines", "is_yes"),
    [
        ("notes", CHINESE, True),
        ("notes", ["我\u3000喜欢", "他\u3000来"], True),
        ("notes", ["ผม รัก เขา", "ดี มาก"], True),
        ("notes", ["我 喜欢 book", "他 有 3 本 书"], True),
        ("notes", ["the cat", "sat there now"], False),
        ("notes.seg", ["the cat", "sat there now"], True),
        ("notes", ["我喜欢书", "他来"], False),
        ("notes", ["我/r 喜欢/v 书/n", "他/r 来/v"], False),
        ("notes", ["我_r 喜欢_v 书_n", "他_r 来_v"], False),
        ("notes", ["มาก|วันนี้|รัก", "ดี|มาก"], False),
        ("notes", ["<s> 我 喜欢</s>", "<s>他 来 </s>"], False),
        ("notes", ["我\t喜欢 书", "他 来 了"], False),
        ("notes", ["1", "我 喜欢 书", "2", "他 来"], False),
    ],
)
def test_evidence(name, lines, is_yes):
    assert Segmented().look(Head(name, lines, True)).is_yes == is_yes


def test_read_as_words(tmp_path):
    path = tmp_path / "notes"
    path.write_text("\n\n".join(CHINESE), encoding="utf-8")
    X, y = read_tokens(path)
    assert X == ["我喜欢书", "他来", "天气很好"] and y[1] == ["他", "来"]
