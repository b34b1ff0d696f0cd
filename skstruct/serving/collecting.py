"""Annotations kept in a file of JSON lines, as `skstruct.datasets.write_spans` writes them.

A line has the id of its task, and that of its annotation: of each task the last annotation is kept. Lines
without these ids, such as the texts that a model was trained on, stay as they are.
"""

import io
import json
import os
import threading

from ..formats.span_files import read_spans
from ..formats.span_writing import write_spans
from ..saving.atomic import atomic_write


class Collection:
    """The annotations in a file, which is made if need be.

    Raises
    ------
    ValueError, OSError
        If there is something else in the file, or it cannot be written.
    """

    def __init__(self, path):
        self.path, self._lock = path, threading.Lock()
        self._replace(lambda _: True)

    def keep(self, task, text, annotation, labels):
        """Keep an annotation of Label Studio; ``labels`` names the tag whose regions count.

        Raises
        ------
        ValueError
            If it is none that can be read.
        """
        regions = annotation.get("result")
        if isinstance(regions, list):
            own = [each for each in regions if isinstance(each, dict) and each.get("from_name") == labels]
            annotation = {**annotation, "result": own}
        record = {"id": task, "data": {"text": text}, "annotations": [annotation]}
        X, y = read_spans([record], "label-studio", offsets="utf-16")  # none of a task that was skipped
        file = io.StringIO()
        write_spans(file, X, y, metadata=[{"id": task, "annotation": annotation.get("id")}] * len(X))
        self._replace(
            lambda line: str(line.get("id")) != str(task) or "annotation" not in line, file.getvalue()
        )

    def drop(self, key, gone):
        """Forget the lines whose id under a key is among some."""
        self._replace(lambda line: "annotation" not in line or str(line.get(key)) not in gone)

    def _replace(self, stays, added=""):
        with self._lock:
            lines = []
            if os.path.exists(self.path):
                with open(self.path, encoding="utf-8", newline="\n") as file:
                    lines = [line for line in file if line.strip() and stays(self._parsed(line))]
            with atomic_write(self.path, "utf-8") as file:
                file.writelines([*lines, added])

    def _parsed(self, line):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise ValueError(f"{self.path}: expected JSON lines of objects, got {line!r:.60}")
        return value
