"""Functions of more than a token: lexicons, and accessor variety (how freely a string is used in a text)."""

from itertools import accumulate

from .reading import PARTS
from .templates import find


def context_functions(header, arrays):
    """{(name, column): function}; a function gives the values along a column of a sequence."""
    out = {}
    for lexicon in header["lexicons"]:
        out[lexicon["name"], lexicon["column"]] = lexicon_function(lexicon["entries"])
    for variety in header["varieties"]:
        strings = strings_of(variety, arrays)
        for n in range(1, variety["longest"] + 1):
            out[f"av{n}", variety["column"]] = variety_function(strings, n)
    return out


PARTS["contexts"] = context_functions


def lexicon_function(entries):
    """Marks of the longest entries, from left to right: B, I, E, or S alone, O elsewhere."""
    root = {}
    for entry in entries:
        node = root
        for token in entry:
            node = node.setdefault(token, {})
        if entry:
            node[None] = True  # an entry ends here

    def marks(column):
        out, t = ["O"] * len(column), 0
        while t < len(column):
            node, k, longest = root, t, 0
            while k < len(column) and column[k] in node:
                node, k = node[column[k]], k + 1
                if None in node:
                    longest = k - t
            if longest == 1:
                out[t] = "S"
            elif longest:
                out[t : t + longest] = ["B"] + ["I"] * (longest - 2) + ["E"]
            t += longest or 1
        return out

    return marks


def strings_of(variety, arrays):
    """Strings of one to four tokens: (numbers of tokens, what finds a longer string, buckets)."""
    numbers = {s: k for k, s in enumerate(variety["tokens"], 1)}
    longer, buckets = [], []
    for n in range(1, variety["longest"] + 1):
        name = f"varieties.{variety['column']}.{n}"
        buckets.append(arrays[name + ".bucket"])
        if n > 1:
            longer.append((list(accumulate(arrays[name + ".left"], initial=0)), arrays[name + ".right"]))
    return numbers, longer, buckets


def variety_function(strings, n):
    """For each token the place in, and the bucket of, the most varied string of n tokens around it."""
    numbers, longer, buckets = strings

    def values(column):
        T = len(column)
        ids = [numbers.get(token, 0) for token in column]
        nodes = ids
        for length in range(2, n + 1):
            start, last = longer[length - 2]
            nodes = [
                find(start, last, node, ids[t + length - 1]) if node and ids[t + length - 1] else 0
                for t, node in enumerate(nodes[: max(0, T - length + 1)])
            ]
        begins = [buckets[n - 1][node - 1] if node else 0 for node in nodes] + [0] * (T - len(nodes))
        out = []
        for t in range(T):
            inside = max(begins[max(0, t - n + 2) : t], default=0)
            last = begins[t - n + 1] if t >= n - 1 else 0
            best = max(begins[t], inside, last)
            # Of equal ones the token rather begins a string than ends it, and rather that than stands inside.
            place = "B" if begins[t] == best else "E" if last == best else "I"
            out.append(f"{place}{best}" if best else "0")
        return out

    return values
