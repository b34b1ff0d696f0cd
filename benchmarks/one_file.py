"""Models as one file: size, labels and scores beside those of the model, and speed, in
Python and JavaScript.

Scores are compared on the whole test part with ``==``. Speeds are processor time of the
file's own process, after a first pass over the sentences; *first label* is from the
start of the process to a label, by the clock.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from benchmarks.common import DATA, load_conll2000, load_ewt, load_sxu, n_tokens, table
from skstruct import L1CRF, PassiveAggressiveTagger, StructuredPerceptron
from skstruct.interchange import export, load_crfsuite

MODELS = {
    "CoNLL chunk": (
        load_conll2000,
        lambda: StructuredPerceptron("chunk", random_state=0),
    ),
    "CoNLL chunk-best": (
        load_conll2000,
        lambda: StructuredPerceptron("chunk-best", random_state=0),
    ),
    "CoNLL chunk, L1CRF": (
        load_conll2000,
        lambda: L1CRF("chunk", c1=1.0, c2=0.0, all_pairs=True, random_state=0),
    ),
    "SXU char": (load_sxu, lambda: StructuredPerceptron("char", random_state=0)),
    "SXU char, L1CRF": (
        load_sxu,
        lambda: L1CRF("char", c1=1.0, c2=0.0, all_pairs=True, random_state=0),
    ),
    "SXU char-best, PA": (
        load_sxu,
        lambda: PassiveAggressiveTagger("char-best", random_state=0),
    ),
    "EWT word": (load_ewt, lambda: StructuredPerceptron("word", random_state=0)),
    "EWT word, order 2": (
        load_ewt,
        lambda: StructuredPerceptron("word", order=2, random_state=0),
    ),
}
CRFSUITE = "crfsuite-lbfgs"

_IN_PYTHON = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import tagger
X = [[tuple(x) if isinstance(x, list) else x for x in s] for s in json.load(sys.stdin)]
tagger.predict(X[:1])
scores = tagger.decision_function(X)
began = time.process_time()
labels = tagger.predict(X)
print(json.dumps([labels, scores, time.process_time() - began]))
"""

_IN_NODE = """
const tagger = require(process.argv[1] + "/tagger.js");
const X = JSON.parse(require("fs").readFileSync(0, "utf8"));
const scores = tagger.decisionFunction(X);
const began = process.cpuUsage();
const labels = tagger.predict(X);
const used = process.cpuUsage(began);
console.log(JSON.stringify([labels, scores, (used.user + used.system) / 1e6]));
"""

_FIRST = {
    ".py": "import sys; sys.path.insert(0, sys.argv[1]); import json, tagger; tagger.predict([{x}])",
    ".js": 'require(process.argv[1] + "/tagger.js").predict([{x}])',
}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=[*MODELS, CRFSUITE])
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    arguments = parser.parse_args()
    sizes, speeds = [], []
    for name in arguments.models:
        model, X = _fitted(name)
        with tempfile.TemporaryDirectory() as folder:
            row, speed = _measured(
                name, model, X, pathlib.Path(folder), arguments.pythons
            )
        sizes.append(row)
        speeds.append(speed)
        print(row, speed, flush=True)
    kinds = ("exact", "int16", "int8")
    table(
        ["model", *(f"{kind}: kB (gzipped), labelled otherwise" for kind in kinds)],
        sizes,
    )
    print()
    runs = [f"`.py`, {pathlib.Path(python).name}" for python in arguments.pythons]
    table(["tokens per second", "package", *runs, "`.js`", "first label"], speeds)


def _fitted(name):
    if name == CRFSUITE:
        own = DATA / "foreign" / "own"
        cases = json.loads((own / f"{CRFSUITE}.json").read_text(encoding="utf-8"))
        X = [case["items"] for case in cases["sequences"]]
        X = [x for x in X if all(isinstance(token, dict) for token in x)]
        return load_crfsuite(own / f"{CRFSUITE}.crfsuite"), X
    load, make = MODELS[name]
    return make().fit(*load("train")), load("dev" if load is load_ewt else "test")[0]


def _measured(name, model, X, folder, pythons):
    row, n = [name], n_tokens(X)
    for weights in ("exact", "int16", "int8"):
        said = export(model, folder / "tagger.js", weights=weights, check=X)
        sizes = f"{said.n_bytes / 1000:,.0f} ({said.n_bytes_gzip / 1000:,.0f})"
        row.append(f"{sizes}: {said.n_sequences_differ:,} of {said.n_sequences:,}")
    export(model, folder / "tagger.py")
    export(model, folder / "tagger.js")
    model.predict(X)
    began = time.process_time()
    expected = model.predict(X)
    speed = [name, f"{n / (time.process_time() - began):,.0f}"]
    scores, given = model.decision_function(X).tolist(), json.dumps(X).encode()
    node = shutil.which("node")
    runs = [[python, "-I", "-S", "-c", _IN_PYTHON, folder] for python in pythons]
    for command in [*runs, *([[node, "-e", _IN_NODE, folder]] if node else [])]:
        said = subprocess.run(
            command, input=given, capture_output=True, check=True
        ).stdout
        labels, found, seconds = json.loads(said)
        same = labels == list(expected) and found == scores
        speed.append(f"{n / seconds:,.0f}" + ("" if same else " DIFFERENT"))
    return row, [*speed, _first_labels(X, folder, pythons[0], node)]


def _first_labels(X, folder, python, node):
    x, out = json.dumps(X[0]), []
    for program, option, ending in ((python, "-c", ".py"), (node, "-e", ".js")):
        if program:
            given = x if ending == ".js" else f"json.loads({x!r})"
            began = time.perf_counter()
            subprocess.run(
                [program, option, _FIRST[ending].replace("{x}", given), folder],
                check=True,
            )
            out.append(f"{ending} {time.perf_counter() - began:.2f} s")
    return ", ".join(out)


if __name__ == "__main__":
    main()
