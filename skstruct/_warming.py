"""Compiling kernels ahead of their first use: small models of every kind are trained
and asked.

What numba compiles depends on the types of arrays only, so that a corpus of a few words
does what a large one would do. Which folder keeps the result, ``_core.compile`` says.
"""

from __future__ import annotations

import pathlib
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from ._core.codes import PENALTIES
from ._core.compile import cache_counts
from ._core.kernel_folders import cache_folder
from ._crf.l1crf import L1CRF
from ._parser.shift_reduce import ShiftReduceParser
from ._saving.registry import load
from ._shards.mixing.averager import BaggingShuffleAverager
from ._shards.mixing.mixer import ParameterMixer
from ._taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from ._taggers.segmenter import Segmenter
from ._taggers.span_tagger import SpanTagger
from ._words.kbest_reranker import KBestReranker
from ._words.word_segmenter import WordSegmenter
from .features.templates import FeatureTemplates

_WORDS = [
    ["the", "dog", "barks"],
    ["a", "cat", "sleeps", "here"],
    ["the", "cat", "barks"],
    ["dog"],
]
_TAGS = [["D", "N", "V"], ["D", "N", "V", "R"], ["D", "N", "V"], ["N"]]
# where white space is, a word ends
_TEXTS = ["thedog barks", "acatsleepshere", "thecatbarks", "dog"]
_LINES = ["The dog barks.", "Ann sleeps."]
_SPANS = [[(4, 7, "PET")], [(0, 3, "PERSON")]]
_TREES = [
    [(2, "det"), (3, "subj"), (0, "root")],
    [(2, "det"), (3, "subj"), (0, "root"), (3, "adv")],
    [(2, "det"), (3, "subj"), (0, "root")],
    [(0, "root")],
]


def _many_labels() -> tuple[list[list[str]], list[list[str]]]:
    """Return a corpus with so many labels that weights are stored sparsely."""
    X = [[f"w{k}" for k in range(20)], ["w1", "w0"]]
    return X, [[f"L{k:02}" for k in range(20)], ["L01", "L00"]]


def _use(estimator: Any, X: Any, y: Any, folder: str, *more: str) -> None:
    """Train, save and load a model, predict, and call the methods named ``more``.

    A single sequence, as a service is asked for, has kernels of its own.
    """
    estimator.fit(X, y)
    path = pathlib.Path(folder, "model")
    estimator.save(path)
    for model, n in product((estimator, load(path)), (len(X), 1)):
        model.predict(X[:n])
        for name in more:
            takes_y = name in ("partial_fit", "sequence_log_proba")
            getattr(model, name)(X[:n], *([y[:n]] if takes_y else []))


def _rows(kind: Callable[[np.ndarray], Any]) -> list[Any]:
    columns = np.eye(8)[[len(w) + ord(w[0]) % 3 - 1 for x in _WORDS for w in x]]
    ends = np.cumsum([len(x) for x in _WORDS])[:-1]
    return [kind(part) for part in np.split(columns, ends)]


def _jobs() -> dict[str, list[tuple[Any, ...]]]:
    """List what is compiled, by name: (estimator, data, names of further methods)."""
    online: dict[str, Any] = {"max_iter": 2, "random_state": 0}
    lists = "predict_kbest", "decision_function"
    sums = "predict_marginals", "predict_posterior", "sequence_log_proba"
    words = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "U2:%suffix2[0,0]", "B"]
    pairs = [[(w, w[0]) for w in x] for x in _WORDS]
    tagged = [list(zip(x, t)) for x, t in zip(_WORDS, _TAGS)]
    listed = FeatureTemplates(
        [*words, "U3:%lex_pet[0,0]"], lexicons={"pet": ["dog", "cat"]}
    )
    dicts = [[{"w": w, "n": len(w)} for w in x] for x in _WORDS]
    plain = _WORDS, _TAGS
    penalties: list[Any] = sorted(filter(None, PENALTIES))
    return {
        "perceptron": [
            (StructuredPerceptron(words, **online), *plain, "predict_kbest")
        ],
        "perceptron, k best and further training": [
            (StructuredPerceptron(words, **online), *plain, *lists, "partial_fit")
        ],
        "passive-aggressive": [(PassiveAggressiveTagger(words, **online), *plain)],
        "conditional random field": [
            (L1CRF(words, random_state=0), *plain, *sums, "predict_kbest"),
            (L1CRF(random_state=0), _WORDS * 8, _TAGS * 8),  # long lists of weights
        ],
        "columns and ready-made features": [
            (StructuredPerceptron("auto", **online), pairs, _TAGS),
            (StructuredPerceptron("auto", **online), dicts, _TAGS, "predict_kbest"),
            (L1CRF("auto", random_state=0), dicts, _TAGS, "predict_kbest"),
            (StructuredPerceptron(listed, **online), *plain),
        ],
        "rows of numbers": [
            (learner, _rows(kind), _TAGS, "predict_kbest", *methods)
            for kind in (np.asarray, sparse.csr_array)
            for learner, *methods in (
                (StructuredPerceptron("auto", **online),),
                (L1CRF("auto", random_state=0), "predict_marginals"),
            )
        ],
        "penalties and noise": [
            (StructuredPerceptron(words, penalty=penalty, alpha=1e-6, **online), *plain)
            for penalty in penalties
        ]
        + [
            (
                StructuredPerceptron(
                    words, dropout=0.1, feature_noise="zipf", **online
                ),
                *plain,
            )
        ],
        "second order": [
            (StructuredPerceptron(words, order=2, **online), *plain, *lists)
        ],
        "many labels": [
            (StructuredPerceptron(words, **online), *_many_labels(), "predict_kbest"),
            (L1CRF(words, random_state=0), *_many_labels(), *sums, "predict_kbest"),
        ],
        "segmenter of characters": [
            (Segmenter(StructuredPerceptron("char", **online)), _TEXTS, _WORDS),
            (Segmenter(StructuredPerceptron("char", **online)), _TEXTS, tagged),
            (
                Segmenter(L1CRF("char", random_state=0)),
                _TEXTS,
                _WORDS,
                "predict_segment_proba",
            ),
        ],
        "spans of text": [
            (SpanTagger(learner), _LINES, _SPANS, "predict_kbest", *methods)
            for learner, *methods in (
                (StructuredPerceptron(**online),),
                (L1CRF(random_state=0), "predict_segment_proba"),
            )
        ],
        "averages and shards": [
            (
                BaggingShuffleAverager(
                    StructuredPerceptron(words, **online), 2, random_state=0
                ),
                *plain,
            ),
            (
                ParameterMixer(
                    StructuredPerceptron(words, **online), 2, random_state=0
                ),
                *plain,
            ),
        ],
        "segmenter of words": [
            (WordSegmenter(beam_size=2, **online), _TEXTS, _WORDS, "predict_kbest")
        ],
        "parser": [
            (
                ShiftReduceParser(beam_size=2, **online),
                tagged,
                _TREES,
                "predict_kbest",
            )
        ],
        "re-ranker": [
            (
                KBestReranker(
                    StructuredPerceptron(words, **online), k=2, cv=2, **online
                ),
                *plain,
            )
        ],
    }


def warm_up(
    *, all: bool = False, progress: Callable[[str], object] | None = None
) -> str | None:
    """Compile what is compiled at first use, so that nobody has to wait for it later.

    Parameters
    ----------
    all : bool, default=False
        Every kind of model, which takes minutes; else the perceptron over templates
        only.
    progress : callable, optional
        Called with a line of text when something is done; by default nothing is said.

    Returns
    -------
    str or None
        The folder that keeps compiled kernels, for this process and later ones. None
        where no folder can be written to, so that each process compiles again.

    Notes
    -----
    What is in the cache is not compiled again. Methods and parameters that are rarely
    used may still compile something at their first use.
    """
    jobs = _jobs()
    for number, name in enumerate(list(jobs) if all else ["perceptron"], start=1):
        began = time.perf_counter()
        before = cache_counts()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for job in jobs[name]:
                _use(*job[:3], folder, *job[3:])
        if progress is not None:
            loaded, compiled = (now - then for now, then in zip(cache_counts(), before))
            of = len(jobs) if all else 1
            seconds = time.perf_counter() - began
            progress(
                f"[{number}/{of}] {name}: {compiled} compiled, {loaded} from the "
                f"cache, {seconds:.1f} s"
            )
    return cache_folder()
