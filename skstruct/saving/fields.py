"""Tables of fields: one text from which an object is written, read and checked, and a page described.

A :class:`Table` lists the members of a JSON object in their order. Each is a :class:`Field`: its name, its
:class:`Kind`, and where a written object has it. What a table says of types, shapes and ranges is checked
when a file is read; ``make`` checks what it cannot say, and makes the object. ``docs/file-format.md`` repeats
the tables, which a test compares with them.

Sizes and ranges are numbers, or names of what else the object has: ``array("int32", "names", low=-1,
high="n_rows")`` has as many elements as there are names, each at least -1 and below ``n_rows``. A name is
another member, of this object or one around it, or what follows from them, by the functions that end a table.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .container import ModelFileError, pack_strings, require, unpack_strings, within

MOST = 2**62
"""Above all integers of files."""

LARGEST = float(np.finfo(float).max)

REQUIRED = object()
"""The default of a member that every file has."""


class Kind(NamedTuple):
    """How one sort of values is written, read, and described."""

    text: str
    write: Callable  # (value, writer, name, members) -> JSON; ``name`` starts the names of arrays
    read: Callable  # (node, where, members) -> value; ``where`` starts the reasons in errors
    inline: bool = False  # the members of the value stand among those of the object
    absent: Callable | None = None  # (where, members) -> what stands for an array left out as empty
    fields: tuple = ()  # of an inline table
    null: bool = False  # None is written, as null; an absent member stands for it


class Field(NamedTuple):
    """A member of a JSON object."""

    name: str
    kind: Any  # a Kind or Table
    # A function of the written object, or the path of an attribute; by default the name, or the object itself
    # if the kind is inline.
    of: Any = None
    when: str | None = None  # the name of what says whether there is such a member
    default: Any = REQUIRED  # without a member that may be absent; a function makes one. A None is left out
    stem: str | None = None  # what arrays' names have for the member's name

    def found_in(self, value):
        """The value in an object, or in a dict."""
        if callable(self.of):
            return self.of(value)
        if self.kind.inline and not self.of:
            return value
        name = self.of or self.name
        return value.get(name) if isinstance(value, dict) else attrgetter(name)(value)


class Members(dict):
    """The members of an object by name, each found when it is first asked for; and what follows from them.

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

    def __init__(self, known, around=None, table=None, find=None, reader=None):
        super().__init__(known)
        self.fields, self.derived = (table.named, table.derived) if table else ({}, {})
        self.find, self.around = find, around
        self.reader = reader if around is None else around.reader

    def __missing__(self, name):
        if name in self.fields:
            field = self.fields[name]
            if field.when is None or self[field.when]:
                value = self.find(field)
            else:
                value = default_of(field, self)
        elif name in self.derived:
            value = self.derived[name](self)
        else:
            return self.around[name]
        self[name] = value
        return value

    def size(self, of):
        """A number, or None, as it is; of a name its number, or how many it has."""
        found = self[of] if isinstance(of, str) else of
        return len(found) if hasattr(found, "__len__") else found


def default_of(field, members):
    """What an absent member stands for."""
    return field.default(members) if callable(field.default) else field.default


class Table:
    """What a JSON object holds; a :class:`Kind` as well.

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

    inline, absent, null = False, None, False

    def __init__(self, title, *fields, make=None, **derived):
        self.text, self.fields, self.make = title, fields, make
        self.named, self.derived = {field.name: field for field in fields}, derived

    def write(self, value, writer, name, around=None):
        """The JSON of an object."""
        prefix, out = f"{name}." if name else "", {}
        more = value.keys() - self.named.keys() if isinstance(value, dict) else ()
        members = Members({name: value[name] for name in more}, around, self, lambda f: f.found_in(value))
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

    def read(self, node, where, around):
        """The object that some JSON describes; every member is read and checked."""
        require(isinstance(node, dict), f"{where} must be a JSON object")

        def find(field):
            name, kind = field.name, field.kind
            if kind.inline:
                return kind.read(node, where, members)
            if name in node:
                return kind.read(node[name], f"{where}.{name}", members)
            if kind.absent:
                return kind.absent(f"{where} lacks {name}", members)
            if kind.null and field.default is REQUIRED:
                return None
            require(field.when is None and field.default is not REQUIRED, f"{where} lacks {name}")
            return default_of(field, members)

        members = Members({}, around, self, find)
        members.node, members.where = node, where
        for field in self.fields:
            members[field.name]
        members.find = None  # a circle would keep large arrays alive
        return (self.make or arguments)(members)


def arguments(members):
    """What the members are, by name; those of an inline table among them."""
    out = {}
    for name, field in members.fields.items():
        out.update(members[name] if field.kind.inline else {name: members[name]})
    return out


def built(cls, names="", check=None):
    """For the ``make`` of a table: an instance of a class, whose arguments are the members named.

    Other members become the attributes where they were, ``check(instance, members)`` asks for the rest.
    """

    def make(members):
        out = cls(*(members[name] for name in names.split()))
        for name, field in members.fields.items():
            if name not in names.split() and not callable(field.of):
                setattr(out, field.of or name, members[name])
        if check:
            check(out, members)
        return out

    return make


def as_it_is(value, *_):
    """The JSON of what JSON can say."""
    return value


json_node = Kind("JSON", as_it_is, as_it_is)
"""Whatever stands there; its reader has to check it."""


def _plain(kind, text, fits=lambda node, members: True):
    def read(node, where, members):
        require(type(node) is kind and fits(node, members), f"{where} must be {text}")
        return node

    return Kind(text, lambda value, *_: kind(value), read)


string = _plain(str, "a string")
flag = _plain(bool, "true or false")


def integer(low=0, high=MOST):
    """An int from ``low`` up to, not including, ``high``."""
    text = f"an int{_range(low, high)}"
    return _plain(int, text, lambda node, members: members.size(low) <= node < members.size(high))


def number(low, high=LARGEST):
    """A float between ``low`` and ``high``."""
    return _plain(float, f"a float from {low:.3g}", lambda node, _: low <= node <= high)


def choice(choices):
    """A name, or null, for each of some values."""
    names = ", ".join("null" if name is None else f'"{name}"' for name in choices)

    def write(value, *_):
        return next(name for name, other in choices.items() if other == value)

    def read(node, where, _):
        require(node is None or isinstance(node, str), f"{where} must be a string or null")
        require(node in choices, f"{where} must be one of {list(choices)}, got {node!r:.40}")
        return choices[node]

    return Kind(names, write, read)


def exactly(name, why="other members ask for it"):
    """What is known without the file, and stands there for other readers."""

    def read(node, where, members):
        expected = members[name]
        ok = type(node) is type(expected) and node == expected
        require(ok, f"{where} must be {expected!r:.60}: {why}")
        return node

    return Kind(name, as_it_is, read)


def array(dtype, *shape, low=None, high=MOST, finite=False, largest=np.inf, may_lack=False):
    """An array of sizes up to ``largest``; None in ``shape`` is any length. An empty one ``may_lack``."""

    def read(node, where, members):
        sizes = [members.size(n) for n in shape]
        found = members.reader.array(node, where, dtype, sizes)
        highs = zip(found.T, high) if isinstance(high, tuple) else [(found, high)]
        ok = low is None or all(within(part, members.size(low), members.size(most)) for part, most in highs)
        require(ok, f"{where} is out of range")
        require(not finite or np.isfinite(found).all(), f"{where} must be finite")
        if largest < np.inf and found.size:
            ok = -largest <= found.min() and found.max() <= largest
            require(ok, f"{where} must be at most {largest:g} in size: scores would be no numbers")
        return found

    def absent(lacks, members):
        require(not any(members.size(n) for n in shape), lacks)
        return np.zeros(0, dtype)

    sizes = ", ".join("…" if n is None else str(n) for n in shape)
    text = f"{dtype} ({sizes}{',' * (len(shape) == 1)})" + _range(low, high) + ", finite" * finite
    text += f", at most {largest:g} in size" * (largest < np.inf)

    def write(value, writer, name, _):
        return writer.array(name, value)

    return Kind(text, write, read, absent=absent if may_lack else None)


_POWERS = {2**31: "2^31", 2**53: "2^53"}


def _range(low, high):
    highs = high if isinstance(high, tuple) else (high,)
    below = "" if high == MOST else f", below {', '.join(_POWERS.get(n, str(n)) for n in highs)}"
    return "" if low is None else f" from {low}{below}"


def via(kind, take, make):
    """Of values that ``take`` turns into those of a kind, and ``make`` back, or a ValueError."""

    def read(node, where, members):
        found = kind.read(node, where, members)
        try:
            return make(found)
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"malformed: {where}: {error}") from None

    return Kind(kind.text, lambda found, *how: kind.write(take(found), *how), read)


def without_last(kind):
    """Of an array whose last element, -1, serves the index -1."""
    return via(kind, lambda found: found[:-1], lambda found: np.append(found, found.dtype.type(-1)))


def _distinct(found):
    if len(set(found)) < len(found):
        raise ValueError("a string occurs twice")
    return found


strings = via(
    Table("list of strings", Field("bytes", array("uint8", None)), Field("offsets", array("int64", None))),
    lambda found: dict(zip(("bytes", "offsets"), pack_strings(found))),
    lambda found: unpack_strings(found["bytes"], found["offsets"]),
)
distinct = via(strings._replace(text="list of distinct strings"), list, _distinct)

value = Kind(
    "value",
    lambda found, writer, name, _: writer.value(found, name),
    lambda node, where, members: members.reader.value(node, where),
)


def each(kind, label=None, length=None, given=None):
    """A list of one kind.

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

    def write(items, writer, name, members):
        def named(k, item):
            return f"{name}.{label(members, k, item)}" if label else name

        return [kind.write(item, writer, named(k, item), members) for k, item in enumerate(items)]

    def read(node, where, members):
        nodes, out = members.reader.list(node, where), []
        n = members.size(length)
        require(n in (None, len(nodes)), f"{where}: {n} {where.rpartition('.')[2]} expected")
        for k, item in enumerate(nodes):
            known = Members(given(members, out) if given else {}, members)
            out.append(kind.read(item, f"{where}[{k}]", known))
        return out

    return Kind(f"list: {kind.text}", write, read)


def optional(kind):
    """Null for None."""
    return Kind(
        f"{kind.text}, or null",
        lambda value, *how: None if value is None else kind.write(value, *how),
        lambda node, *how: None if node is None else kind.read(node, *how),
        null=True,
    )


def pair(*kinds):
    """A list with one item of each kind; an array of an item is named as the pair."""

    def write(items, *how):
        return [kind.write(item, *how) for kind, item in zip(kinds, items)]

    def read(node, where, members):
        require(isinstance(node, list) and len(node) == len(kinds), f"{where} must be a pair")
        return tuple(kind.read(item, where, members) for kind, item in zip(kinds, node))

    return Kind(f"[{', '.join(kind.text for kind in kinds)}]", write, read)


def knowing(kind, given):
    """A kind whose members may ask for more: for what ``given(members)``, a dict, has by name."""

    def read(node, where, members):
        return kind.read(node, where, Members(given(members), members))

    return Kind(kind.text, kind.write, read)


def inline(kind):
    """A table whose members stand among those of the object."""
    return Kind(kind.text, kind.write, kind.read, True, fields=kind.fields)
