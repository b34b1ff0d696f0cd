"""``skstruct show``: describe a model.

Print the parameters, labels, sizes and largest weights of a model; or, with --explain, what made it label a
sentence as it does.

What `skstruct.inspection` says, printed.
"""

import inspect
import json
import os

import numpy as np

from .._sklearn import final_step, layers
from ..data.inputs import TREES
from ..features.presets import preset_of
from ..inspection import explain, feature_weights, transition_weights
from ..inspection.explanations import printable
from ..interchange.kinds import kind_of
from ..serving.answers import as_sequence
from .common import CommandError, load_model, positive
from .corpus import inputs_of

_FEATURES_LISTED = 40


def add_arguments(parser):
    """Add the arguments of the command."""
    parser.add_argument("file", nargs="?", metavar="MODEL", help="a model file")
    parser.add_argument("--model", "-m", metavar="MODEL", help="the same, as an option of the other commands")
    parser.add_argument(
        "--top", type=positive, default=5, metavar="N",
        help="features listed of each label, or with --explain of each token (default: 5)",
    )  # fmt: skip
    parser.add_argument(
        "--label", metavar="LABEL", help="list features of this label only; not with --explain"
    )
    parser.add_argument(
        "--explain", metavar="TEXT",
        help="a sentence: tokens between spaces, their columns, where the model reads several, between "
        "slashes (the/DT dog/NN); for a segmenter, or a model of spans, text",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments):
    """Run the command."""
    if (arguments.model is None) == (arguments.file is None):
        arguments.usage_error("name one model file: show MODEL, or show --model MODEL")
    arguments.model = arguments.model or arguments.file
    model = load_model(arguments.model)
    inner = model.estimator_ if hasattr(model, "thresholds_") else model
    tagger, _ = final_step(getattr(inner, "tagger_", inner), None, ("steps",))
    if arguments.explain is not None:
        return _explain(model, arguments)
    named = getattr(tagger._model, "named_weights", list)  # no names, no list
    labels = [label for part in named() for label in part.labels]
    if arguments.label is not None:
        by_text = {str(label): label for label in labels}
        if arguments.label not in by_text:
            raise CommandError(
                f"{arguments.model}: the model has no label {arguments.label!r}; it has {', '.join(by_text)}"
            )
        labels = [by_text[arguments.label]]
    about = _about(model, tagger, arguments.model)
    top = {str(label): feature_weights(tagger, arguments.top, label) for label in labels}
    if arguments.json:
        about["top"] = {label: [[w.feature, w.weight] for w in rows] for label, rows in top.items()}
        print(json.dumps(about, ensure_ascii=False))
        return
    for name, value in about.items():
        if name == "parameters":
            value = ", ".join(f"{key}={shown}" for key, shown in value.items())
        elif name == "features":
            value = "  ".join(value[:_FEATURES_LISTED])
        elif name == "labels":
            value = f"{len(value)}: {' '.join(value)}"
        elif isinstance(value, int):
            value = f"{value:,}"
        print(f"{name.replace('_', ' '):<14}{value}")
    for label, rows in top.items():
        print(f"\n{label}")
        for row in rows:
            print(f"  {row.weight:+10.3f}  {printable(row.feature)}")
    if arguments.label is None and hasattr(tagger._model, "new_chain"):
        _print_transitions(tagger, arguments.top)


def _about(model, tagger, path):
    """What there is to say about a model, by name."""
    inside, defaults = tagger._model, inspect.signature(type(tagger)).parameters
    parameters = {
        name: " ".join(repr(value).split())  # of estimators it has several lines
        for name, value in sorted(tagger.get_params(deep=False).items())
        if name != "features" and value != defaults[name].default
    }
    about = {
        "model": type(model).__name__,
        "file": kind_of(path),
        "bytes": os.path.getsize(path),
        "learner": type(tagger).__name__,
        "parameters": parameters,
    }
    epochs = [int(layer.n_iter_) for layer, _ in layers(tagger) if hasattr(layer, "n_iter_")]
    if epochs:  # not of what another tool has trained
        about["epochs"] = epochs[0]
    if hasattr(tagger, "temperature_"):
        about["temperature"] = tagger.temperature_
    if hasattr(tagger, "classes_"):
        about["labels"] = [str(label) for label in tagger.classes_.tolist()]
    if hasattr(model, "tagged_"):
        about["parameters"] = {"scheme": repr(model.scheme), **parameters}
        about["tags"] = "words with tags" if model.tagged_ else "words without tags"
    if hasattr(model, "alignment_"):
        about["parameters"] = {
            **{name: repr(getattr(model, name)) for name in ("tokenizer", "scheme", "align", "overlap")},
            **parameters,
        }
        about["pieces"] = model.pieces_
        about["trained_on"] = ", ".join(f"{n:,} {name}" for name, n in model.alignment_.items() if n)
    if hasattr(inside, "lines"):
        about.update(_features(tagger, inside.lines))
    _, about["n_features"], *weights = inside.sizes()
    about["n_weights"] = sum(filter(None, weights))
    return about


def _features(tagger, lines):
    """What a token is, and the templates of features."""
    if lines is None:
        return {"features": ["(ready-made, from dicts or lists of str)"]}
    inputs = tagger.inputs
    token = "str" if inputs.token is str else f"tuple of {inputs.width} or more str"
    if inputs.token not in (str, tuple):
        token = "strings with numbers"
    named = preset_of(lines) if inputs.task != TREES else None
    preset = {} if named is None else {"preset": named}
    parsed = f"({', '.join(['form', 'tag', *(f'c{c}' for c in range(2, inputs.width))])})"
    return {"token": parsed if inputs.task == TREES else token, **preset, "features": list(lines)}


def _print_transitions(tagger, top):
    """Print the label bigrams with the largest weights, of either sign."""
    weights, labels = transition_weights(tagger), tagger.classes_.tolist()
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[: 2 * top]
    rows = [divmod(int(k), len(labels)) for k in order]
    rows = [(p, q) for p, q in rows if weights[p, q] != 0.0]
    if rows:
        print("\ntransitions")
    for p, q in rows:
        print(f"  {weights[p, q]:+10.3f}  {labels[p]} -> {labels[q]}")


def _explain(model, arguments):
    inputs = inputs_of(model)
    if not arguments.explain.split():
        arguments.usage_error("--explain needs a sentence")
    if arguments.label is not None:
        arguments.usage_error("--label lists weights; --explain tells of the labels that the model gives")
    try:
        explanation = explain(model, as_sequence(inputs, arguments.explain))
    except TypeError as error:  # it is of a kind that cannot be explained
        raise CommandError(f"{arguments.model}: --{error}") from None
    if arguments.json:
        print(json.dumps(explanation.to_dict(), ensure_ascii=False, default=str))
    else:
        print(explanation.describe(arguments.top))
