"""The files that decide which machine code a kernel becomes: those of kernels, and the
code generator.
"""

import functools
import hashlib
import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SOURCES = """
chain/bigram.py chain/chain_epoch.py chain/chain_kbest.py chain/dense.py chain/lattice.py
chain/marginals_second.py chain/second_order.py chain/segments.py chain/sums.py
chain/token_scores.py chain/viterbi.py
cluster/weights.py
core/codes.py core/compile.py core/feature_table.py core/hashing.py
core/linking.py core/noise.py core/penalties.py core/prefetch.py core/rules.py core/store.py
crf/solver/bound.py crf/solver/choose_pairs.py crf/solver/corpus_sums.py
crf/solver/expectations.py
crf/solver/quasi_newton.py crf/solver/sequence_sums.py crf/solver/sgd.py
crf/solver/token_features.py crf/solver/token_parts.py crf/solver/view.py
features/contexts.py features/encoded.py
parser/arc_labels.py parser/dependency_trees.py parser/parser_beam.py parser/parser_epoch.py
parser/parser_kbest.py parser/state_features.py parser/states.py
reranker/reranker_epoch.py
words/word_beam.py words/word_epoch.py words/word_features.py words/word_kbest.py
""".split()
"""Paths in the package. A file belongs here if it defines a kernel, a helper of
kernels, or a constant or a ``NamedTuple`` that kernels use; a test holds that none is
missing.
"""


@functools.cache
def _read_hash(path, time, size):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def hash_file(path):
    """Return the SHA-256 of a file; it is read again only after a change."""
    status = os.stat(path)
    return _read_hash(path, status.st_mtime_ns, status.st_size)


def hash_sources():
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


def are_edited():
    """Whether the sources are other ones now."""
    try:
        return hash_sources() != HASH
    except OSError:
        return True
