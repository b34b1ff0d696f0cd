"""Random texts cut into words, random dependency trees, and what their predictions have
to be.
"""

from . import drawing
from .corpora import form
from .outcomes import attempt

ALPHABET = "abcdefgh北京天气大学𠀀é1.，"


def texts(draw, budget, tags=False):
    """(X, y, lexicon): words of an alphabet, and the texts that they make, with some
    white space.
    """
    alphabet = ALPHABET[: draw.one(2, 5, 14)]
    n_words = draw.one(1, 4, 40)
    sizes = [draw.one(1, 1, 2, 2, 3, 5, 12) for _ in range(n_words)]
    lexicon = ["".join(draw.one(*alphabet) for _ in range(n)) for n in sizes]
    X, y = [], []
    for n in drawing.lengths(draw, 30 if draw.tiny else budget, least=4):
        words, size = [], 0
        while size < n:
            words.append(draw.one(*lexicon))
            size += len(words[-1])
        blanks = [
            draw.one("", "", " ", "  ") if draw.chance(0.1) else "" for _ in words
        ]
        X.append("".join(blank + word for blank, word in zip(blanks, words)))
        y.append([(word, f"T{len(word) % 3}") for word in words] if tags else words)
    draw.note(texts=len(X), tags=tags)
    return X, y, lexicon


def check_words(X, found):
    """Words spell their texts."""
    for text, words in zip(X, found):
        spelled = "".join(word if isinstance(word, str) else word[0] for word in words)
        assert spelled == "".join(text.split()), (
            f"words {words} are not the text {text!r}"
        )


def check_dictionary(model, X, lexicon):
    """Words of a dictionary, or none that is long enough."""
    dictionary = [word for word in lexicon if len(word) > 1][:5]
    if dictionary:
        check_words(X, model.predict(X, dictionary=dictionary))


def check_boundaries(draw, model, X):
    """Known boundaries between words are kept; those that white space contradicts are
    refused.
    """
    known = []
    for text in X:
        cut = [t == 0 or " " in text[t - 1 : t + 1] for t in range(len(text))]
        known.append([None if c else draw.one(None, None, True, False) for c in cut])
    known = [None if draw.chance(0.3) else flags for flags in known]
    found = attempt("boundaries", lambda: model.predict(X, boundaries=known))
    if found is None:
        return
    check_words(X, found)
    for text, flags, words in zip(X, known, found):
        if flags is None or text.split() != [text]:
            continue
        starts, t = set(), 0
        for word in words:
            starts.add(t)
            t += len(word)
        wrong = [
            t
            for t, flag in enumerate(flags)
            if flag is not None and flag != (t in starts)
        ]
        assert not wrong, f"boundaries {wrong} of {text!r} are not kept: {words}"


SHAPES = ("random", "random", "chain", "right")


def trees(draw, budget, columns, shape="random"):
    """(X, y): sentences of so many columns; trees that need not be projective, or
    chains.
    """
    X, y = [], []
    for n in drawing.lengths(draw, 15 if draw.tiny else budget, least=4):
        numbers = [draw.int(0, 30) for _ in range(n)]
        features = [f"A={k % 2}|B={k % 3}" if k % 4 else "_" for k in numbers]
        words = [
            (form(k), "NVAD"[k % 4], f"c{k % 3}", f) for k, f in zip(numbers, features)
        ]
        X.append([word[:columns] for word in words])
        heads = _heads(draw, n, shape)
        y.append(
            [
                (head, f"r{(head - t) % 4}" if head else "root")
                for t, head in enumerate(heads)
            ]
        )
    return X, y


def _heads(draw, n, shape):
    if shape == "chain":
        return list(range(n))
    if shape == "right":
        return [*range(2, n + 1), 0][:n]
    heads = [0] * n  # each word hangs on one that was there before, in a random order
    order = draw.rng.permutation(n).tolist()
    for j, t in enumerate(order[1:], start=1):
        heads[t] = order[draw.int(max(0, j - 5), j - 1)] + 1
    return heads


def check_trees(found, X):
    """Every word has a head, and its heads lead to the root."""
    for words, tree in zip(X, found):
        heads = [item[0] if isinstance(item, tuple) else item for item in tree]
        assert len(heads) == len(words) and all(0 <= h <= len(heads) for h in heads), (
            f"heads {heads}"
        )
        for head in heads:
            steps = 0
            while head and steps <= len(heads):
                head, steps = heads[head - 1], steps + 1
            assert head == 0, f"a circle: {heads}"
