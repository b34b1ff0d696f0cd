"""What the tests of `Segmenter` share."""

from skstruct import StructuredPerceptron
from skstruct.datasets import load_sample, load_segmentation

X, Y = load_segmentation()
SAMPLE = load_sample("zh")
PAIRS = [list(zip(words, tags)) for words, tags in zip(SAMPLE.words, SAMPLE.tags)]
TEXTS = ["我喜欢图书馆", "他来北京"]
WORDS = [["我", "喜欢", "图书馆"], ["他", "来", "北京"]]


def new_tagger(**parameters):
    return StructuredPerceptron(
        **{"features": "char", "random_state": 0, "max_iter": 5, **parameters}
    )
