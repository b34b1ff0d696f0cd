"""The linear chain: scores, Viterbi, sums, k best, segments, epochs.

Its users are in ``taggers``.
"""
