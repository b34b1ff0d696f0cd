"""A reader in plain Python, written from `docs/file-format.md` alone, predicts what
skstruct predicts.
"""

import itertools
import json
import pathlib
import re
import struct
import zlib

import numpy as np
import pytest

from skstruct import StructuredPerceptron
from skstruct._saving.container import write_container
from skstruct._saving.forms import FAST, FASTEST
from skstruct.datasets import make_hmm_sequences

CODES = dict(
    zip(
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split(),
        "?bhiqBHIQfd",
    )
)
USED = set()
"""Forms that the files had."""


def elements(a, part):
    """The elements of an array, given what the header says and the bytes behind."""
    n = 1
    for m in a["shape"]:
        n *= m
    USED.update(a.keys() - {"name", "dtype", "shape", "offset"})
    if "zlib" in a:
        part = zlib.decompress(part[: a["zlib"]])
    stored = struct.Struct(f"<{a.get('held', n)}{CODES[a.get('as', a['dtype'])]}")
    found = list(stored.unpack_from(part))
    if a.get("steps"):
        columns = 1 if len(a["shape"]) < 2 else n // a["shape"][0]
        for k in range(columns, n):
            found[k] += found[k - columns]
    if "held" in a:
        bits = "".join(f"{byte:08b}" for byte in part[stored.size :])
        held = iter(found)
        found = [next(held) if bit == "1" else 0 for bit in bits[:n]]
    return found


def read(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data, 12)
    header, arrays = json.loads(data[20 : 20 + length]), {}
    for a in header["arrays"]:
        arrays[a["name"]] = elements(a, data[20 + length + a["offset"] :])
    return header["estimator"]["state"]["model"], lambda node: arrays[node["$array"]]


def features(side, array, tokens, ids, left, right):
    """By token, the rows of its features, of templates that read tokens as they are."""
    T, compounds, pairs, found = (
        len(tokens),
        side["compounds"],
        {},
        [[] for _ in tokens],
    )

    def value(p):
        if 0 <= p < T:
            return ids[tokens[p]] + left + right if tokens[p] in ids else -1
        return -p - 1 if -left <= p < 0 else left + p - T if T <= p < T + right else -1

    def number(atoms, p):
        last = value(p + atoms[-1][2])
        return (
            last
            if len(atoms) == 1
            else pairs[str(atoms)].get((number(atoms[:-1], p), last), -1)
        )

    for compound in compounds:
        if "pairs" in compound:
            flat = array(compound["pairs"])
            pairs[str(compound["atoms"])] = {
                pair: k for k, pair in enumerate(zip(flat[::2], flat[1::2]))
            }
        for (s, d), t in itertools.product(compound["uses"], range(T)):
            k = number(compound["atoms"], t - d)
            row = array(compound["row"])[k] if k >= 0 else -1
            found[t] += [row + s] * (row >= 0)
    return found


def test_the_reader_on_the_page(tmp_path):
    """It reads every bit that ours reads."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "file-format.md"
    text = page.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(import .*?)```", text, re.DOTALL)
    names = {}
    exec(code, names)  # what the page says
    rng = np.random.default_rng(0)
    arrays = {
        "held": np.where(np.arange(900) % 8, 0.0, rng.normal(size=900)).reshape(9, -1),
        "negative": np.where(np.arange(900) % 8, 0.0, -0.0),
        "as": np.arange(9000.0).reshape(2, 4500),
        "both": np.where(np.arange(9000) % 8, 0, np.arange(9000)),
        "steps": np.arange(9000).reshape(-1, 2) * 30,
        "none": rng.normal(size=30).astype(np.float32),
        "one": np.array(True),
    }
    for packing in (FASTEST, FAST):
        write_container(tmp_path / "m", {"kind": "model"}, arrays, packing)
        header, found = names["read"](tmp_path / "m")
        assert header == {"kind": "model"} and found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype and found[name].shape == array.shape
            assert found[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("order", [1, 2])
def test_a_reader_from_the_documentation_alone(tmp_path, order):
    X, y = make_hmm_sequences(30, random_state=0)
    templates = [
        "U0:%x[0,0]",
        "U1:%x[-1,0]/%x[0,0]",
        "U2:%x[0,0]/%x[1,0]/%x[2,0]",
        "B",
        "B1:%x[-1,0]",
    ]
    tagger = StructuredPerceptron(
        templates, order=order, max_iter=3, random_state=0
    ).fit(X[:20], y[:20])
    tagger.save(tmp_path / "model")
    model, array = read(tmp_path / "model")
    text, at = (
        array(model["encoder"]["columns"][0][part]) for part in ("bytes", "offsets")
    )
    ids = {
        bytes(text[i:j]).decode(): k for k, (i, j) in enumerate(itertools.pairwise(at))
    }
    labels, L = model["labels"], len(model["labels"])
    w = {
        name: array(model[name]["value"])
        for name in ("nodes", "edges", "trigrams")
        if name in model
    }

    def score(nodes, edges, labelling):
        total = sum(
            w["nodes"][row * L + b] for b, rows in zip(labelling, nodes) for row in rows
        )
        for t in range(1, len(nodes)):
            a, p, b = labelling[t - 2] if t > 1 else -1, labelling[t - 1], labelling[t]
            total += sum(w["edges"][(e * L + p) * L + b] for e in [0, *edges[t]])
            if order == 2:
                total += w["trigrams"][(p * (L + 1) + a + 1) * L + b]
        return total

    for tokens in (tokens[:4] for tokens in X):
        nodes, edges = (
            features(model["encoder"][s], array, tokens, ids, 1, 2)
            for s in ("nodes", "edges")
        )
        scores = {
            y: score(nodes, edges, y)
            for y in itertools.product(range(L), repeat=len(tokens))
        }
        best = max(scores.values())
        assert best == pytest.approx(tagger.decision_function([tokens])[0])
        predicted = tuple(labels.index(label) for label in tagger.predict([tokens])[0])
        assert scores[predicted] == pytest.approx(best)
    assert {"as", "steps", "zlib"} <= USED
