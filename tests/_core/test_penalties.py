"""A penalty is one file."""

import pathlib
import re

import skstruct

PACKAGE = pathlib.Path(skstruct.__file__).parent


def test_only_one_file_tells_penalties_apart():
    compares = re.compile(r"\.penalty (==|!=|in|not in) ")
    files = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if compares.search(file.read_text(encoding="utf-8"))
    }
    assert files == {"_core/penalties.py"}
