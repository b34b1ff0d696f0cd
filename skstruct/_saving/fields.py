"""Tables of fields: one text from which an object is written, read and checked, and a
page described.

A :class:`Table` lists the members of a JSON object in their order. Each is a
:class:`Field`: its name, its :class:`Kind`, and where a written object has it. What a
table says of types, shapes and ranges is checked when a file is read; ``make`` checks
what it cannot say, and makes the object. ``docs/file-format.md`` repeats the tables,
which a test compares with them.

Sizes and ranges are numbers, or names of what else the object has: ``array("int32",
"names", low=-1, high="n_rows")`` has as many elements as there are names, each at least
-1 and below ``n_rows``. A name is another member, of this object or one around it, or
what follows from them, by the functions that end a table.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from .container import ModelFileError, require, within
from .string_lists import pack_strings, unpack_strings

if TYPE_CHECKING:
    from .values import Reader, Writer


MOST = 2**62
"""Above all integers of files."""

LARGEST = float(np.finfo(float).max)

REQUIRED = object()
"""The default of a member that every file has."""


class Write(Protocol):
    """A function that writes values of a kind."""

    def __call__(self, value: Any, writer: Writer, name: str, members: Any, /) -> Any:
        """Return the JSON of a value; ``name`` starts the names of its arrays.

        ``members`` are those of the object in which the value stands, or None.
        """


class Read(Protocol):
    """A function that reads and checks values of a kind."""

    def __call__(self, node: Any, where: str, members: Any, /) -> Any:
        """Return the value that some JSON describes; ``where`` starts the reasons in
        errors.
        """


class Kind(NamedTuple):
    """One sort of values: how it is written, read, and described."""

    text: str
    write: Write
    read: Read
    inline: bool = False  # the members of the value stand among those of the object
    # (where, members) -> what stands for an array left out as empty
    absent: Callable[[str, Members], Any] | None = None
    fields: tuple = ()  # of an inline table
    null: bool = False  # None is written, as null; an absent member stands for it


class Field(NamedTuple):
    """A member of a JSON object."""

    name: str
    kind: Kind | Table
    # A function of the written object, or the path of an attribute; by default the
    # name, or the object itself if the kind is inline.
    of: Any = None
    when: str | None = None  # the name of what says whether there is such a member
    # Without a member that may be absent; a function makes one. A None is left out.
    default: Any = REQUIRED
    stem: str | None = None  # what arrays' names have for the member's name

    def found_in(self, value: Any) -> Any:
        """Return the value in an object, or in a dict."""
        if callable(self.of):
            return self.of(value)
        if self.kind.inline and not self.of:
            return value
        name = self.of or self.name
        return value.get(name) if isinstance(value, dict) else attrgetter(name)(value)


class Members(dict):
    """The members of an object by name, each found when it is first asked for; and what
    follows from them.

    Parameters
    ----------
    known : dict
        What is known besides.
    around : Members, optional
        Of the object that holds this one.
    table : Table, optional
    find : callable, optional
        Field -> value.
    reader : Reader, optional
        By default that of ``around``.
    """

    def __init__(
        self,
        known: dict[str, Any],
        around: Members | None = None,
        table: Table | None = None,
        find: Callable[[Field], Any] | None = None,
        reader: Reader | None = None,
    ) -> None:
        super().__init__(known)
        self.fields: dict[str, Field] = {} if table is None else table.named
        self.derived: dict[str, Callable[[Members], Any]] = (
            {} if table is None else table.derived
        )
        self.find: Any = find  # Field -> value, while the object is read or written
        self.around = around
        self.reader: Any = reader if around is None else around.reader  # a Reader
        self.node: Any = None  # the JSON that is read, once it is
        self.where = ""  # starts the reasons in errors

    def __missing__(self, name: str) -> Any:
        if name in self.fields:
            field = self.fields[name]
            if field.when is None or self[field.when]:
                value = self.find(field)
            else:
                value = default_of(field, self)
        elif name in self.derived:
            value = self.derived[name](self)
        else:
            return self.around[name]  # type: ignore[index]  # a name that none has is a fault of a table
        self[name] = value
        return value

    def size(self, of: str | float | None) -> Any:
        """Return a number, or None, as it is; of a name its number, or how many it
        has.
        """
        found: Any = self[of] if isinstance(of, str) else of
        return len(found) if hasattr(found, "__len__") else found


def default_of(field: Field, members: Members) -> Any:
    """Return what an absent member stands for."""
    return field.default(members) if callable(field.default) else field.default


class Table:
    """A table of the members of a JSON object; a :class:`Kind` as well.

    Parameters
    ----------
    title : str
        What the page calls it.
    *fields : Field
    make : callable, optional
        Members -> the object; by default a dict of the members.
    **derived : callables
        Members -> what follows from them, by name.
    """

    inline = False
    absent = None
    null = False

    def __init__(
        self,
        title: str,
        *fields: Field,
        make: Callable[[Any], Any] | None = None,
        **derived: Callable[[Any], Any],
    ) -> None:
        self.text = title
        self.fields = fields
        self.make = make
        self.named = {field.name: field for field in fields}
        self.derived = derived

    def write(
        self, value: Any, writer: Writer, name: str, around: Members | None = None
    ) -> dict[str, Any]:
        """Return the JSON of an object."""
        prefix = f"{name}." if name else ""
        out: dict[Any, Any] = {}
        more = value.keys() - self.named.keys() if isinstance(value, dict) else ()
        members = Members(
            {name: value[name] for name in more},
            around,
            self,
            lambda f: f.found_in(value),
        )
        for member, kind, _, when, _, stem in self.fields:
            if when is not None and not members[when]:
                continue
            found = members[member]
            if found is None and not kind.null or kind.absent and not found.size:
                continue
            stem = "" if kind.inline else member if stem is None else stem
            node = kind.write(found, writer, prefix + stem if stem else name, members)
            out.update(node if kind.inline else {member: node})
        return out

    def read(self, node: Any, where: str, around: Members | None) -> Any:
        """Return the object that some JSON describes; every member is read and
        checked.
        """
        require(isinstance(node, dict), f"{where} must be a JSON object")

        def find(field: Field) -> Any:
            name = field.name
            kind = field.kind
            if kind.inline:
                return kind.read(node, where, members)
            if name in node:
                return kind.read(node[name], f"{where}.{name}", members)
            if kind.absent:
                return kind.absent(f"{where} lacks {name}", members)
            if kind.null and field.default is REQUIRED:
                return None
            require(
                field.when is None and field.default is not REQUIRED,
                f"{where} lacks {name}",
            )
            return default_of(field, members)

        members = Members({}, around, self, find)
        members.node = node
        members.where = where
        for field in self.fields:
            members[field.name]
        members.find = None  # a circle would keep large arrays alive
        return (self.make or arguments)(members)


def arguments(members: Members) -> dict[str, Any]:
    """Return what the members are, by name; those of an inline table among them."""
    out: dict[Any, Any] = {}
    for name, field in members.fields.items():
        out.update(members[name] if field.kind.inline else {name: members[name]})
    return out


def built(
    cls: Callable[..., Any],
    names: str = "",
    check: Callable[[Any, Members], None] | None = None,
) -> Callable[[Members], Any]:
    """Return for the ``make`` of a table: an instance of a class, whose arguments are
    the members named.

    Other members become the attributes where they were, ``check(instance, members)``
    asks for the rest.
    """

    def make(members: Members) -> Any:
        out = cls(*(members[name] for name in names.split()))
        for name, field in members.fields.items():
            if name not in names.split() and not callable(field.of):
                setattr(out, field.of or name, members[name])
        if check:
            check(out, members)
        return out

    return make


def as_it_is(value: Any, *_: Any) -> Any:
    """Return the JSON of what JSON can say."""
    return value


json_node = Kind("JSON", as_it_is, as_it_is)
"""Whatever stands there; its reader has to check it."""


def _plain(
    kind: type, text: str, fits: Callable[[Any, Any], bool] = lambda node, members: True
) -> Kind:
    def read(node: Any, where: str, members: Members) -> Any:
        require(type(node) is kind and fits(node, members), f"{where} must be {text}")
        return node

    return Kind(text, lambda value, *_: kind(value), read)


string = _plain(str, "a string")
flag = _plain(bool, "true or false")


def integer(low: str | int = 0, high: str | int = MOST) -> Kind:
    """Return the kind of an int from ``low`` up to, not including, ``high``."""
    text = f"an int{_range(low, high)}"
    return _plain(
        int, text, lambda node, members: members.size(low) <= node < members.size(high)
    )


def number(low: float, high: float = LARGEST) -> Kind:
    """Return the kind of a float between ``low`` and ``high``."""
    return _plain(float, f"a float from {low:.3g}", lambda node, _: low <= node <= high)


def choice(choices: dict[Any, Any]) -> Kind:
    """Return the kind of some values, each written as a name or null."""
    names = ", ".join("null" if name is None else f'"{name}"' for name in choices)

    def write(value: Any, *_: Any) -> str | None:
        return next(name for name, other in choices.items() if other == value)

    def read(node: Any, where: str, _: Any) -> Any:
        require(
            node is None or isinstance(node, str), f"{where} must be a string or null"
        )
        require(
            node in choices, f"{where} must be one of {list(choices)}, got {node!r:.40}"
        )
        return choices[node]

    return Kind(names, write, read)


def exactly(name: str, why: str = "other members ask for it") -> Kind:
    """Return the kind of what is known without the file.

    It stands there for other readers.
    """

    def read(node: Any, where: str, members: Members) -> Any:
        expected = members[name]
        ok = type(node) is type(expected) and node == expected
        require(ok, f"{where} must be {expected!r:.60}: {why}")
        return node

    return Kind(name, as_it_is, read)


def array(
    dtype: str,
    *shape: str | int | None,
    low: float | None = None,
    high: Any = MOST,
    finite: bool = False,
    largest: float = np.inf,
    may_lack: bool = False,
) -> Kind:
    """Return the kind of arrays of numbers up to ``largest``; None in ``shape`` is any
    length.

    An empty one ``may_lack``.
    """

    def read(node: Any, where: str, members: Members) -> np.ndarray:
        sizes = [members.size(n) for n in shape]
        found = members.reader.array(node, where, dtype, sizes)
        highs = zip(found.T, high) if isinstance(high, tuple) else [(found, high)]
        ok = low is None or all(
            within(part, members.size(low), members.size(most)) for part, most in highs
        )
        require(ok, f"{where} is out of range")
        require(not finite or np.isfinite(found).all(), f"{where} must be finite")
        if largest < np.inf and found.size:
            ok = -largest <= found.min() and found.max() <= largest
            require(
                ok,
                f"{where} must be at most {largest:g} in size: scores would be no numbers",
            )
        return found

    def absent(lacks: str, members: Members) -> np.ndarray:
        require(not any(members.size(n) for n in shape), lacks)
        return np.zeros(0, dtype)

    sizes = ", ".join("…" if n is None else str(n) for n in shape)
    text = (
        f"{dtype} ({sizes}{',' * (len(shape) == 1)})"
        + _range(low, high)
        + ", finite" * finite
    )
    text += f", at most {largest:g} in size" * (largest < np.inf)

    def write(value: Any, writer: Writer, name: str, _: Any) -> dict[str, Any]:
        return writer.array(name, value)

    return Kind(text, write, read, absent=absent if may_lack else None)


_POWERS = {2**31: "2^31", 2**53: "2^53"}


def _range(low: Any, high: Any) -> str:
    highs = high if isinstance(high, tuple) else (high,)
    below = (
        ""
        if high == MOST
        else f", below {', '.join(_POWERS.get(n, str(n)) for n in highs)}"
    )
    return "" if low is None else f" from {low}{below}"


def via(
    kind: Kind | Table, take: Callable[[Any], Any], make: Callable[[Any], Any]
) -> Kind:
    """Return a kind of values that ``take`` turns into those of another kind.

    ``make`` turns these back, or raises a ValueError.
    """

    def read(node: Any, where: str, members: Members) -> Any:
        found = kind.read(node, where, members)
        try:
            return make(found)
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"malformed: {where}: {error}") from None

    return Kind(kind.text, lambda found, *how: kind.write(take(found), *how), read)


def without_last(kind: Kind | Table) -> Kind:
    """Return a kind of arrays whose last element, -1, is not written.

    It serves the index -1.
    """
    return via(
        kind,
        lambda found: found[:-1],
        lambda found: np.append(found, found.dtype.type(-1)),
    )


def _distinct(found: list[str]) -> list[str]:
    if len(set(found)) < len(found):
        raise ValueError("a string occurs twice")
    return found


strings = via(
    Table(
        "list of strings",
        Field("bytes", array("uint8", None)),
        Field("offsets", array("int64", None)),
    ),
    lambda found: dict(zip(("bytes", "offsets"), pack_strings(found))),
    lambda found: unpack_strings(found["bytes"], found["offsets"]),
)
distinct = via(strings._replace(text="list of distinct strings"), list, _distinct)

value = Kind(
    "value",
    lambda found, writer, name, _: writer.value(found, name),
    lambda node, where, members: members.reader.value(node, where),
)


def each(
    kind: Kind | Table,
    label: Callable[[Any, int, Any], str | int] | None = None,
    length: str | int | None = None,
    given: Callable[[Members, list[Any]], dict[str, Any]] | None = None,
) -> Kind:
    """Return the kind of lists whose items are of one kind.

    Parameters
    ----------
    kind : Kind or Table
    label : callable, optional
        ``(members, k, item) -> str``, what is added to the names of an item's arrays.
    length : str or int, optional
        Items that there have to be.
    given : callable, optional
        ``(members, items so far) -> dict``, what an item's members may ask for.
    """

    def write(items: Any, writer: Writer, name: str, members: Members) -> list[Any]:
        def named(k: int, item: Any) -> str:
            return f"{name}.{label(members, k, item)}" if label else name

        return [
            kind.write(item, writer, named(k, item), members)
            for k, item in enumerate(items)
        ]

    def read(node: Any, where: str, members: Members) -> list[Any]:
        nodes = members.reader.list(node, where)
        out: list[Any] = []
        n = members.size(length)
        require(
            n in (None, len(nodes)), f"{where}: {n} {where.rpartition('.')[2]} expected"
        )
        for k, item in enumerate(nodes):
            known = Members(given(members, out) if given else {}, members)
            out.append(kind.read(item, f"{where}[{k}]", known))
        return out

    return Kind(f"list: {kind.text}", write, read)


def optional(kind: Kind | Table) -> Kind:
    """Return a kind for which None is null, and all else is of another kind."""
    return Kind(
        f"{kind.text}, or null",
        lambda value, *how: None if value is None else kind.write(value, *how),
        lambda node, *how: None if node is None else kind.read(node, *how),
        null=True,
    )


def pair(*kinds: Kind | Table) -> Kind:
    """Return the kind of lists with one item of each kind.

    An array of an item is named as the pair.
    """

    def write(items: Any, *how: Any) -> list[Any]:
        return [kind.write(item, *how) for kind, item in zip(kinds, items)]

    def read(node: Any, where: str, members: Members) -> tuple[Any, ...]:
        require(
            isinstance(node, list) and len(node) == len(kinds),
            f"{where} must be a pair",
        )
        return tuple(kind.read(item, where, members) for kind, item in zip(kinds, node))

    return Kind(f"[{', '.join(kind.text for kind in kinds)}]", write, read)


def knowing(kind: Kind | Table, given: Callable[[Members], dict[str, Any]]) -> Kind:
    """Return a kind whose members may ask for more: for what ``given(members)``, a
    dict, has by name.
    """

    def read(node: Any, where: str, members: Members) -> Any:
        return kind.read(node, where, Members(given(members), members))

    return Kind(kind.text, kind.write, read)


def inline(kind: Kind | Table) -> Kind:
    """Return the kind of a table whose members stand among those of the object."""
    return Kind(kind.text, kind.write, kind.read, True, fields=kind.fields)
