"""One case: a scenario, a seed, and what became of them."""

import contextlib
import importlib

from .drawing import Draw
from .outcomes import on_purpose

SCENARIOS = {}
"""Name -> function of a `Draw`."""


def scenario(function):
    """Enter a function among the scenarios."""
    SCENARIOS[function.__name__] = function
    return function


SMALL = {
    "_data.text": {"AT_ONCE": 30},
    "_core.final_weights": {"PIECE_ROWS": 3},
    "_core.feature_table": {"FIRST_CAPACITY": 16},
    "_core.store": {"DENSE_WEIGHTS": 10, "FEW_LABELS": 1},
    "_crf.crf_run": {"FEW_LABELS": 1, "DENSE_WEIGHTS": 10},
    "_crf.solver.choose_pairs": {"MANY_FEATURES": 3},
    "_crf.solver.corpus_sums": {"PLACES": 64},
    "_crf.solver.token_parts": {"SAMPLE": 30},
    "_crf.solver.products": {"BLOCK": 16},
    "_crf.solver.working_set": {"SMALLEST": 2},
    "features.rows_encoder": {"SOME_ROWS": 7},
    "_parser.parser_epoch": {"FEW_LABELS": 1},
    "_parser.parser_beam": {"REMEMBERED": 4},
    "_words.word_lattice": {"BLOCK": 2},
    "_training.epochs": {"CHUNK_TOKENS": 20},
}
"""Constants that Python reads and kernels do not: small ones bring out what else only
large corpora do.
"""


@contextlib.contextmanager
def small_constants(draw):
    """Let some of the constants be small, in half of the cases."""
    before, names = [], []
    often = 0.5 if draw.chance(0.5) else 0.0
    try:
        for path, values in SMALL.items():
            module = importlib.import_module(f"skstruct.{path}")
            for name, value in values.items():
                if draw.chance(often):
                    before.append((module, name, getattr(module, name)))
                    setattr(module, name, value)
                    names.append(f"{path}.{name}")
        draw.note(small=names)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def run_case(name, seed, tiny=False):
    """``(outcome, error, notes)`` of a case; the outcome is ``"ok"``, ``"refused"`` or
    ``"fault"``.
    """
    draw = Draw([seed, *name.encode()], tiny)
    try:
        with small_constants(draw):
            SCENARIOS[name](draw)
    except Exception as error:
        return "refused" if on_purpose(error) else "fault", error, draw.notes
    return "ok", None, draw.notes
