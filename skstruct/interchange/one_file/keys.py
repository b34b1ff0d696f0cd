"""Templates of a model as a file holds them: values, combinations, and where their weights are.

Only what has weights is kept, with what longer combinations begin with. Values are sorted; combinations are
sorted by the combination that they extend and then by their last value, so that a number is a place.

Functions of characters read what this Python says of all code points. A table lists the places at which being
in it begins, ends, begins ...: the first, and then how far it is to the next. Other versions of Python, and
JavaScript, know other versions of Unicode.
"""

import functools
import unicodedata

import numpy as np

from ...core.hashing import pairs_of
from ...features.accessor import AccessorVariety
from ...features.contexts import entries_in_tokens, is_context, lexicon_of
from ...features.word_clusters import CLUSTER
from .sections import combination_table


class TemplateKeys:
    """The keys of a ``TemplateEncoder`` whose rows of state and transition features have weights.

    Parameters
    ----------
    encoder : TemplateEncoder
    used : pair of ndarray of bool
        By row, whether it has weights: of ``encoder.nodes`` and of ``encoder.edges``.
    """

    def __init__(self, encoder, used):
        self.encoder, plan = encoder, encoder.plan
        self.sides = [(encoder.nodes, used[0]), (encoder.edges, used[1])]
        self.pairs = [
            [pairs_of(encoder.table, side.offset + c) for c in range(len(side.compounds))]
            for side, _ in self.sides
        ]
        self.kept = [side.in_use(own, rows)[1] for (side, rows), own in zip(self.sides, self.pairs)]
        outside = plan.left + plan.right
        self.numbers, self.values = [], []  # by channel: new number by id; strings
        for k, channel in enumerate(plan.channels):
            if channel[0] == "const":
                self.numbers.append(np.ones(1, np.int64))
                self.values.append([])
                continue
            strings = list(encoder.values_of(channel))
            ids = [v for v in self._met(k) if v >= outside]
            ids.sort(key=lambda v: strings[v - outside])
            number = np.zeros(outside + len(strings), np.int64)
            number[:outside] = np.arange(1, outside + 1)
            number[ids] = 1 + outside + np.arange(len(ids))
            self.numbers.append(number)
            self.values.append([strings[v - outside] for v in ids])

    def _met(self, k):
        """Ids of the values of channel k that something that is kept has, ascending."""
        met = [np.zeros(0, np.int64)]
        for (side, _), pairs, kept in zip(self.sides, self.pairs, self.kept):
            for c, compound in enumerate(side.compounds):
                if compound.channel == k:
                    met.append(np.flatnonzero(kept[c]) if compound.prefix < 0 else pairs[c][kept[c], 1])
        return np.unique(np.concatenate(met)).tolist()

    @property
    def parts(self):
        """The parts of a program that read templates."""
        names = [name for name, _ in self.encoder.plan.channels]
        more = [
            ("characters", FUNCTIONS.__contains__),
            ("clusters", CLUSTER.__eq__),
            ("contexts", is_context),
        ]
        return ["templates", *(part for part, reads in more if any(map(reads, names)))]

    def header(self, sections):
        """What the header of a file says of templates."""
        plan = self.encoder.plan
        functions = [name for name, _ in plan.channels]
        out = {"features": "templates", "unicode": tables_for(functions)}
        words = self.encoder.templates.words
        if self.encoder.contexts.in_use:
            out.update(contexts_header(self.encoder, sections))
        if words is not None:
            out["clusters"] = words.by_label()
        out |= {"left": plan.left, "right": plan.right, "channels": plan.channels, "values": self.values}
        for name, (side, _) in zip(("nodes", "edges"), self.sides):
            compounds = [[c.prefix, c.channel, c.distance, c.slots, c.forms] for c in side.compounds]
            groups = [[g.compound, g.slot, g.lo, g.width] for g in side.groups]
            out[name] = {"compounds": compounds, "groups": groups}
        return out

    @property
    def spelled(self):
        """(strings that are known, strings that are written), of each channel."""
        channels, words = self.encoder.plan.channels, self.encoder.templates.words
        clusters = [] if words is None else [(words.words, words.words)]
        return clusters + [
            (self.encoder.values_of(c), v) for c, v in zip(channels, self.values) if c[0] != "const"
        ]

    def write(self, sections):
        """Add the combinations; returns for each side (new row by row, -1 without; how many)."""
        maps = []
        for name, (side, _), pairs, kept in zip(("nodes", "edges"), self.sides, self.pairs, self.kept):
            row_of = np.full(side.n_rows, -1, np.int64)
            row_of[: side.first_row] = np.arange(side.first_row)
            n_rows, number_of, sizes = side.first_row, [], []
            for c, compound in enumerate(side.compounds):
                number = np.zeros(kept[c].shape[0], np.int64)
                values = self.numbers[compound.channel]
                if compound.prefix < 0:
                    n = int(values.max(initial=0))  # all values, those outside of a sequence too
                    number = values[: number.shape[0]]
                else:
                    before = number_of[compound.prefix][pairs[c][kept[c], 0]]
                    last = values[pairs[c][kept[c], 1]]
                    n_before = sizes[compound.prefix]
                    order = combination_table(sections, f"{name}.{c}", before, last, n_before)
                    n = order.shape[0]
                    number[np.flatnonzero(kept[c])[order]] = np.arange(1, n + 1)
                number_of.append(number)
                sizes.append(n)
                slots = len(compound.slots)
                first = side.row_of[c][:-1].astype(np.int64)
                mine = np.flatnonzero((first >= 0) & kept[c])
                for slot in range(slots):
                    row_of[first[mine] + slot] = n_rows + (number[mine] - 1) * slots + slot
                n_rows += n * slots
            maps.append((row_of, n_rows))
        return maps


# --------------------------------------------------------------------------------------------------
# Lexicons and accessor varieties
# --------------------------------------------------------------------------------------------------
def contexts_header(encoder, sections):
    """Add the tables of the functions of contexts; returns what the header says of them."""
    contexts = encoder.contexts
    lexicons = []
    for name, column in encoder.plan.channels:
        if lexicon_of(name) is not None:
            entries = encoder.templates.lexicons[lexicon_of(name)]
            written = entries_in_tokens(entries, contexts.characters.get(column))
            lexicons.append({"name": name, "column": column, "entries": written})
    statistics = contexts.trained if contexts.adapted is None else contexts.adapted
    varieties = [
        {"column": c, "longest": longest, "tokens": _varieties(statistics[c], c, longest, sections)}
        for c, longest in contexts.longest.items()
    ]
    return {"lexicons": lexicons, "varieties": varieties}


def _varieties(statistics: AccessorVariety, column, longest, sections):
    """Add the strings whose variety matters and what they begin with; returns the tokens."""
    buckets = [np.floor(np.log2(np.maximum(v, 1))).astype(np.int64) for v in statistics.varieties[:longest]]
    buckets = [np.minimum(each, 15) for each in buckets]
    kept = [each > 0 for each in buckets]
    pairs = statistics.pairs
    for n in range(longest - 1, 0, -1):
        kept[n - 1][pairs[n - 1][kept[n], 0]] = True
        kept[0][pairs[n - 1][kept[n], 1]] = True
    strings = statistics.alphabet.strings()
    order = sorted(np.flatnonzero(kept[0]).tolist(), key=strings.__getitem__)
    token = number = np.zeros(len(strings), np.int64)
    token[order] = np.arange(1, len(order) + 1)
    sections.unsigned(f"varieties.{column}.1.bucket", buckets[0][order])
    for n in range(1, longest):
        mine = np.flatnonzero(kept[n])
        before, last = number[pairs[n - 1][mine, 0]], token[pairs[n - 1][mine, 1]]
        n_before = int(np.count_nonzero(kept[n - 1]))
        by = combination_table(sections, f"varieties.{column}.{n + 1}", before, last, n_before)
        sections.unsigned(f"varieties.{column}.{n + 1}.bucket", buckets[n][mine[by]])
        number = np.zeros(kept[n].shape[0], np.int64)
        number[mine[by]] = np.arange(1, mine.shape[0] + 1)
    return [strings[k] for k in order]


# --------------------------------------------------------------------------------------------------
# Features that are names: those of dicts and lists, and those that patterns write
# --------------------------------------------------------------------------------------------------
def sorted_names(index, used):
    """The names of a ``FeatureIndex`` whose rows are used, sorted, and their rows."""
    names = sorted(
        (name, row) for name, row in zip(index.ids, index.row_of.tolist()) if row >= 0 and used[row]
    )
    return [name for name, _ in names], np.array([row for _, row in names], np.int64)


def row_map(n_rows, rows, first=0):
    """(new row by row, -1 without; how many): rows in their new order, behind the ``first`` that stay."""
    out = np.full(n_rows, -1, np.int64)
    out[:first] = np.arange(first)
    out[rows] = first + np.arange(rows.shape[0])
    return out, first + rows.shape[0]


class NameKeys:
    """The keys of a ``BagEncoder``."""

    parts = ("names",)

    def __init__(self, encoder, used):
        self.names, self.rows = sorted_names(encoder.nodes, used[0])
        self.spelled = [(encoder.nodes.ids, self.names)]
        self.n_rows = encoder.n_node_rows

    def header(self, sections):
        """What the header of a file says of them."""
        return {"features": "names", "names": self.names}

    def write(self, sections):
        """For each side (new row by row, how many)."""
        return [row_map(self.n_rows, self.rows), row_map(1, np.zeros(0, np.int64), 1)]


class PatternKeys:
    """The keys of a ``PatternEncoder``."""

    parts = ("templates", "patterns")

    def __init__(self, encoder, used):
        self.patterns, self.takes_both = encoder.templates, encoder.takes_both
        self.names, self.rows = zip(*map(sorted_names, (encoder.nodes, encoder.edges), used))
        self.spelled = [*zip((encoder.nodes.ids, encoder.edges.ids), self.names)]
        self.n_rows = encoder.n_node_rows, encoder.n_edge_rows

    def header(self, sections):
        """What the header of a file says of them."""
        nodes, edges = (
            [[p.literals, [[m.position, m.absolute, m.column, m.lower] for m in p.macros]] for p in lines]
            for lines in (self.patterns.of_labels, self.patterns.of_transitions)
        )
        either = {"either": True} if self.takes_both else {}  # tokens: str, or tuples
        return {
            "features": "patterns",
            **either,
            "patterns": {"syntax": self.patterns.syntax, "nodes": nodes, "edges": edges},
            "names": self.names[0],
            "edge_names": self.names[1],
        }

    def write(self, sections):
        """For each side (new row by row, how many)."""
        return [row_map(self.n_rows[0], self.rows[0]), row_map(self.n_rows[1], self.rows[1], 1)]


N_CODES = 0x110000

FUNCTIONS = {
    "lower": ("cased", "ignorable", "mapping"),
    "cluster": ("cased", "ignorable", "mapping"),  # of the lower-cased form, where the form has none
    "shape": ("upper", "lower", "digit"),
    "type": ("digit", "punctuation"),
    "digit": ("digit",),
    "upper": ("upper",),
    "hyphen": (),
}
"""The tables that each function reads."""

_TESTS = {
    "upper": str.isupper,
    "lower": str.islower,
    "digit": str.isdigit,
    "punctuation": lambda c: unicodedata.category(c)[0] in "PS",
    # A capital sigma is final behind a cased letter; what is ignorable between the two does not matter.
    "cased": lambda c: (c + "\u03a3").lower()[-1] == "\u03c2",
    "ignorable": lambda c: ("a" + c + "\u03a3").lower()[-1] == "\u03c2" and not _TESTS["cased"](c),
}


@functools.cache
def table(name):
    """The table of a property, or the mapping to lower case."""
    if name == "mapping":
        return _lower_case()
    inside = np.fromiter(map(_TESTS[name], map(chr, range(N_CODES))), np.bool_, N_CODES)
    return gaps(np.flatnonzero(np.diff(inside, prepend=False)))


def gaps(places):
    """Ascending places as the first and the distances from each to the next."""
    return np.diff(places, prepend=0).tolist()


def _lower_case():
    """Runs (first, last, step, difference) of the mapping of single characters, and what becomes two."""
    runs, longer = [], {}
    for code in range(N_CODES):
        to = chr(code).lower()
        if to == chr(code) or code == 0x3A3:  # of sigma the file has the rule
            continue
        if len(to) > 1:
            longer[chr(code)] = to
            continue
        difference = ord(to) - code
        if runs and runs[-1][3] == difference and code - runs[-1][1] in (1, 2):
            first, last, step, _ = runs[-1]
            if first == last or code - last == step:
                runs[-1] = [first, code, code - last, difference]
                continue
        runs.append([code, code, 1, difference])
    return {"runs": runs, "long": longer}


def tables_for(functions):
    """The tables that functions of templates read, by name."""
    names = {name for function in functions for name in FUNCTIONS.get(function, ())}
    return {name: table(name) for name in sorted(names)}
