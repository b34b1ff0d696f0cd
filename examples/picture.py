"""Tags, words and trees in one picture
====================================

Three models learn from the embedded samples and label one sentence each that they have
not seen. The result is drawn as SVG, which goes to standard output: ``python
examples/picture.py > picture.svg``.
"""

# %%
# What is drawn: coloured boxes for segments, arcs for dependencies. All letters are
# equally wide.
import sys
from html import escape

from skstruct import Segmenter, ShiftReduceParser, StructuredPerceptron
from skstruct.datasets import load_entities, load_parsing, load_segmentation
from skstruct.schemes import labels_to_spans

COLOURS = {"PER": "#ffd8a8", "LOC": "#b2f2bb", "ORG": "#a5d8ff", "MISC": "#e5dbff"}
LETTER, IDEOGRAPH = 9.1, 18.0
LEFT = 24


def text(x, y, content, size=15, colour="#212529", anchor="start"):
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">'
        f"{escape(content)}</text>"
    )


def box(x, y, width, colour):
    return f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="26" rx="4" fill="{colour}"/>'


def title(y, name, task):
    return text(LEFT, y, f"{name}: {task}", 12, "#495057")


def places(words, gap=9):
    """(left edge, width) of each word."""
    at, found = LEFT, []
    for word in words:
        width = sum(LETTER if ord(letter) < 0x2E80 else IDEOGRAPH for letter in word)
        found.append((at, width))
        at += width + gap
    return found


# %%
# Entities: a perceptron over words and parts of speech.
def entities(y):
    X, labels = load_entities()
    i = next(
        i
        for i in range(120, len(X))
        if len({label[2:] for label in labels[i]} - {""}) > 1
    )
    tagger = StructuredPerceptron(constraints="BIO", random_state=0).fit(
        X[:120], labels[:120]
    )
    words = [word for word, _ in X[i]]
    at = places(words)
    parts = [title(y, "StructuredPerceptron", "entities")]
    for start, stop, kind in labels_to_spans(tagger.predict([X[i]])[0], "BIO"):
        x, right = at[start][0] - 4, at[stop - 1][0] + at[stop - 1][1] + 4
        parts += [box(x, y + 14, right - x, COLOURS.get(kind, "#dee2e6"))]
        parts += [text((x + right) / 2, y + 53, kind, 10, "#495057", "middle")]
    return parts + [text(x, y + 32, word) for (x, _), word in zip(at, words)]


# %%
# Words: the same learner over characters.
def words(y):
    texts, cut = load_segmentation()
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0)).fit(
        texts[:120], cut[:120]
    )
    found = segmenter.predict(["他在北京大学图书馆看书。"])[0]
    parts = [title(y, "Segmenter", "words")]
    for (x, width), word in zip(places(found, 14), found):
        parts += [box(x - 5, y + 14, width + 10, "#e9ecef"), text(x, y + 33, word, 18)]
    return parts


# %%
# Trees: a parser.
def tree(y):
    X, heads = load_parsing()
    i = next(i for i in range(len(X)) if 6 <= len(X[i]) <= 9)
    others = [k for k in range(len(X)) if k != i]
    parser = ShiftReduceParser(random_state=0).fit(
        [X[k] for k in others], [heads[k] for k in others]
    )
    forms = [form for form, _ in X[i]]
    at = [(x, width, x + width / 2) for x, width in places(forms, 40)]
    base = y + 105
    parts = [title(y, "ShiftReduceParser", "dependencies")]
    for t, (head, label) in enumerate(parser.predict([X[i]])[0]):
        end = at[t][2]
        if head == 0:
            parts.append(
                f'<path d="M{end:.0f},{y + 18:.0f} V{base - 20:.0f}" fill="none" stroke="#1c7ed6"/>'
            )
            parts.append(text(end + 4, y + 26, label, 10, "#495057"))
            continue
        begin = at[head - 1][2] + (6 if end > at[head - 1][2] else -6)
        top = base - 20 - 16 * abs(head - 1 - t)
        parts.append(
            f'<path d="M{begin:.0f},{base - 20:.0f} C{begin:.0f},{top:.0f} {end:.0f},{top:.0f} '
            f'{end:.0f},{base - 20:.0f}" fill="none" stroke="#868e96"/>'
        )
        parts.append(
            text(
                (begin + end) / 2,
                (base - 20 + 3 * top) / 4 - 3,
                label,
                10,
                "#495057",
                "middle",
            )
        )
    return parts + [text(x, base, form) for (x, _, _), form in zip(at, forms)]


# %%
# The picture has a ground of its own, so that it can be read on dark pages too.
drawn = [*entities(30), *words(114), *tree(186)]
sys.stdout.write(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 316" font-family="monospace" '
    'role="img" aria-label="Entities, words and a dependency tree, as three models predict them">\n'
    '<rect width="760" height="316" rx="8" fill="#ffffff" stroke="#dee2e6"/>\n'
    + "\n".join(drawn)
    + "\n</svg>\n"
)
