"""Label schemes (BIO, BIOES, BMES, ...): spans and words as labels, and back; what may
follow what.

The table of schemes and their notes stand in the functions' own module,
``skstruct._data.schemes``.
"""

from ._data.schemes import SCHEMES as SCHEMES
from ._data.schemes import allowed_transitions as allowed_transitions
from ._data.schemes import check_scheme as check_scheme
from ._data.schemes import convert_labels as convert_labels
from ._data.schemes import convert_scheme as convert_scheme
from ._data.schemes import labels_to_spans as labels_to_spans
from ._data.schemes import labels_to_words as labels_to_words
from ._data.schemes import spans_to_labels as spans_to_labels
from ._data.schemes import words_to_labels as words_to_labels

__all__ = [
    "SCHEMES",
    "allowed_transitions",
    "check_scheme",
    "convert_labels",
    "convert_scheme",
    "labels_to_spans",
    "labels_to_words",
    "spans_to_labels",
    "words_to_labels",
]
