"""A re-ranker of segmentations into words with tags, and texts for it."""

import numpy as np

from skstruct import KBestReranker, Segmenter, StructuredPerceptron

TAGGER = StructuredPerceptron(
    ["U0:%x[0,0]", "U1:%x[-1,0]", "B"], max_iter=2, random_state=0
)
LEXICON = [("a", "X"), ("b", "Y"), ("ab", "X"), ("ba", "Z"), ("aab", "Y"), ("c", "Z")]


def texts(n=24, seed=0, tags=True):
    """Texts over a few words that are parts of each other, with tags."""
    generator = np.random.default_rng(seed)
    y = [
        [
            LEXICON[k]
            for k in generator.integers(0, len(LEXICON), generator.integers(1, 5))
        ]
        for _ in range(n)
    ]
    X = ["".join(w for w, _ in items) for items in y]
    return X, y if tags else [[w for w, _ in items] for items in y]


def reranker(k=6, cv=3, **options):
    return KBestReranker(
        Segmenter(TAGGER), k, cv, max_iter=3, random_state=0, **options
    )
