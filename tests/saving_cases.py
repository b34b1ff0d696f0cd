"""Corpora of every kind of token, and equality to the bit."""

import numpy as np
from inside import attributes_kept, contents_of

from skstruct._core.store import Store
from skstruct.features.bag_encoder import BagEncoder
from skstruct.features.template_encoder import TemplateEncoder

TEMPLATES = [
    "U00:%x[0,0]",
    "U01:%suffix2[0,0]/%x[-1,1]",
    "U02:%prefix1[1,0]",
    "U03:%x[-1,1]/%x[0,1]/%x[1,1]",
    "U04:%type[0,0]/%shape[-2,0]",
    "U05",
    "B",
    "B00:%x[0,1]",
    "B01:%x[-1,0]/%x[0,1]",
]
LABELS = {
    "int": [7, -1, 30],
    "bool": [False, True],
    "str": ["B-é", "I", "O"],
    "float": [0.5, -2.0],
}


def as_tuple(word, rng):
    return word, "NVD"[len(word) % 3]


def as_dict(word, rng):
    return {
        "word": word,
        "length": len(word),
        "weight": round(float(rng.random()), 1),
        "upper": word.isupper(),
        "near": [word[:1], word[-1:]],
        "inner": {"a": 0.5, "b": word[:2]},
    }


def as_flat_dict(word, rng):
    token = as_dict(word, rng)
    return {key: token[key] for key in token if key not in ("near", "inner")}


def as_list(word, rng):
    return [f"word:{word}", word[:1]]


def as_row(word, rng):
    return [
        float(len(word)),
        ord(word[0]) % 7 - 3.0,
        ord(word[-1]) % 3,
        round(rng.random(), 2),
    ]


TOKENS = {
    "str": (lambda word, rng: word, {}),
    "tuple": (as_tuple, {"features": TEMPLATES, "min_count": 2}),
    "dict": (as_dict, {}),
    "flat-dict": (as_flat_dict, {"min_count": 2}),
    "list": (as_list, {}),
    "row": (as_row, {}),
}


def corpus(kind="str", labels="str", seed=0, n=40, words=30):
    """Sequences of tokens of a kind, the empty one among them, with labels of a
    type.
    """
    rng, make, choices = np.random.default_rng(seed), TOKENS[kind][0], LABELS[labels]
    X, y = [], []
    for i in range(n):
        ids = rng.integers(0, words, i % 8)
        spelled = [f"{'wW你é'[k % 4]}{k * 37 % 101}" for k in ids.tolist()]
        X.append([make(word, rng) for word in spelled])
        y.append(
            [
                choices[(k + int(rng.random() < 0.1)) % len(choices)]
                for k in ids.tolist()
            ]
        )
    return X, y


def assert_same(a, b, where="it"):
    """Equal in type and bits, through all containers and objects.

    So it notices when somebody adds an attribute that ``skstruct._saving`` does not
    know yet.
    """
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, where
        if a.dtype == object:
            assert_same(a.tolist(), b.tolist(), where)
        else:
            assert a.tobytes() == b.tobytes(), where
        assert b.flags.writeable and b.flags.c_contiguous, where
    elif isinstance(a, Store):
        places = int(a.used[0]) if a.sparse else a.value.shape[0]
        for field in a._fields:  # behind the places in use, a pool holds nothing
            cut = slice(
                places if field in ("value", "moment", "received", "column") else None
            )
            part = getattr(a, field), getattr(b, field)
            if isinstance(part[0], np.ndarray):
                part = [np.ascontiguousarray(p[cut]) for p in part]
            assert_same(*part, f"{where}.{field}")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, pair in enumerate(zip(a, b)):
            assert_same(*pair, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, float):
        assert a.hex() == b.hex(), where
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(legacy=False), b.get_state(legacy=False), where)
    elif isinstance(a, TemplateEncoder):
        skip = {"table", "templates", "plan"}
        assert a.templates == b.templates and a.plan == b.plan
        assert_same(without(a, skip), without(b, skip), where)
    elif isinstance(a, BagEncoder):
        assert_same(contents_of(a), contents_of(b), where)
    elif hasattr(a, "__dict__") and type(a).__module__.startswith("skstruct"):
        assert_same(*(dict(sorted(state_of(each).items())) for each in (a, b)), where)
    else:
        assert a == b, where


def state_of(instance):
    """The attributes that copies in files have."""
    if hasattr(instance, "save") or hasattr(instance, "get_params"):
        return attributes_kept(instance)
    return (
        instance.__getstate__() if hasattr(instance, "__getstate__") else vars(instance)
    )


def without(instance, names):
    return {key: value for key, value in vars(instance).items() if key not in names}


def assert_predicts_same(a, b, X):
    assert_same(a.predict(X), b.predict(X))
    assert_same(a.decision_function(X), b.decision_function(X))
    assert_same(a.predict_kbest(X, 3), b.predict_kbest(X, 3))
    assert_same(a.classes_, b.classes_)
