"""Features of word segmentations, written down from the papers, and all segmentations
of a text.

Nothing here imports ``skstruct``. A feature is a tuple (number, decision before, left,
right, column): numbers as in the docstring of ``words/word_features.py``, words as str,
characters as code points plus 1.
"""

import itertools
from collections import Counter

START, INSIDE = 0, 1


def segmentations(text):
    for cuts in itertools.product([False, True], repeat=len(text) - 1):
        words = [text[0]]
        for cut, character in zip(cuts, text[1:]):
            if cut:
                words.append(character)
            else:
                words[-1] += character
        yield words


def decisions_of(words):
    return [d for word in words for d in [START] + [INSIDE] * (len(word) - 1)]


def zsz18(words, m=None, hidden=()):
    """Features (number, decision before, left, right, decision) of the decisions 1 ...
    m - 1.
    """
    text = "".join(words)
    n = len(text)
    b = [*decisions_of(words), START]
    m = n + 1 if m is None else m

    def c(k):
        return ord(text[k]) + 1 if 0 <= k < n else 0

    found = Counter()
    for i in range(1, m):
        begin = max(k for k in range(i) if b[k] == START)
        w = text[begin:i]
        before = ""
        if begin:
            before = text[max(k for k in range(begin) if b[k] == START) : begin]
        b2 = b[i - 2] if i > 1 else 2
        for number, left, right, reads in [
            (1, c(i - 1), 0, [i - 1]),
            (2, c(i), 0, [i]),
            (3, c(i - 2), 0, [i - 2]),
            (4, c(i - 1), c(i), [i - 1, i]),
            (5, c(i - 2), c(i - 1), [i - 2, i - 1]),
            (6, c(i), c(i + 1), [i, i + 1]),
            (7, c(i - 3), c(i - 2), [i - 3, i - 2]),
        ]:
            if not set(reads) & set(hidden):
                found[number, b[i - 1], left, right, b[i]] += 1
        last_before = ord(before[-1]) + 1 if before else 0
        for number, left, right, reads in [
            (8, c(i - 1), c(i), [i]),
            (15, b[i - 1], b2, []),
            (9, len(w), 0, []),
            (10, ord(w[0]) + 1, len(w), []),
            (11, ord(w[-1]) + 1, len(w), []),
            (12, ord(w[0]) + 1, ord(w[-1]) + 1, []),
            (13, last_before, ord(w[-1]) + 1, []),
            (14, ord(w[0]) + 1, c(i), [i]),
            (16, w, len(before), []),
            (17, before, len(w), []),
            (0, w[:-1], ord(w[-1]) + 1, []),
        ]:
            if not set(reads) & set(hidden):
                found[number, 0, left, right, b[i]] += 1
    return found


def zc14(words, m=None, hidden=()):
    """Features of the words, the last of which may be the part of one that the prefix
    has.
    """
    if m is not None and m <= sum(map(len, words)):
        text = "".join(words)[:m]
        stops = [s for s in itertools.accumulate(map(len, words)) if s < m] + [m]
        words = [text[a:b] for a, b in zip([0, *stops], stops)]
    found = Counter()
    begin = 0
    for before, w in zip(["", *words], words):

        def code(character):
            return ord(character) + 1

        first, last, size = code(w[0]), code(w[-1]), min(len(w), 15)
        keys = [(0, w[:-1], last), (2, before, w)]
        if len(w) == 1:
            keys.append((3, first, 0))
        else:
            keys += [(4, first, size), (5, last, size), (8, first, last)]
            for k in range(1, len(w)):
                if not {begin + k - 1, begin + k} & set(hidden):
                    keys.append((7, code(w[k - 1]), code(w[k])))
        if before:
            if not {begin - 1, begin} & set(hidden):
                keys.append((6, code(before[-1]), first))
            keys += [
                (9, before, first), (10, code(before[-1]), w), (11, code(before[0]), first),
                (12, code(before[-1]), last), (13, before, size), (14, min(len(before), 15), w),
            ]  # fmt: skip
        for number, left, right in keys:
            found[number, 0, left, right, 0] += 1
        begin += len(w)
    return found


def segmented_text(text, decisions):
    """The words that decisions, one for each character, cut a text into."""
    starts = [k for k in range(len(text)) if decisions[k] == START] + [len(text)]
    return [text[a:b] for a, b in zip(starts, starts[1:])]
