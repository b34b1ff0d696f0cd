"""What holds of models that are saved, compressed, exported or explained."""

import os
import pickle
import tempfile

import numpy as np

import skstruct
from skstruct import inspection, interchange

from .outcomes import attempt, close, equal, finite, on_purpose, same


def reloaded(model, **how):
    """A model after ``save`` and ``load``."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "model"), **how)
        return skstruct.load(os.path.join(folder, "model"))


def check_files(draw, model, X, found, scores):
    """A model that was saved or pickled predicts the same, to the bit."""
    again = reloaded(model, training=draw.chance(0.7))
    same(again.predict(X), found, "predict after load")
    if scores is not None:
        equal(again.decision_function(X), scores, "decision_function after load")
    same(pickle.loads(pickle.dumps(model)).predict(X), found, "predict after pickle")


def steps_of(parser, sentence):
    """The features of each step by which a parser built its tree."""
    kinds = ("shift_features", "features", "label_features")
    return [
        {name for name, weight in getattr(arc, kind) if weight}
        for arc in inspection.explain(parser, sentence).arcs
        for kind in kinds
    ]


def compared(small, model, X, mine, scores):
    """Which scores of a compressed model and of its original have to agree.

    Where rounding breaks a tie within a beam, the search goes another way: to another
    output, or by other steps to the same tree, whose score is that of its steps.
    """
    outputs = zip(small.predict(X), model.predict(X))
    kept = np.array([one == other for one, other in outputs])
    parser = isinstance(model, skstruct.ShiftReduceParser)
    for i in np.flatnonzero(kept & ~np.isclose(mine, scores, 1e-3, 1e-4)):
        kept[i] = not parser or steps_of(small, X[i]) == steps_of(model, X[i])
    return kept


def check_compressed(draw, model, X, scores):
    """A compressed model has nearly the same scores, and can be saved."""
    small = model.compress(dtype=draw.one("float64", "float32"))
    if scores is not None and finite(scores):
        mine = small.decision_function(X)
        kept = compared(small, model, X, mine, scores)
        what = "decision_function after compress"
        close(mine[kept], scores[kept], what, rtol=1e-3, atol=1e-4)
    same(
        reloaded(small).predict(X),
        small.predict(X),
        "predict of a compressed model after load",
    )
    model.compress(
        keep=draw.one(0.1, 0.5), dtype=draw.one("float32", "float16")
    ).predict(X)
    assert small.info()["features"] <= model.info()["features"], (
        "compress adds features"
    )


def check_explained(model, X, found, scores):
    """The contributions of an explanation sum up to the score."""
    i = next((i for i, s in enumerate(found) if 0 < len(s) <= 12), None)
    if i is None:
        return
    explanation = inspection.explain(model, X[i])
    assert str(explanation) and explanation.to_dict() and explanation._repr_html_()
    if scores is not None and finite(scores):
        if hasattr(explanation, "tokens"):  # else a tree
            close(explanation.score, scores[i], "score of explain", atol=1e-6)
            close(
                sum(token.score for token in explanation.tokens),
                scores[i],
                "sum of explain",
                atol=1e-6,
            )


TOOLS = {
    "crfsuite": (interchange.save_crfsuite, interchange.load_crfsuite),
    "crfpp": (interchange.save_crfpp, interchange.load_crfpp),
    "wapiti": (interchange.save_wapiti, interchange.load_wapiti),
}


def exported(model, tool):
    """A model after an export and an import; None if the tool has no place for it."""
    write, read = TOOLS[tool]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        try:
            write(model, path)
        except ValueError as error:
            if not on_purpose(error):
                raise
            return None
        return read(path)


def check_exported(model, X, scores):
    """What another tool's file holds is read as the same model."""
    for tool in TOOLS:
        again = exported(model, tool)
        if again is None or again.inputs.token is not model.inputs.token:
            continue  # for CRFsuite a token is the list of the features that templates make
        # CRF++ holds weights of four bytes.
        close(
            again.decision_function(X),
            scores,
            f"scores after {tool}",
            rtol=1e-3,
            atol=1e-3,
        )


def check_kept(draw, model, X, found, scores):
    """All of the above that a model has."""
    attempt("files", check_files, draw, model, X, found, scores)
    if scores is None or finite(scores):
        attempt("compress", check_compressed, draw, model, X, scores)
        attempt("explain", check_explained, model, X, found, scores)
    if hasattr(model, "classes_") and finite(scores):
        attempt("interchange", check_exported, model, X, scores)
