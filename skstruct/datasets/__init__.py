"""Data to try things on: the embedded samples, synthetic sequences, and the readers of corpus files.

The readers live in ``skstruct.data.readers`` and are offered here because this is where a user looks.
"""

from skstruct.data.readers import read_columns, read_conllu, read_segmented
from skstruct.datasets.samples import (
    load_chunking,
    load_entities,
    load_parsing,
    load_sample,
    load_segmentation,
    load_tagging,
)
from skstruct.datasets.synthetic import make_hmm_sequences

__all__ = [
    "load_chunking",
    "load_entities",
    "load_parsing",
    "load_sample",
    "load_segmentation",
    "load_tagging",
    "make_hmm_sequences",
    "read_columns",
    "read_conllu",
    "read_segmented",
]
