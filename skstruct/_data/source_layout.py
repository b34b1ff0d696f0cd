"""The layout of the file that a model learned from, and that it expects again.

Column 1 of one file is a word, of another a number; UPOS and XPOS are columns of the
same CoNLL-U. Nobody can see afterwards which of them a model has learned, so the
model's file says it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from .places import counted, describe

if TYPE_CHECKING:
    from .types import Self


Column: TypeAlias = "int | str"
"""A column by its number, from 0 or from the end, or a field by its name."""


@dataclass(frozen=True)
class SourceLayout:
    r"""The layout of a corpus file.

    Parameters
    ----------
    format : str
        Its name, such as "columns", "conllu", "segmented" or "jsonl".
    tokens : tuple of int or str, optional
        Columns, or fields, that tokens are made of.
    label : int, str or tuple of these, optional
        Column, or field, of what is predicted; of trees two.
    separator : str, optional
        What stands between columns; None is any run of spaces and tabs.
    comment : str, optional
        What lines begin with that are no tokens.
    encoding : str, default="utf-8"
    offsets : str, optional
        What offsets of spans count, such as "characters" or "utf-16".
    ends : str, optional
        Whether ends of spans are "exclusive" or "inclusive".
    scheme : str, optional
        Of the labels, such as "BIO"; None for labels of no scheme.
    spelling : str, optional
        How labels of a scheme are spelled, by the example of a B and a type, such as
        "B_PER"; None where it is "B-PER".
    options : dict, optional
        Other options of the format's reader, by name: str, numbers, lists of these.

    Raises
    ------
    ValueError
        If a value is of another kind.

    Examples
    --------
    >>> layout = SourceLayout("columns", tokens=(1,), label=2, separator="\t")
    >>> layout.describe()
    'columns, tokens 1, label 2, separator tab'
    >>> SourceLayout.from_dict(layout.to_dict()) == layout
    True
    """

    format: str
    tokens: tuple[Column, ...] | None = None
    label: Column | tuple[Column, ...] | None = None
    separator: str | None = None
    comment: str | None = None
    encoding: str = "utf-8"
    offsets: str | None = None
    ends: str | None = None
    scheme: str | None = None
    spelling: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("format", "encoding"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ValueError(
                    f"{name} must be a str, got {describe(getattr(self, name))}"
                )
        for name in ("separator", "comment", "offsets", "ends", "scheme", "spelling"):
            if not isinstance(getattr(self, name), str | None):
                raise ValueError(
                    f"{name} must be a str or None, got {describe(getattr(self, name))}"
                )
        for name in ("tokens", "label"):
            given = getattr(self, name)
            if isinstance(given, list | tuple):
                object.__setattr__(self, name, tuple(given))
            elif name == "tokens" and given is not None:
                object.__setattr__(self, name, (given,))
        for column in (*(self.tokens or ()), *self.labels):
            if type(column) not in (int, str):
                raise ValueError(
                    "tokens and label must be numbers or names of columns, got "
                    f"{describe(column)}"
                )
        if not isinstance(self.options, dict) or not all(
            type(name) is str and is_plain(value)
            for name, value in self.options.items()
        ):
            raise ValueError(
                "options must be a dict of str to str, numbers and lists of these, got "
                f"{describe(self.options)}"
            )

    @property
    def labels(self) -> tuple[Column, ...]:
        """Return the columns or fields of what is predicted, none, one or two."""
        if self.label is None:
            return ()
        return self.label if isinstance(self.label, tuple) else (self.label,)

    @property
    def label_names(self) -> dict[int, str] | None:
        """Return what labels that are numbers stand for, if options say it."""
        return names_of_labels(self.options.get("label_names"))

    def describe(self) -> str:
        """Return one line that names what is not as usual."""
        said = [self.format]
        if self.tokens is not None:
            said.append(f"tokens {','.join(map(str, self.tokens))}")
        if self.labels:
            said.append(f"label {','.join(map(str, self.labels))}")
        if self.separator is not None:
            shown = {"\t": "tab", " ": "space"}.get(
                self.separator, repr(self.separator)
            )
            said.append(f"separator {shown}")
        if self.comment is not None:
            said.append(f"comment {self.comment!r}")
        if self.encoding != "utf-8":
            said.append(f"encoding {self.encoding}")
        if self.offsets is not None:
            said.append(f"offsets in {self.offsets}")
        if self.ends is not None:
            said.append(f"ends {self.ends}")
        if self.scheme is not None:
            spelled = "" if self.spelling is None else f", spelled {self.spelling}"
            said.append(f"scheme {self.scheme}{spelled}")
        said += [f"{name}={value!r}" for name, value in self.options.items()]
        return ", ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters that are not the default, as JSON can say them."""
        found: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "format" or value not in (each.default, {}):
                found[each.name] = list(value) if isinstance(value, tuple) else value
        return found

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return what :meth:`to_dict` was called of.

        Raises
        ------
        ValueError
            If a name is unknown, or a value of another kind.
        """
        known = [each.name for each in fields(cls)]
        unknown = sorted(set(map(str, given)) - set(known))
        if unknown or "format" not in given:
            wrong = f"unknown: {', '.join(unknown)}" if unknown else "format is missing"
            raise ValueError(
                f"source_layout: {wrong}; {counted(len(known), 'name')} are known: "
                f"{', '.join(known)}"
            )
        return cls(**given)


def as_source_layout(
    given: SourceLayout | Mapping[str, Any] | None,
) -> SourceLayout | None:
    """Return a :class:`SourceLayout`, or None, for one or for a dict of its
    parameters.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if given is None or isinstance(given, SourceLayout):
        return given
    if isinstance(given, Mapping):
        return SourceLayout.from_dict(given)
    raise ValueError(
        "source_layout must be a SourceLayout or a dict such as {'format': 'columns', "
        f"'tokens': [1], 'label': 2}}, got {describe(given)}"
    )


def is_plain(value: Any) -> bool:
    """Tell whether JSON gives a value back unchanged."""
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(type(k) is str and k[:1] != "$" for k in value) and all(
            map(is_plain, value.values())
        )
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (str, int, bool)


def names_of_labels(given: Any) -> dict[int, Any] | None:
    """Return what labels that are numbers stand for, by these numbers.

    Parameters
    ----------
    given : list or dict, optional
        Names; of a dict by numbers, which may be str, as JSON has them.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(
            f"label_names must be a list or a dict of names, got {describe(given)}"
        )
    items = given.items() if isinstance(given, Mapping) else enumerate(given)
    try:
        return {int(number): name for number, name in items}
    except (TypeError, ValueError):
        raise ValueError(
            f"the keys of label_names must be numbers, got {describe(given)}"
        ) from None


def plain_names(given: Any) -> dict[str, Any] | None:
    """Return names of labels as a file of JSON keeps them; see `names_of_labels`."""
    names = names_of_labels(given)
    if names is None:
        return None
    return {str(number): name for number, name in names.items()}
