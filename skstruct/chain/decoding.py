"""Decoding of a chain of either order: with empty ``trigrams`` :mod:`.viterbi`, else :mod:`.viterbi_second`.

Letters: as in :mod:`.viterbi`.
"""

from ..core.compile import inline
from . import viterbi, viterbi_second


@inline
def decode(work, stride, trigrams, start, end, forced, path, T, L):
    """Write the best labelling to ``path``; returns its score. See :func:`.viterbi.viterbi`."""
    if len(trigrams) > 0:
        return viterbi_second.viterbi(
            work.emission, work.transition, stride, trigrams, start, end, forced, work.score[0], path, T, L
        )
    return viterbi.viterbi(
        work.emission, work.transition, stride, start, end, forced, work.score[0], path, T, L
    )


@inline
def decode_wrong(work, stride, trigrams, start, end, gold, T, L):
    """Write the best wrong labelling to ``work.labels[1]``; returns its score."""
    agree, deviated, path = work.score[0], work.score[1], work.labels[1]
    if len(trigrams) > 0:
        return viterbi_second.viterbi_wrong(
            work.emission, work.transition, stride, trigrams, start, end, gold, agree, deviated, path, T, L
        )
    return viterbi.viterbi_wrong(
        work.emission, work.transition, stride, start, end, gold, agree, deviated, path, T, L
    )


@inline
def score_path(work, stride, trigrams, start, end, path, T, L):
    """The score of a given labelling."""
    score = viterbi.path_score(work.emission, work.transition, stride, start, end, path, T, L)
    if len(trigrams) > 0:
        score += viterbi_second.trigram_score(trigrams, path, T, L)
    return score
