"""Tables of what this Python says of all code points."""

import itertools
import json
import subprocess

import numpy as np
import pytest
from inside import TOKEN_FUNCTIONS
from one_file_cases import NODE, asked, loaded, needs_node

from skstruct import StructuredPerceptron
from skstruct._one_file.keys import (
    FUNCTIONS,
    N_CODES,
    WITHOUT_TABLES,
    gaps,
    table,
    tables_for,
)
from skstruct.interchange import export


def test_a_table_says_what_python_says():
    bounds = list(itertools.accumulate(table("upper")))
    inside = set()
    for begin, end in itertools.zip_longest(
        bounds[::2], bounds[1::2], fillvalue=N_CODES
    ):
        inside.update(range(begin, end))
    assert inside == {code for code in range(N_CODES) if chr(code).isupper()}


def test_functions_have_the_tables_that_they_read():
    assert set(tables_for(["shape", "x"])) == {"upper", "lower", "digit"}
    assert set(FUNCTIONS["lower"]) == set(tables_for(["lower"]))
    assert gaps([2, 5, 9]) == [2, 3, 4]


@pytest.mark.parametrize("name", sorted(TOKEN_FUNCTIONS) + ["prefix2", "suffix11"])
def test_every_function_of_a_token_is_written(name, tmp_path):
    """A function that templates have is one that the file has, and answers alike."""
    assert name in {*FUNCTIONS, *WITHOUT_TABLES, "prefix2", "suffix11"}, (
        f"write %{name} in skstruct/_one_file/python/characters.py and "
        "javascript/characters.js, and in FUNCTIONS of skstruct/_one_file/keys.py the "
        "tables of code points that it reads, or ()"
    )
    model = tagger_of(name)
    X = [["Ab-9", "ΑΣ", "x"], ["II", "三", "ß-"]]
    path = tmp_path / "tagger.py"
    export(model, path)
    assert loaded(path).predict(X) == model.predict(X)
    if NODE is not None:
        export(model, tmp_path / "tagger.mjs")
        assert asked(tmp_path / "tagger.mjs", X, "predict") == {
            "predict": model.predict(X)
        }


@pytest.mark.parametrize("ending", ["py", "mjs", "html"])
def test_a_function_that_a_file_lacks_is_refused(ending, tmp_path, monkeypatch):
    monkeypatch.setitem(TOKEN_FUNCTIONS, "reversed", lambda token: token[::-1])
    model = tagger_of("reversed")
    path = tmp_path / f"tagger.{ending}"
    with pytest.raises(ValueError, match=r"the function %reversed\[\.\.\.\]"):
        export(model, path)
    assert not path.exists()


def tagger_of(function):
    templates = [f"U0:%{function}[0,0]", f"U1:%{function}[-1,0]", "B"]
    X = [["Ab-9", "ΑΣ", "x"], ["II", "三", "ß-"]]
    y = [["A", "B", "A"], ["B", "B", "C"]]
    return StructuredPerceptron(templates, random_state=0).fit(X, y)


ORDERS = """
const { pathToFileURL } = require("url");
import(pathToFileURL(process.argv[1]).href).then((tagger) => {
  const X = JSON.parse(process.argv[2]).map((x) => x.map((pairs) => new Map(pairs)));
  console.log(JSON.stringify(tagger.decisionFunction(X)));
});
"""


@needs_node
def test_a_map_keeps_the_order_of_keys_that_are_numbers(tmp_path):
    """Sums are then those of Python, to the last bit."""
    rng = np.random.RandomState(0)
    keys = ["b", "10", "a", "2", "0", "c:d"]
    X = [
        [{key: rng.normal() * 10.0 ** rng.randint(-3, 4) for key in keys} for _ in "ab"]
        for _ in range(30)
    ]
    y = [["A" if token["b"] > 0 else "B" for token in x] for x in X]
    model = StructuredPerceptron(random_state=0).fit(X, y)
    path = tmp_path / "tagger.mjs"
    export(model, path)
    given = json.dumps([[list(token.items()) for token in x] for x in X])
    command = [NODE, "-e", ORDERS, str(path), given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == model.decision_function(X).tolist()
