"""The code in README and documentation runs, as it stands and in the order of the page.

Files and modules that pages and docstrings name exist.
"""

import ast
import doctest
import inspect
import itertools
import json
import pathlib
import pydoc
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from inside import TOKEN_FUNCTIONS
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    permutation_test_score,
)

import skstruct
from skstruct import L1CRF, StructuredPerceptron
from skstruct._data.inputs import PlaceError
from skstruct.cli import main
from skstruct.datasets import columns_to_spans, load_chunking, load_entities, read_spans
from skstruct.features.presets import PRESETS
from skstruct.inspection import explain
from skstruct.interchange import save_crfsuite
from skstruct.metrics import SCORERS

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "skstruct"
FIRST = tuple(
    f"docs/{name}.md"
    for name in ("first-tagger", "is-it-good", "better", "production", "next-sentences")
)
GUIDES = ("user-guide", "recipes", "switching", "one-file")
TASKS = tuple(
    sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("guide-*.md"))
)
WITHOUT_PYTHON = "docs/guide-command-line.md"
PAGES = ("README.md", *FIRST, *(f"docs/{name}.md" for name in GUIDES), *TASKS)

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").is_dir(), reason="the documentation is not installed"
)


def names_for(page, folder):
    """What a page takes for granted."""
    if page != "docs/switching.md":
        assert main(["demo", "--files", str(folder)]) == 0
        return {}
    sentences, labels = load_entities()
    X = [
        [{"word": word, "tag": tag} for word, tag in sentence] for sentence in sentences
    ]
    path = folder / "model.crfsuite"
    save_crfsuite(L1CRF(c1=1.0, random_state=0).fit(X[:20], labels[:20]), path)
    return {
        "X_train": X[:120], "y_train": labels[:120], "X_test": X[120:], "y_test": labels[120:], "path": path,
    }  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = (ROOT / page).read_text(encoding="utf-8"), names_for(page, tmp_path)
    blocks = [
        (m[1], text.count("\n", 0, m.start(1)))
        for m in re.finditer(r"```python\n(.*?)```", text, re.S)
    ]
    assert blocks or page == WITHOUT_PYTHON
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    for block, line in blocks:
        where = f"{page}, line {line + 1}"
        if ">>> " in block:
            test = doctest.DocTestParser().get_doctest(
                block, names, where, str(ROOT / page), line
            )
            said = []
            assert runner.run(test, out=said.append, clear_globs=False).failed == 0, (
                "".join(said)
            )
            names.update(test.globs)
        elif "import sklearn_crfsuite" in block:
            continue  # what a page says one had before
        elif "import mlflow" in block:
            continue  # it takes long: tests/serving/test_skops_mlflow.py tries it
        elif "import skops" in block and find_spec("skops") is None:
            continue
        else:
            exec(compile(block, where, "exec"), names)
    assert page != "docs/better.md" or len(names["X_test"]) == 42  # as the page says


def test_the_first_commands_run(tmp_path, monkeypatch, capsys):
    """The blocks of commands of the README, in an empty folder; what they write to
    files is read back.
    """
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S
    )
    blocks = [block for block in blocks if block.startswith("skstruct ")]
    assert len(blocks) == 2
    for line in "".join(blocks).splitlines():
        command, _, target = line.partition(" > ")
        assert main(shlex.split(command, comments=True)[1:]) == 0, line
        pathlib.Path(target or "said").write_text(
            capsys.readouterr().out, encoding="utf-8"
        )
    texts = read_spans("more.jsonl")[0]
    found = read_spans("tagged.jsonl")
    assert found[0] == texts and found[1] == skstruct.load("ner").predict(texts)
    command = [sys.executable, "-I", "-S", "ner.py"]
    said = subprocess.run(
        command, input=texts[0], capture_output=True, text=True, check=True
    ).stdout
    assert [tuple(span.values()) for span in json.loads(said)["spans"]] == found[1][0]
    assert pathlib.Path("ner.html").stat().st_size > 10_000


NAMES = {
    "Maria Lopez": "PER", "Tom Harris": "PER", "Velotek": "ORG", "Berlin": "LOC", "London": "LOC",
}  # fmt: skip


def test_the_first_sentence_comes_out_right_whatever_the_seed(tmp_path):
    """What the README shows first is what a reader judges by."""
    shown = re.findall(
        r'"(Maria [^"]*)"', (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert (
        len(shown) == 2 and len(set(shown)) == 1
    )  # on the command line, and in Python
    expected = [(name, label) for name, label in NAMES.items() if name in shown[0]]
    assert main(["demo", "--files", str(tmp_path)]) == 0
    texts, spans = read_spans(tmp_path / "notes.jsonl")
    for seed in range(8):
        tagger = skstruct.SpanTagger(StructuredPerceptron(random_state=seed)).fit(
            texts, spans
        )
        (found,) = tagger.predict(shown[:1])
        assert [(shown[0][start:end], label) for start, end, label in found] == expected


def test_what_the_guide_says_of_scikit_learn():
    X, y = (each[:30] for each in load_chunking())
    tagger = StructuredPerceptron(max_iter=1)
    with pytest.warns(UserWarning, match="Scoring failed"):
        assert np.isnan(
            GridSearchCV(tagger, {}, scoring="f1_macro", cv=2).fit(X, y).best_score_
        )
    assert (
        GridSearchCV(tagger, {}, scoring=SCORERS["segment_f1"], cv=2)
        .fit(X, y)
        .best_score_
        > 0.5
    )
    with pytest.raises(PlaceError, match="as many labels as tokens"):
        permutation_test_score(tagger, X, y, cv=2, n_permutations=2)
    for call in (
        lambda: cross_val_score(tagger, X, y, cv=StratifiedKFold(2)),
        lambda: BaggingClassifier(tagger).fit(X, y),
        lambda: StackingClassifier([("tagger", tagger)]).fit(X, y),
    ):
        with pytest.raises(ValueError, match="inhomogeneous shape|legacy multi-label"):
            call()


def test_the_legend_of_names_is_that_of_the_presets():
    text = (ROOT / "docs" / "guide-tokens.md").read_text(encoding="utf-8")
    legend = text[text.index("| name | means |") :]
    named = set(re.findall(r"`(U[^:`]*):", legend))
    lines = [line for preset in PRESETS.values() for line in preset]
    assert len(named) > 10 and named - {line.split(":")[0] for line in lines} == set()
    X, y = columns_to_spans(*load_entities())
    tagger = skstruct.SpanTagger(StructuredPerceptron(random_state=0)).fit(X, y)
    first = explain(tagger, "Maria Lopez works.").tokens[0]
    shown = {"Ugap:3", "Ulower0+1:lopez", "Ushape0-1_3:_B-1/Xxx/Xxx", "Uprefix2:Ma"}
    assert shown <= {name for name, _ in first.features}
    assert shown <= set(re.findall(r"`(U[^`]*)`", legend))


def test_the_pages_stay_short():
    words = {
        path.name: len(path.read_text(encoding="utf-8").split())
        for path in (ROOT / "docs").glob("*.md")
    }
    assert sum(words.values()) <= 38_000, (
        f"cut what is said twice, such as in the longest: {words}"
    )


@pytest.mark.parametrize("name", sorted(TOKEN_FUNCTIONS))
def test_every_function_of_a_token_is_described(name):
    page = (ROOT / "docs" / "guide-tokens.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page, f"docs/guide-tokens.md: say what {name} is"


# -- names of files, folders and modules -----------------------------------------------
TEXTS = [
    "README.md",
    "benchmarks/README.md",
    *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]

FOLDERS = sorted(
    path.name for path in PACKAGE.glob("*/") if not path.name.startswith("__")
)

ABOUT_CODE = (
    "docs/adding.md",
    "docs/architecture.md",
    "docs/one-token.md",
    "docs/decisions.md",
    "docs/file-format.md",
)
"""Pages on which a dotted name that begins with a folder means a module of the
package.
"""


def is_there(path):
    """Whether a file is there: seen from the top, the package or the examples, or in
    one of the folders.
    """
    beside = (
        ROOT,
        PACKAGE,
        ROOT / "examples",
        *(PACKAGE / folder for folder in FOLDERS),
    )
    return any((folder / path).exists() for folder in beside)


def leads_somewhere(name, *starts):
    """Whether a dotted name is a module or what is in one, from the package or one of
    these modules.
    """
    name = name.removeprefix("skstruct").lstrip(".")
    return any(
        pydoc.locate(f"{start}.{name}") is not None for start in ("skstruct", *starts)
    )


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_what_a_page_names_exists(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = re.findall(r"(?<![\w./-])[\w/]+\.py\b", text)
    paths += [
        f"benchmarks/{name}.py"
        for name in re.findall(r"python -m benchmarks\.(\w+)", text)
    ]
    if page == "docs/architecture.md":
        lines = (line for line in text.splitlines() if "(empty so far)" not in line)
        paths += [path for line in lines for path in re.findall(r"`(\w+/)`", line)]
        assert len(paths) > 40
    first = "|".join(["skstruct", *(FOLDERS if page in ABOUT_CODE else ())])
    names = re.findall(rf"(?<![\w./-])(?:{first})(?:\.(?!py\b)[A-Za-z_]\w*)+", text)
    missing = {path for path in paths if not is_there(path)} - {
        "app.py",
        "ner.py",
        "tagger.py",
    }  # the reader's own
    assert missing | {name for name in names if not leads_somewhere(name)} == set()


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_docstrings_name_exists(folder):
    """Modules, classes and functions in roles, which are looked for in the same folder
    and in the package.
    """
    files = sorted((PACKAGE / folder).glob("*.py"))
    beside = [
        f"skstruct.{folder}",
        *(f"skstruct.{folder}.{file.stem}" for file in files),
    ]
    missing = [
        f"{file.name}: {name}"
        for file in files
        for name in re.findall(
            r":(?:mod|class|func|data):`([\w.]+)`", file.read_text(encoding="utf-8")
        )
        if not leads_somewhere(name, *beside)
    ]
    assert missing == []


def anchors(text):
    """The anchors of the headings of a page, as Markdown makes them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page", sorted({*TEXTS, "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"})
)
def test_links_lead_to_pages_and_headings(page):
    text = re.sub(
        r"```.*?```|`[^`]*`", "", (ROOT / page).read_text("utf-8"), flags=re.S
    )
    wrong = []
    for link in re.findall(r"(?<!\\)\]\(([^)\s:]+)\)", text):
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if target.suffix == ".rst":  # made when the pages are
            continue
        is_there = target.exists() and (
            not anchor or anchor in anchors(target.read_text("utf-8"))
        )
        wrong += [] if is_there else [link]
    assert wrong == []


# -- docstrings of what the API lists --------------------------------------------------
def public_functions():
    """What the API lists, by name: functions, classes, and methods of these."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    module = "skstruct"
    found = {}
    for line in page.splitlines():
        if match := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif re.fullmatch(r"   [A-Za-z][\w.]*", line):
            name = f"{module}.{line.strip()}"
            found[name] = pydoc.locate(name)
    for name, each in list(found.items()):
        if inspect.isclass(each):
            of_ours = {
                f"{name}.{method}": value
                for method, value in inspect.getmembers(each, inspect.isfunction)
                if method[0] != "_" and value.__module__.startswith("skstruct.")
            }
            found.update(of_ours)
    return found


def documented_parameters(text):
    """{name: the type that is written behind it} of the section of parameters."""
    lines = inspect.cleandoc(text or "").splitlines()
    rules = [k for k, line in enumerate(lines) if line and set(line) == {"-"}]
    starts = [k - 1 for k in rules] + [len(lines)]
    for start, stop in itertools.pairwise(starts):
        if lines[start] == "Parameters":
            heads = [line for line in lines[start + 2 : stop] if line[:1].strip()]
            return {
                name.strip().lstrip("*"): kind
                for head, _, kind in (line.partition(" : ") for line in heads)
                for name in head.split(",")
            }
    return {}


def wrong_parameters(each):
    """Parameters of a docstring that there are not, or whose default is another one."""
    described = documented_parameters(each.__doc__)
    given = inspect.signature(each).parameters if described else {}
    for parameter, kind in described.items():
        _, says_default, text = kind.partition("default=")
        if parameter not in given:
            yield parameter
        elif says_default and text != "None" and " and " not in text:
            if repr(given[parameter].default) != repr(ast.literal_eval(text)):
                yield f"{parameter}={given[parameter].default!r}, not {text}"


def test_public_docstrings_name_parameters_and_defaults_that_there_are():
    public = public_functions()
    assert len(public) > 200 and None not in public.values()
    wrong = {name: [*wrong_parameters(each)] for name, each in public.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_public_docstrings_name_no_private_path():
    """But for true paths, which stand in quotes."""
    found = {
        name: re.findall(r'(?<!")skstruct\._\w+', inspect.getdoc(each) or "")
        for name, each in public_functions().items()
    }
    assert {name: paths for name, paths in found.items() if paths} == {}
