"""Records of DataTurks: points of annotations, whose ends are inclusive."""

from __future__ import annotations

from .keyed import KeyedFormat, Keys


class Dataturks(KeyedFormat):
    """The entry of the table."""

    name = "dataturks"
    description = "records of DataTurks: content and annotation with points"
    keys = Keys(
        "content",
        "annotation",
        "points.start",
        "points.end",
        "label",
        covered="points.text",
    )
    ends = "inclusive"
