"""Data to try things on: samples, synthetic sequences, public corpora, and files.

The readers live in ``skstruct.datasets.formats.readers`` and are offered here because
this is where a user looks.
"""

from typing import TYPE_CHECKING

from .._names import lazy

if TYPE_CHECKING:
    from .._data.alignment_report import AlignmentReport as AlignmentReport
    from .._data.source_layout import SourceLayout as SourceLayout
    from .._data.spans import from_utf16 as from_utf16
    from .._data.spans import to_utf16 as to_utf16
    from .columns import columns_to_spans as columns_to_spans
    from .columns import from_columns as from_columns
    from .columns import spans_to_columns as spans_to_columns
    from .corpora import fetch_conll2000 as fetch_conll2000
    from .corpora import fetch_conll2002 as fetch_conll2002
    from .corpora import fetch_ud as fetch_ud
    from .corpus_file import CorpusFile as CorpusFile
    from .corpus_file import open_corpus as open_corpus
    from .fetch import DownloadError as DownloadError
    from .fetch import get_data_home as get_data_home
    from .formats.entry import Row as Row
    from .formats.readers import read_columns as read_columns
    from .formats.readers import read_conllu as read_conllu
    from .formats.readers import read_segmented as read_segmented
    from .formats.span_files import iter_spans as iter_spans
    from .formats.span_files import read_spans as read_spans
    from .formats.span_writing import write_spans as write_spans
    from .formats.token_files import iter_tokens as iter_tokens
    from .formats.token_files import read_tokens as read_tokens
    from .samples import load_chunking as load_chunking
    from .samples import load_entities as load_entities
    from .samples import load_parsing as load_parsing
    from .samples import load_sample as load_sample
    from .samples import load_segmentation as load_segmentation
    from .samples import load_tagging as load_tagging
    from .samples import make_hmm_sequences as make_hmm_sequences

# Readers of files are imported by rooms below this one, which need no corpora.
_NAMES = {
    "AlignmentReport": ".._data.alignment_report",
    "CorpusFile": "corpus_file",
    "DownloadError": "fetch",
    "Row": "formats.entry",
    "SourceLayout": ".._data.source_layout",
    "columns_to_spans": "columns",
    "fetch_conll2000": "corpora",
    "fetch_conll2002": "corpora",
    "fetch_ud": "corpora",
    "from_columns": "columns",
    "from_utf16": ".._data.spans",
    "get_data_home": "fetch",
    "iter_spans": "formats.span_files",
    "iter_tokens": "formats.token_files",
    "load_chunking": "samples",
    "load_entities": "samples",
    "load_parsing": "samples",
    "load_sample": "samples",
    "load_segmentation": "samples",
    "load_tagging": "samples",
    "make_hmm_sequences": "samples",
    "open_corpus": "corpus_file",
    "read_columns": "formats.readers",
    "read_conllu": "formats.readers",
    "read_segmented": "formats.readers",
    "read_spans": "formats.span_files",
    "read_tokens": "formats.token_files",
    "spans_to_columns": "columns",
    "to_utf16": ".._data.spans",
    "write_spans": "formats.span_writing",
}

__all__ = list(_NAMES)
__getattr__, __dir__ = lazy(__name__, _NAMES)
