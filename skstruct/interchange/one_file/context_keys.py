"""Lexicons and accessor varieties of templates as a file holds them."""

import numpy as np

from ...features.accessor import AccessorVariety
from ...features.contexts import lexicon_of
from .sections import combination_table


def contexts_header(encoder, sections):
    """Add the tables of the functions of contexts; returns what the header says of them."""
    contexts = encoder.contexts
    lexicons = [
        {
            "name": name,
            "column": column,
            "entries": _entries(
                encoder.templates.lexicons[lexicon_of(name)], contexts.characters.get(column)
            ),
        }
        for name, column in encoder.plan.channels
        if lexicon_of(name) is not None
    ]
    statistics = contexts.trained if contexts.adapted is None else contexts.adapted
    varieties = [
        {"column": c, "longest": longest, "tokens": _varieties(statistics[c], c, longest, sections)}
        for c, longest in contexts.longest.items()
    ]
    return {"lexicons": lexicons, "varieties": varieties}


def _entries(entries, characters):
    """Entries as lists of tokens; see `features.contexts.Lexicon`."""
    return [
        e if isinstance(e, tuple) else list("".join(e.split())) if characters else e.split() for e in entries
    ]


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
        by = np.lexsort((last, before))
        n_before = int(np.count_nonzero(kept[n - 1]))
        combination_table(sections, f"varieties.{column}.{n + 1}", before[by], last[by], n_before)
        sections.unsigned(f"varieties.{column}.{n + 1}.bucket", buckets[n][mine[by]])
        number = np.zeros(kept[n].shape[0], np.int64)
        number[mine[by]] = np.arange(1, mine.shape[0] + 1)
    return [strings[k] for k in order]
