"""Label sets in files."""

from ..data.labels import Labels
from .checks import require
from .fields import Kind

_TYPES = (bool, float, int, str, tuple)


def _write(labels, writer, name, _):
    for label in labels.values:
        if type(label) not in _TYPES:
            raise TypeError(
                f"labels of type {type(label).__name__} cannot be saved; "
                f"can be: {', '.join(kind.__name__ for kind in _TYPES)}"
            )
    return writer.value(labels.values, name)


def _read(node, where, members):
    values = members.reader.value(members.reader.list(node, where), where)
    require(values, f"{where} must hold a label")
    ok = all(type(v) in _TYPES and v == v for v in values)
    require(ok, f"{where} must hold strings, numbers, true or false, or tuples of these")
    try:
        labels = Labels(values, in_order=True)
    except (TypeError, ValueError) as error:
        require(False, f"{where}: {error}")
    require(labels.values == values, f"{where} must be distinct")
    return labels


label_set = Kind("list of distinct labels", _write, _read)


def _read_some(node, where, members):
    return Labels() if node == [] else _read(node, where, members)


maybe_labels = Kind(f"{label_set.text}, or []", _write, _read_some)
