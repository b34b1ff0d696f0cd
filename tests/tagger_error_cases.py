"""Corpora that the tests of errors of taggers share."""

NAN, INF = float("nan"), float("inf")
STR = ([["a", "b"], ["b", "a", "a"]], [["A", "B"], ["B", "A", "A"]])
TUPLE = ([[(w, w.upper()) for w in s] for s in STR[0]], STR[1])
DICT = ([[{"w": w} for w in s] for s in STR[0]], STR[1])
LIST = ([[[w] for w in s] for s in STR[0]], STR[1])
Y = STR[1]
LINES = ["U00:%x[0,0]", "B"]


def put(corpus, token, i=1, t=1):
    """The sequences of a corpus with another token at sequence i, position t."""
    X = [list(s) for s in corpus[0]]
    X[i][t] = token
    return X


def state_of(tagger):
    return {name: id(value) for name, value in vars(tagger).items()}
