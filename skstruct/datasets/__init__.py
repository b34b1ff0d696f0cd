"""Data to try things on: the embedded samples, synthetic sequences, public corpora, and the readers of files.

The readers live in ``skstruct.formats.readers`` and are offered here because this is where a user looks.
"""

from skstruct.datasets.columns import from_columns
from skstruct.datasets.corpora import fetch_conll2000, fetch_conll2002, fetch_ud
from skstruct.datasets.fetch import DownloadError, get_data_home
from skstruct.datasets.samples import (
    load_chunking,
    load_entities,
    load_parsing,
    load_sample,
    load_segmentation,
    load_tagging,
)
from skstruct.datasets.synthetic import make_hmm_sequences
from skstruct.formats.readers import read_columns, read_conllu, read_segmented

__all__ = [
    "DownloadError",
    "fetch_conll2000",
    "fetch_conll2002",
    "fetch_ud",
    "from_columns",
    "get_data_home",
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
