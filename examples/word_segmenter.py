"""
Word-based segmentation
=======================

:class:`~skstruct.WordSegmenter` segments text by searching for words, not for labels of characters: its
features see the word in progress and the word before. This script trains one on a
handful of sentences and shows what can be known beforehand: boundaries, words of a
dictionary, text that is segmented in part.

The sentences are invented for this purpose, and far too few for a claim about accuracy.
"""

# %%
# Texts, and the words that spell them

import os
import tempfile

import matplotlib.pyplot as plt

import skstruct
from skstruct import WordSegmenter
from skstruct.inspection import HistoryDisplay

SENTENCES = """
我 喜欢 图书馆
他 在 图书馆 看书
我们 去 北京 看 朋友
她 的 朋友 在 北京 工作
他们 喜欢 看书
我 的 工作 在 大学
大学 的 图书馆 很 大
北京 很 大
她 去 大学 工作
朋友 们 喜欢 北京
"""
y = [line.split() for line in SENTENCES.split("\n") if line]
X = ["".join(words) for words in y]

segmenter = WordSegmenter(random_state=0).fit(X, y)
print(f"F1 on the sentences it learned from: {segmenter.score(X, y):.3f}")
text = "她喜欢大学的图书馆"
print("A new one:      ", " | ".join(segmenter.predict([text])[0]))
HistoryDisplay.from_estimator(segmenter)
plt.show()

# %%
# White space, boundaries, a dictionary
# -------------------------------------
# White space always separates words. Flags say the same character by character: True, a
# word starts here; False, it goes on; None, find out. Words of a dictionary become
# words where a text holds them.

print("White space:    ", " | ".join(segmenter.predict(["她喜欢大学的图书 馆"])[0]))
flags = [None] * len(text)
flags[text.index("的")] = False
print("The 的 goes on: ", " | ".join(segmenter.predict([text], boundaries=[flags])[0]))
print(
    "Dictionary:     ",
    " | ".join(segmenter.predict([text], dictionary=["大学的图书馆"])[0]),
)

# %%
# Text that is segmented in part
# ------------------------------
# In training, flags may stand in for words. The right segmentation of such a text is
# the best one that agrees with them. Here all that is known is that 火车站 is a word.

more = "我在火车站看书"
known = [None, None, True, False, False, True, None]
segmenter.partial_fit([more] * 3, [known] * 3)
print("After learning: ", " | ".join(segmenter.predict(["朋友在火车站工作"])[0]))

# %%
# Scores, and exact search
# ------------------------
# A beam of eight states loses little. ``beam_size=None`` keeps all of them: no
# segmentation scores better.

exact = WordSegmenter(beam_size=None, random_state=0).fit(X, y)
print(f"Score of the best segmentation: {exact.decision_function([text])[0]:.2f}")

# %%
# The k best
# ----------
# What else a text could be, with scores; dictionary and boundaries count as in
# ``predict``.

for words, score in exact.predict_kbest([text], k=3)[0]:
    print(f"{score:6.2f}  ", " | ".join(words))

# %%
# Saving and loading

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "segmenter.skstruct")
    segmenter.save(path)
    print(
        f"Same after loading: {skstruct.load(path).predict(X) == segmenter.predict(X)}"
    )
