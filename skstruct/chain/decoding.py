"""Decoding of a chain of either order: with empty ``trigrams`` :mod:`.viterbi`, else :mod:`.viterbi_second`.

Letters: as in :mod:`.viterbi`.
"""

from ..core.compile import inline
from . import viterbi, viterbi_second


@inline
def decode(emission, transition, stride, trigrams, start, end, forced, score, path, T, L):
    """Write the best labelling to ``path``; returns its score. See :func:`.viterbi.viterbi`."""
    if len(trigrams) > 0:
        return viterbi_second.viterbi(
            emission, transition, stride, trigrams, start, end, forced, score, path, T, L
        )
    return viterbi.viterbi(emission, transition, stride, start, end, forced, score, path, T, L)


@inline
def decode_wrong(emission, transition, stride, trigrams, start, end, gold, score, path, T, L):
    """Write the best wrong labelling to ``path``; returns its score. ``score``: (2, T * C)."""
    if len(trigrams) > 0:
        return viterbi_second.viterbi_wrong(
            emission, transition, stride, trigrams, start, end, gold, score[0], score[1], path, T, L
        )
    return viterbi.viterbi_wrong(
        emission, transition, stride, start, end, gold, score[0], score[1], path, T, L
    )


@inline
def score_path(emission, transition, stride, trigrams, start, end, path, T, L):
    """The score of a given labelling."""
    score = viterbi.path_score(emission, transition, stride, start, end, path, T, L)
    if len(trigrams) > 0:
        score += viterbi_second.trigram_score(trigrams, path, T, L)
    return score
