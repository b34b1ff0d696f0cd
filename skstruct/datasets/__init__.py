"""Data to try things on: the embedded samples, synthetic sequences, public corpora, and the readers of files.

The readers live in ``skstruct.formats.readers`` and are offered here because this is where a user looks.
"""

from skstruct.data.spans import from_utf16, to_utf16
from skstruct.datasets.columns import columns_to_spans, from_columns, spans_to_columns
from skstruct.datasets.corpora import fetch_conll2000, fetch_conll2002, fetch_ud
from skstruct.datasets.fetch import DownloadError, get_data_home
from skstruct.datasets.samples import (
    load_chunking,
    load_entities,
    load_parsing,
    load_sample,
    load_segmentation,
    load_tagging,
    make_hmm_sequences,
)
from skstruct.formats.readers import read_columns, read_conllu, read_segmented
from skstruct.formats.span_files import iter_spans, read_spans
from skstruct.formats.span_writing import write_spans

__all__ = [
    "DownloadError",
    "columns_to_spans",
    "fetch_conll2000",
    "fetch_conll2002",
    "fetch_ud",
    "from_columns",
    "from_utf16",
    "get_data_home",
    "iter_spans",
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
    "read_spans",
    "spans_to_columns",
    "to_utf16",
    "write_spans",
]
