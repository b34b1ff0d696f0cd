"""Functions of characters in files: those of the package, for all code points, in each
language.
"""

import json
import random
import subprocess

import pytest
from one_file_cases import NODE, interpreters, needs_node, written

from skstruct import StructuredPerceptron
from skstruct._one_file.keys import FUNCTIONS, tables_for
from skstruct._one_file.python import PARTS
from skstruct.features.tokens import column_function

NAMES = tuple(
    name for name in FUNCTIONS if name != "cluster"
)  # whose table is the user's
CODES = range(0x110000)


@pytest.fixture(scope="module")
def functions():
    """{name: function of a file} by the tables that files carry, through JSON as they
    are.
    """
    tables = json.loads(json.dumps(tables_for(NAMES)))
    return {name: PARTS["characters"](name, tables) for name in NAMES}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_code_points(name, functions):
    mine, expected = functions[name], column_function(name)
    forms = ["{}"] if name != "lower" else ["{}", "A{}Σ", "AΣ{}", "AΣ{}B"]
    for form in forms:
        strings = [form.format(chr(code)) for code in CODES]
        assert list(map(mine, strings)) == list(map(expected, strings))


def random_strings(n, seed=0):
    rng = random.Random(seed)
    some = [
        *"aZ9-Σσς.\u0301\u0345\u00adİǅ三７Ａ😀\u02b0\ud800",
        *(chr(rng.randrange(0x30000)) for _ in range(2000)),
    ]
    return [
        "".join(rng.choice(some) for _ in range(rng.randint(0, 7))) for _ in range(n)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_random_strings(name, functions):
    strings = random_strings(30_000)
    assert list(map(functions[name], strings)) == list(
        map(column_function(name), strings)
    )


N_LONG = 3_000


class Counted(str):
    """A str that counts the characters of its slices."""

    n = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        Counted.n += len(found)
        return found


def test_many_sigmas_cost_no_more_than_other_letters(functions):
    text = Counted("AΣ\u0301" * N_LONG)
    assert functions["lower"](text) == str(text).lower()
    assert Counted.n <= 10 * len(text)


@needs_node
def test_many_sigmas_in_javascript(tmp_path):
    model = StructuredPerceptron(["U:%lower[0,0]"], max_iter=1).fit(
        [["aΣ", "B"]], [["X", "Y"]]
    )
    path = written(model, tmp_path, "tagger.js")
    program = f"""
const tagger = require({json.dumps(str(path))}), slice = Array.prototype.slice;
let n = 0;
Array.prototype.slice = function (...range) {{
  const found = slice.apply(this, range);
  n += found.length;
  return found;
}};
tagger.predict([["AΣ\u0301".repeat({N_LONG})]]);
console.log(n);
"""
    done = subprocess.run(
        [NODE, "-e", program], capture_output=True, check=True, text=True
    )
    assert int(done.stdout) <= 10 * 3 * N_LONG


@pytest.mark.slow
@needs_node
def test_other_interpreters(tmp_path):
    """Node and other versions of Python agree, for all code points and random
    strings.
    """
    templates = [f"U{name}:%{name}[0,0]" for name in NAMES]
    model = StructuredPerceptron(templates, max_iter=1).fit([["aΣ", "B"]], [["X", "Y"]])
    alone = [chr(code) for code in CODES if not 0xD800 <= code <= 0xDFFF]
    strings = [
        *alone,
        *(f"A{c}Σ" for c in alone),
        *(f"AΣ{c}" for c in alone),
        *random_strings(300_000),
    ]
    (tmp_path / "strings.json").write_text(json.dumps(strings), encoding="utf-8")
    strings = json.loads(
        json.dumps(strings)
    )  # two lone surrogates side by side become one character
    functions = [column_function(name) for name in NAMES]
    expected = hashed([[function(s) for function in functions] for s in strings])
    header = json.dumps({"tables": tables_for(NAMES), "names": NAMES})
    (tmp_path / "tables.json").write_text(header, encoding="utf-8")
    path = written(model, tmp_path)
    for program in interpreters().values():
        done = subprocess.run(
            [program, "-c", IN_PYTHON, tmp_path],
            capture_output=True,
            check=True,
            text=True,
        )
        assert done.stdout.split()[-1] == expected
    source = written(model, tmp_path, "tagger.js").read_text(encoding="utf-8")
    start = source.index("const tagger = openModel(DATA);")
    (tmp_path / "run.js").write_text(
        source[:start] + IN_NODE + "})();", encoding="utf-8"
    )
    done = subprocess.run(
        [NODE, tmp_path / "run.js", tmp_path],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.split()[-1] == expected
    assert path.exists()


def hashed(rows):
    """One number of many strings, by code points, that is easily written in each
    language.
    """
    total = 7
    for row in rows:
        for s in row:
            for c in s:
                total = (total * 31 + ord(c)) % 2147483629
            total = (total * 31 + 1) % 2147483629
    return str(total)


IN_PYTHON = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tagger
given = json.load(open(sys.argv[1] + "/tables.json"))
functions = [tagger.PARTS["characters"](name, given["tables"]) for name in given["names"]]
total = 7
for s in json.load(open(sys.argv[1] + "/strings.json")):
    for f in functions:
        for c in f(s):
            total = (total * 31 + ord(c)) % 2147483629
        total = (total * 31 + 1) % 2147483629
print(total)
"""

IN_NODE = """
const fs = require("fs");
const given = JSON.parse(fs.readFileSync(process.argv[2] + "/tables.json", "utf8"));
const functions = given.names.map((name) => PARTS.characters(name, given.tables));
let total = 7;
for (const s of JSON.parse(fs.readFileSync(process.argv[2] + "/strings.json", "utf8"))) {
  for (const f of functions) {
    for (const c of f(s)) total = (total * 31 + c.codePointAt(0)) % 2147483629;
    total = (total * 31 + 1) % 2147483629;
  }
}
console.log(total);
"""
