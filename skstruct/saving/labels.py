"""The state of label sets."""

from ..data.labels import Labels
from .values import require

_LABEL_TYPES = (bool, float, int, str, tuple)


def labels_state(labels, writer, name):
    """The JSON of a :class:`Labels`."""
    for label in labels.values:
        if type(label) not in _LABEL_TYPES:
            raise TypeError(
                f"labels of type {type(label).__name__} cannot be saved; "
                f"can be: {', '.join(kind.__name__ for kind in _LABEL_TYPES)}"
            )
    return writer.value(labels.values, name)


def labels_from_state(node, reader, where):
    """The :class:`Labels` of a file."""
    values = reader.value(reader.list(node, where), where)
    require(values, f"{where} must hold a label")
    ok = all(type(v) in _LABEL_TYPES and v == v for v in values)
    require(ok, f"{where} must hold strings, numbers, true or false, or tuples of these")
    try:
        labels = Labels(values, in_order=True)
    except (TypeError, ValueError) as error:
        require(False, f"{where}: {error}")
    require(labels.values == values, f"{where} must be distinct")
    return labels
