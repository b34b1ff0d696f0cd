"""``skstruct show``: describe a model.

Print the parameters, labels, sizes and largest weights of a model; or, with --explain,
the reasons for its labels of a sentence.

What `skstruct.inspection` says, printed.
"""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.elements import spelled
from .._data.inputs import LABELS, TREES, flatten
from .._saving.origin import origin_of
from .._sklearn import final_step, layers
from ..features.presets import preset_of
from ..inspection import explain, feature_weights, transition_weights
from ..inspection.explain_taggers import single_chains
from ..inspection.explanations import printable
from ..interchange.kinds import kind_of
from ..serving.answers import as_sequence
from .common import CommandError, as_json, check_inputs, load_model, positive, warn
from .model_inputs import inputs_of
from .options import add_encoding

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from .common import Arguments


_FEATURES_LISTED = 40

_TAGS = {True: "words with tags", False: "words without tags", None: None}
"""The outputs of a model, by whether its words had tags."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("file", nargs="?", metavar="MODEL", help="a model file")
    add(
        "--model",
        "-m",
        metavar="MODEL",
        help="the same as MODEL, as in other commands",
    )
    what = "number of features for each label, or with --explain for each token"
    add("--top", type=positive, default=5, metavar="N", help=what)
    add(
        "--label",
        metavar="LABEL",
        help="list features of this label only; not with --explain",
    )
    what = (
        "a sentence: tokens between spaces, several columns between slashes (the/DT "
        "dog/NN); or a text"
    )
    add("--explain", metavar="TEXT", help=what)
    add("--json", action="store_true", help="print one JSON object")
    add_encoding(parser)


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    if (arguments.model is None) == (arguments.file is None):
        arguments.usage_error("name one model file: show MODEL, or show --model MODEL")
    path = arguments.model or arguments.file
    check_inputs([path])
    model = load_model(path, encoding=arguments.encoding)
    if arguments.explain is not None:
        return _explain(model, path, arguments)
    inner = model.estimator_ if hasattr(model, "thresholds_") else model
    taggers = _taggers(inner)
    tagger = taggers[0]
    named: list[Any] = [
        getattr(each._model, "named_weights", list)()  # no names, no list
        for each in taggers
    ]
    labels = {spelled(label): label for part in flatten(named) for label in part.labels}
    if arguments.label is not None:
        if arguments.label not in labels:
            has = ", ".join(labels)
            raise CommandError(
                f"{path}: the model has no label {arguments.label!r}; it has {has}"
            )
        labels = {arguments.label: labels[arguments.label]}
    about: dict[str, Any] = {
        "model": type(model).__name__,
        "file": kind_of(path),
        "bytes": os.path.getsize(path),
    }
    about |= {
        name: value
        for name, value in _about(inner, taggers).items()
        if value is not None
    }
    top = {
        text: feature_weights(
            tagger if len(taggers) == 1 else inner, arguments.top, label
        )
        for text, label in labels.items()
    }
    origin = origin_of(model)
    if origin.source_layout is not None:
        about["source_layout"] = origin.source_layout
    if origin.card is not None:
        about["card"] = origin.card
    if arguments.json:
        about |= {
            name: about[name].to_dict()
            for name in ("source_layout", "card")
            if name in about
        }
        about["top"] = {
            label: [[w.feature, w.weight] for w in rows] for label, rows in top.items()
        }
        print(as_json(about))
        return None
    _print_about(about)
    for label, rows in top.items():
        print(f"\n{label}")
        for row in rows:
            print(f"  {row.weight:+10.3f}  {printable(row.feature)}")
    if arguments.label is None and hasattr(tagger._model, "new_chain"):
        for each in taggers:
            print(f"\ntransitions\n{transition_weights(each)}")


def _taggers(model: Any) -> list[Any]:
    """Return what labels tokens inside of a model: a tagger for each chain of labels."""
    return [
        final_step(getattr(each, "tagger_", each), None, ("steps",)).estimator
        for each in single_chains(model)
    ]


def _print_about(about: dict[str, Any]) -> None:
    """Print what is said of a model, a line each."""
    for name, value in about.items():
        if name == "card":
            print(*value.lines(), sep="\n")
            continue
        if name == "source_layout":
            name, value = "file read", value.describe()
        elif name == "parameters":
            value = ", ".join(f"{key}={shown}" for key, shown in value.items())
        elif name == "features":
            value = "  ".join(value[:_FEATURES_LISTED])
        elif name == "labels":
            value = f"{len(value)}: {' '.join(value)}"
        elif isinstance(value, int):
            value = f"{value:,}"
        print(f"{name.replace('_', ' '):<14}{value}")


def _about(model: Any, taggers: list[Any]) -> dict[str, Any]:
    """Say what there is to say of a model and its taggers, by name; None: nothing."""
    tagger = taggers[0]
    inside = tagger._model
    defaults = inspect.signature(type(tagger).__init__).parameters
    around = {} if model is tagger else model.get_params(deep=False)
    parameters = {
        name: value for name, value in around.items() if isinstance(value, str)
    }
    for name, value in sorted(tagger.get_params(deep=False).items()):
        if name != "features" and value != defaults[name].default:
            parameters[name] = value
    epochs = (
        int(layer.n_iter_) for layer in layers(tagger) if hasattr(layer, "n_iter_")
    )
    trained_on = ", ".join(
        f"{n:,} {name}" for name, n in getattr(model, "alignment_", {}).items() if n
    )
    _, n_features, *_ = inside.sizes()
    weights = flatten(each._model.sizes()[2:] for each in taggers)
    labels = flatten(
        getattr(each, "classes_", np.zeros(0)).tolist() for each in taggers
    )
    return {
        "learner": type(tagger).__name__,
        "parameters": {
            name: " ".join(repr(value).split()) for name, value in parameters.items()
        },
        "epochs": next(epochs, None),
        "temperature": getattr(tagger, "temperature_", None),
        "chains": len(taggers) if len(taggers) > 1 else None,
        "labels": list(dict.fromkeys(map(str, labels)))
        if hasattr(tagger, "classes_")
        else None,
        "tags": _TAGS[getattr(model, "tagged_", None)],
        "pieces": getattr(model, "pieces_", None),
        "trained_on": trained_on or None,
        **(_features(tagger.inputs, inside.lines) if hasattr(inside, "lines") else {}),
        "n_features": n_features,
        "n_weights": sum(filter(None, weights)),
    }


def _features(inputs: Inputs, lines: Sequence[str] | None) -> dict[str, Any]:
    """Return what a token is, and the templates of features."""
    if lines is None:
        return {"features": ["(ready-made, from dicts or lists of str)"]}
    if inputs.task == TREES:
        columns = ["form", "tag", *(f"c{c}" for c in range(2, inputs.width))]
        return {"token": f"({', '.join(columns)})", "features": list(lines)}
    tokens: dict[type, str] = {
        str: "str",
        tuple: f"tuple of {inputs.width} or more str",
    }
    token = tokens.get(inputs.token, "strings with numbers")
    return {"token": token, "preset": preset_of(lines), "features": list(lines)}


def _explain(model: Any, path: str, arguments: Arguments) -> int | None:
    """Print what made a model label a sentence as it does."""
    inputs = inputs_of(model, path)
    words = arguments.explain.split()
    if not words:
        arguments.usage_error("--explain needs a sentence")
    if arguments.label is not None:
        arguments.usage_error(
            "--label is for lists of weights; leave it out with --explain"
        )
    if (
        inputs.task == LABELS
        and inputs.token is str
        and all("/" in word for word in words)
    ):
        warn(
            f"the model reads words without columns: {words[0]!r} is taken for a word, "
            "slash and all"
        )
    try:
        explanation = explain(model, as_sequence(inputs, arguments.explain))
    except TypeError as error:  # it is of a kind that cannot be explained
        raise CommandError(f"{path}: --{error}") from None
    if arguments.json:
        print(as_json(explanation.to_dict()))
    else:
        print(explanation.describe(arguments.top))
