"""What is in a model file, as ``Tagger.info`` and ``Tagger.dump`` tell it."""

from dataclasses import dataclass, field


@dataclass
class ParsedDump:
    """The header of a model file, its labels and attributes with their numbers, and its weights.

    Numbers of the header, labels and attributes are str, as in CRFsuite's text; weights have full precision.
    """

    header: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    transitions: dict = field(default_factory=dict)
    state_features: dict = field(default_factory=dict)


def info_of(contents):
    """The :class:`ParsedDump` of a model file's ``CRFsuiteContents``."""
    labels, names = contents.labels, contents.attributes
    kind, source, target, weight = (
        contents.features[name].tolist() for name in ("type", "src", "dst", "weight")
    )
    weights = {}, {}
    for k, a, b, value in zip(kind, source, target, weight):
        weights[k][(labels if k else names)[a], labels[b]] = value
    return ParsedDump(
        {name: f"0x{v:X}" if name.startswith("off_") else str(v) for name, v in contents.header.items()},
        *({name: str(k) for k, name in enumerate(part)} for part in (labels, names)),
        weights[1], weights[0],
    )  # fmt: skip


def text_of(info):
    """The text that CRFsuite's dump writes."""
    lines = ["FILEHEADER = {", *(f"  {name}: {value}" for name, value in info.header.items()), "}", ""]
    for title, part in (("LABELS", info.labels), ("ATTRIBUTES", info.attributes)):
        lines += [f"{title} = {{", *(f"  {k:>5}: {name}" for name, k in part.items()), "}", ""]
    for kind, title, part in (
        (1, "TRANSITIONS", info.transitions),
        (0, "STATE_FEATURES", info.state_features),
    ):
        lines += [
            f"{title} = {{",
            *(f"  ({kind}) {a} --> {b}: {w:.6f}" for (a, b), w in part.items()),
            "}",
            "",
        ]
    return "\n".join([*lines, ""])
