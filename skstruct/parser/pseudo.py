"""Pseudo-projective parsing (Nivre and Nilsson 2005): labels say which arcs were lifted, and from where.

A tree that is not projective is lifted (:mod:`.trees`), and the label of a dependent that was moved says what
label its head has: ``nmod↑obj`` is an ``nmod`` whose head is some ``obj`` below the word it hangs on now. The
paper calls this scheme *Head*. After parsing such a dependent goes to the first word of that label, searched
from the head downwards, level by level and from left to right; if there is none it stays.

References
----------
J. Nivre and J. Nilsson (2005). Pseudo-projective dependency parsing. ACL.
"""

from ..data.inputs import PlaceError, describe

MARK = "↑"


def check_unmarked(labels):
    """Raise if labels are no str, or hold the mark."""
    for i, sentence in enumerate(labels):
        for t, label in enumerate(sentence):
            if label is not None and (not isinstance(label, str) or MARK in label):
                raise PlaceError(
                    i, t, f"projectivize='pseudo' needs labels of type str without {MARK!r}, got "
                    f"{describe(label)}", "y",
                )  # fmt: skip


def marked(labels, heads, lifted):
    """The labels of a tree whose heads were lifted.

    Parameters
    ----------
    labels : list of str or None
    heads, lifted : lists of int
        Before and after; 1-based, 0 at the root.

    Examples
    --------
    >>> marked(["root", "obj", "nmod"], [0, 1, 2], [0, 1, 1])
    ['root', 'obj', 'nmod↑obj']
    """
    out = list(labels)
    for d, (label, head, new) in enumerate(zip(labels, heads, lifted)):
        if head != new and label is not None and labels[head - 1] is not None:
            out[d] = f"{label}{MARK}{labels[head - 1]}"
    return out


def marked_trees(labels, heads, lifted, token):
    """The labels of sentences, as lists; ``heads`` and ``lifted`` are flat.

    Raises
    ------
    ValueError
        If a label is no str, or holds the mark; the message names sentence and position.
    """
    check_unmarked(labels)
    bounds = list(zip(token[:-1].tolist(), token[1:].tolist()))
    return [marked(mine, heads[a:b].tolist(), lifted[a:b].tolist()) for mine, (a, b) in zip(labels, bounds)]


def plain(label):
    """A label without what it says of the head."""
    return label.partition(MARK)[0]


def restored(tree):
    """The tree with dependents where their labels say.

    Parameters
    ----------
    tree : list of (head, label)

    Returns
    -------
    list of (head, label)
        Labels are plain. It is a tree again: no word goes below itself.

    Examples
    --------
    >>> restored([(0, "root"), (1, "obj"), (1, "nmod↑obj")])
    [(0, 'root'), (1, 'obj'), (2, 'nmod')]
    """
    if not any(MARK in label for _, label in tree):
        return tree
    heads, labels = [head for head, _ in tree], [plain(label) for _, label in tree]
    children = [[] for _ in range(len(tree) + 1)]
    for d, head in enumerate(heads, 1):
        children[head].append(d)
    for d in _levels(0, children, None):  # from the root downwards: where a head belongs is known before
        wanted = tree[d - 1][1].partition(MARK)[2]
        if wanted:
            below = _levels(heads[d - 1], children, d)
            found = next((k for k in below if labels[k - 1] == wanted), None)
            if found is not None:
                children[heads[d - 1]].remove(d)
                heads[d - 1] = found
                children[found] = sorted([*children[found], d])
    return list(zip(heads, labels))


def _levels(top, children, without):
    """The words below ``top``, level by level, but for those from ``without`` downwards."""
    out, level = [], [top]
    while level:
        level = [c for k in level for c in children[k] if c != without]
        out += level
    return out


def check_projectivize(projectivize, labeled):
    """Raise if labels cannot say what was lifted."""
    if projectivize == "pseudo" and not labeled:
        raise ValueError("projectivize='pseudo' writes what was lifted into labels: it needs labeled=True")
