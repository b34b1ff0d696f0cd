"""Readers of corpus files: columns, CoNLL-U, segmented text, and data of CRFsuite.

Each has one generator, ``iter_*``, that holds one sentence at a time, so that files
larger than memory stream; ``read_*``, which all but CRFsuite's have, is the list of
what it yields. Every error names the file and, where there is one, the line.

What is read here is what estimators take: columns give sequences of tuples, trees give
sequences of ``(form, tag)`` and of ``(head, label)``, segmented text gives lists of
words.

A file is a path or an open text file (``gzip.open(path, "rt", encoding="utf-8")``,
``sys.stdin``). A byte order mark at the start and carriage returns at line ends are
dropped. Lines end at line feeds only.
"""

from .columns import iter_columns as iter_columns
from .columns import read_columns as read_columns
from .columns import tokens_and_labels as tokens_and_labels
from .conllu import as_head as as_head
from .conllu import check_heads as check_heads
from .conllu import iter_conllu as iter_conllu
from .conllu import read_conllu as read_conllu
from .crfsuite import iter_attributes as iter_attributes
from .segmented import iter_segmented as iter_segmented
from .segmented import read_segmented as read_segmented
from .text_files import CONLLU_FIELDS as CONLLU_FIELDS
