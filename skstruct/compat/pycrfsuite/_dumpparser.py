"""A model file's contents, as programs ask for them and as a dump writes them."""

import re
from dataclasses import dataclass, field

_PARTS = {
    "FILEHEADER": "header",
    "LABELS": "labels",
    "ATTRIBUTES": "attributes",
    "TRANSITIONS": "transitions",
    "STATE_FEATURES": "state_features",
}
"""Titles of a dump's parts, and their fields."""

_HEADER = re.compile(r"(\w+): (.*)")
_NAME = re.compile(r"(\d+): (.*)")
_WEIGHT = re.compile(r"\(\d+\) (.+) --> (.+): ([+-]?\d+\.\d+)")


@dataclass
class ParsedDump:
    """The header of a model file, its labels and attributes with their numbers, and its
    weights.

    Numbers of the header, labels and attributes are str, as in CRFsuite's text. Weights
    of an opened model have full precision.
    """

    header: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    transitions: dict = field(default_factory=dict)
    state_features: dict = field(default_factory=dict)

    @classmethod
    def of(cls, contents):
        """That of a model file's ``CRFsuiteContents``."""
        labels, names, features = (
            contents.labels,
            contents.attributes,
            contents.features.tolist(),
        )
        return cls(
            {
                name: f"0x{v:X}" if name.startswith("off_") else str(v)
                for name, v in contents.header.items()
            },
            *(
                {name: str(k) for k, name in enumerate(part)}
                for part in (labels, names)
            ),
            {(labels[a], labels[b]): weight for kind, a, b, weight in features if kind},
            {
                (names[a], labels[b]): weight
                for kind, a, b, weight in features
                if not kind
            },
        )

    def text(self):
        """The text that CRFsuite's dump writes."""
        parts = {
            "FILEHEADER": [f"{name}: {value}" for name, value in self.header.items()],
            "LABELS": [f"{k:>5}: {name}" for name, k in self.labels.items()],
            "ATTRIBUTES": [f"{k:>5}: {name}" for name, k in self.attributes.items()],
            "TRANSITIONS": [
                f"(1) {a} --> {b}: {w:.6f}" for (a, b), w in self.transitions.items()
            ],
            "STATE_FEATURES": [
                f"(0) {a} --> {b}: {w:.6f}" for (a, b), w in self.state_features.items()
            ],
        }
        texts = {
            title: "".join(f"  {line}\n" for line in lines)
            for title, lines in parts.items()
        }
        return "".join(f"{title} = {{\n{text}}}\n\n" for title, text in texts.items())


class CRFsuiteDumpParser:
    """Reads the text of a dump line by line, into ``result``.

    Attributes
    ----------
    result : ParsedDump
    state : str or None
        The title of the part that is read.
    """

    def __init__(self):
        self.state, self.result = None, ParsedDump()

    def feed(self, line):
        """Read a line."""
        line = line.lstrip().rstrip("\r\n")  # a name may end in white space
        title = line.partition(" = {")[0]
        if title in _PARTS and line != title:
            self.state = title
        elif line == "}":
            self.state = None
        elif line:
            self._enter(line)

    def _enter(self, line):
        part = getattr(self.result, _PARTS[self.state])
        if self.state == "FILEHEADER":
            name, value = _HEADER.match(line).groups()
            part[name] = value
        elif self.state in ("LABELS", "ATTRIBUTES"):
            number, name = _NAME.match(line).groups()
            part[name] = number
        else:
            source, target, weight = _WEIGHT.match(line).groups()
            part[source, target] = float(weight)
