"""
Dependency parsing
==================

A parser learns from sentences and their trees: for each word its head, and what it is
to its head. The treebank here is a few lines that come with this example, so that
everything runs in seconds.
"""

# sphinx_gallery_thumbnail_path = 'picture.svg'

# %%
# A small treebank
# ----------------
# A word is written as form/tag/head/label. Heads count words from 1; the root has head
# 0.

from skstruct import ShiftReduceParser
from skstruct.inspection import render
from skstruct.metrics import attachment_scores

TREEBANK = """
The/DT/2/det cat/NN/3/nsubj sleeps/VBZ/0/root ././3/punct
A/DT/2/det dog/NN/3/nsubj barks/VBZ/0/root loudly/RB/3/advmod ././3/punct
The/DT/2/det dog/NN/3/nsubj chased/VBD/0/root a/DT/6/det black/JJ/6/amod cat/NN/3/obj ././3/punct
She/PRP/2/nsubj reads/VBZ/0/root old/JJ/4/amod books/NNS/2/obj in/IN/7/case the/DT/7/det garden/NN/2/obl
He/PRP/2/nsubj saw/VBD/0/root the/DT/4/det house/NN/2/obj on/IN/7/case the/DT/7/det hill/NN/4/nmod ././2/punct
Birds/NNS/2/nsubj sing/VBP/0/root in/IN/5/case the/DT/5/det morning/NN/2/obl ././2/punct
My/PRP$/2/nmod neighbour/NN/3/nsubj bought/VBD/0/root a/DT/6/det red/JJ/6/amod car/NN/3/obj yesterday/NN/3/obl
They/PRP/3/nsubj will/MD/3/aux visit/VB/0/root their/PRP$/5/nmod friends/NNS/3/obj soon/RB/3/advmod
The/DT/2/det roof/NN/6/nsubj of/IN/5/case the/DT/5/det house/NN/2/nmod leaks/VBZ/0/root ././6/punct
We/PRP/2/nsubj see/VBP/0/root the/DT/4/det sea/NN/2/obj from/IN/7/case the/DT/7/det window/NN/2/obl
The/DT/3/det small/JJ/3/amod children/NNS/4/nsubj play/VBP/0/root with/IN/7/case a/DT/7/det ball/NN/4/obl
He/PRP/3/nsubj never/RB/3/advmod reads/VBZ/0/root long/JJ/5/amod letters/NNS/3/obj ././3/punct
Cats/NNS/4/nsubj and/CC/3/cc dogs/NNS/1/conj sleep/VBP/0/root in/IN/7/case the/DT/7/det house/NN/4/obl
She/PRP/2/nsubj sings/VBZ/0/root and/CC/4/cc plays/VBZ/2/conj the/DT/6/det piano/NN/4/obj ././2/punct
"""

X, y = [], []
for line in TREEBANK.split("\n")[1:-1]:
    words = [word.rsplit("/", 3) for word in line.split()]
    X.append([(form, tag) for form, tag, _, _ in words])
    y.append([(int(head), label) for _, _, head, label in words])

# %%
# Learning and parsing
# --------------------
# X holds sentences of (form, tag), y trees of (head, label). What comes back has the
# form of y.

parser = ShiftReduceParser(max_iter=15, random_state=0).fit(X, y)
print(
    f"Treebank: {len(X)} sentences, {parser.n_features()} features, {len(parser.classes_)} labels"
)
print(f"On the treebank itself: {attachment_scores(y, parser.predict(X))}\n")

sentence = [
    ("The", "DT"), ("old", "JJ"), ("woman", "NN"), ("saw", "VBD"), ("a", "DT"), ("white", "JJ"),
    ("bird", "NN"), ("from", "IN"), ("the", "DT"), ("garden", "NN"), (".", "."),
]  # fmt: skip
(tree,) = parser.predict([sentence])


# %%
# A picture of the tree
# ---------------------
# Every word stands below its head; the words of a line's subtree follow it, indented.


def show(head, depth=0):
    """Print the words below a head, each with its own below it."""
    for number, ((form, tag), (above, label)) in enumerate(zip(sentence, tree), 1):
        if above == head:
            print(f"{'    ' * depth}{form}  {tag} {label}")
            show(number, depth + 1)


show(0)

# %%
# A notebook draws it with arcs.

render([sentence], [tree])

# %%
# Heads alone
# -----------
# Without labels a tree is the list of its heads. The templates are here those of Huang
# and Sagae (2010); the default ones are more, and better where there is more to learn
# from.

heads = [[head for head, _ in tree] for tree in y]
unlabeled = ShiftReduceParser("hs28", labeled=False, max_iter=15, random_state=0).fit(
    X, heads
)
print(f"\nHeads alone: {unlabeled.predict([sentence])[0]}")
