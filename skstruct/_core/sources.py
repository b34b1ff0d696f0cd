"""The files that decide which machine code a kernel becomes: those of kernels, and the
code generator.
"""

from __future__ import annotations

import functools
import hashlib
import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SOURCES = """
_chain/bigram.py _chain/chain_epoch.py _chain/chain_kbest.py _chain/dense.py
_chain/forward_backward.py
_chain/marginals_second.py _chain/second_order.py _chain/segments.py _chain/sums.py
_chain/token_scores.py _chain/viterbi.py
_shards/weights.py
_core/codes.py _core/compile.py _core/feature_table.py _core/hashing.py
_core/linking.py _core/noise.py _core/passes.py _core/penalties.py _core/prefetch.py
_core/rules.py _core/store.py
_crf/solver/bound.py _crf/solver/choose_pairs.py _crf/solver/corpus_sums.py
_crf/solver/emissions.py _crf/solver/expectations.py
_crf/solver/quasi_newton.py _crf/solver/sequence_sums.py _crf/solver/sgd.py
_crf/solver/token_features.py _crf/solver/token_parts.py _crf/solver/view.py
features/contexts.py features/encoded.py
_parser/arc_labels.py _parser/dependency_trees.py _parser/parser_beam.py
_parser/parser_epoch.py
_parser/parser_kbest.py _parser/state_features.py _parser/states.py
_words/reranker_epoch.py
_words/word_beam.py _words/word_epoch.py _words/word_features.py _words/word_kbest.py
""".split()
"""Paths in the package. A file belongs here if it defines a kernel, a helper of
kernels, or a constant or a ``NamedTuple`` that kernels use; a test holds that none is
missing.
"""


@functools.cache
def _read_hash(path: str, time: int, size: int) -> bytes:  # noqa: ARG001 - the key
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def hash_file(path: str) -> bytes:
    """Return the SHA-256 of a file; it is read again only after a change."""
    status = os.stat(path)
    return _read_hash(path, status.st_mtime_ns, status.st_size)


def hash_sources() -> str | None:
    """Return a hash of all sources, or None where the package is no folder (but an
    archive).
    """
    if not os.path.isdir(PACKAGE):
        return None
    digest = hashlib.sha256()
    for path in SOURCES:
        digest.update(path.encode() + b"\0" + hash_file(os.path.join(PACKAGE, path)))
    return digest.hexdigest()[:16]


HASH = hash_sources()
"""The hash of the sources when this process started."""


def are_edited() -> bool:
    """Tell whether the sources are other ones now."""
    try:
        return hash_sources() != HASH
    except OSError:
        return True
