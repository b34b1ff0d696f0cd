"""What was understood of a file: said to the user, and remembered by a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..._data.places import counted


@dataclass(frozen=True)
class Understood:
    """How a file is read, and what is in it.

    Attributes
    ----------
    format : str
        A name of the table of formats.
    why : str
        What speaks for it, or that an option says it.
    tokens : tuple of int or of str, optional
        Columns or fields of a token; None if the format has none, or for all but the
        label.
    label : int, str, or tuple of these, optional
        That of the label; of trees two of them.
    separator, comment : str, optional
    encoding : str
    fields : dict
        Keys of records, by what they hold: ``records``, ``text``, ``spans``, ``start``,
        ``end``, ``label``.
    offsets : str, optional
        What offsets count.
    ends : str, optional
        "exclusive" or "inclusive".
    label_names : dict, optional
        What labels that are numbers stand for.
    scheme : str, optional
        Of the labels.
    counts : dict
        How many sentences, tokens, texts, spans, labels, documents there are; what was
        skipped.
    """

    format: str
    why: str = ""
    tokens: tuple[Any, ...] | None = None
    label: Any = None
    separator: str | None = None
    comment: str | None = None
    encoding: str = "utf-8"
    fields: dict[str, str] = field(default_factory=dict)
    offsets: str | None = None
    ends: str | None = None
    label_names: dict[int, str] | None = None
    scheme: str | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, as strings, numbers, lists and dicts."""
        known = {key: value for key, value in asdict(self).items() if value}
        if self.label is not None:
            known["label"] = self.label  # column 0 is no nothing
        for key in ("tokens", "label"):
            if isinstance(known.get(key), tuple):
                known[key] = list(known[key])
        if self.label_names:
            known["label_names"] = {str(k): v for k, v in self.label_names.items()}
        return known

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Understood:
        """Make it of what `as_dict` gave; what later versions added is left out."""
        known = {
            key: value for key, value in given.items() if key in cls.__annotations__
        }
        for key in ("tokens", "label"):
            if isinstance(known.get(key), list):
                known[key] = tuple(known[key])
        if known.get("label_names"):
            known["label_names"] = {
                int(k): name for k, name in known["label_names"].items()
            }
        return cls(**known)

    def sentence(self) -> str:
        """Say in one line what was understood."""
        parts = [f"{self.format} ({self.why})" if self.why else self.format]
        if self.tokens is not None:
            parts.append(f"tokens {','.join(map(str, self.tokens))}")
        if self.label is not None:
            several = self.label if isinstance(self.label, tuple) else (self.label,)
            parts.append(f"label {','.join(map(str, several))}")
        if self.separator is not None:
            parts.append(f"separator {self.separator!r}")
        if self.comment is not None:
            parts.append(f"comment {self.comment!r}")
        if self.encoding != "utf-8":
            parts.append(f"encoding {self.encoding}")
        parts += [f"{name}={key}" for name, key in self.fields.items()]
        if self.offsets not in (None, "auto", "characters"):
            parts.append(f"offsets {self.offsets}")
        if self.ends not in (None, "auto", "exclusive"):
            parts.append(f"ends {self.ends}")
        if self.scheme is not None:
            parts.append(f"scheme {self.scheme}")
        parts += [counted(n, name) for name, n in self.counts.items()]
        return "; ".join(parts)
