"""``docs/file-format.md`` repeats the tables of fields: each member, what it is, and
when it is there.
"""

import pathlib
import re

import pytest

from skstruct._chain.chain_fields import CHAIN, CONSTRAINTS, SHOWN_PAIRS
from skstruct._chain.chain_model import ChainModel
from skstruct._parser.parser_model import ParserModel
from skstruct._saving import origin, stores
from skstruct._saving.fields import REQUIRED, Table
from skstruct._training.saved import STATE, training_table
from skstruct._words.reranker_model import RerankModel
from skstruct._words.word_model import WordModel
from skstruct.features import (
    bag_encoder,
    contexts,
    encoder_choice,
    encoder_fields,
    pattern_encoder,
    patterns,
    rows_encoder,
    template_encoder,
    template_rows,
    templates,
    word_clusters,
)

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "file-format.md"
ENCODERS = (
    bag_encoder, encoder_choice, contexts, pattern_encoder, patterns, rows_encoder, template_encoder, template_rows,
    templates, word_clusters,
)  # fmt: skip
"""Modules that declare tables."""
WITH_TABLES = {
    "WordSegmenter": WordModel,
    "ShiftReduceParser": ParserModel,
    "KBestReranker": RerankModel,
}

TABLES = {
    "state": STATE,
    "model of a tagger": CHAIN,
    "constraints": CONSTRAINTS,
    **{
        name: getattr(stores, name.upper())
        for name in ("final", "trained", "packed", "rule", "clock")
    },
    **{
        f"encoder {kind}": table for kind, (_, table) in encoder_choice.ENCODERS.items()
    },
    "index": encoder_fields.INDEX,
    "numeric": rows_encoder.NUMERIC,
    "patterns": patterns.PATTERNS,
    "lines": templates.LINES,
    "source layout": origin.LAYOUT_FIELDS,
    "card": origin.CARD_FIELDS,
    "word clusters": word_clusters.WORD_CLUSTERS,
    "derived": template_encoder.DERIVED,
    "side": template_rows.SIDE,
    "compound": template_rows.COMPOUND,
    "contexts": contexts.CONTEXTS,
    "statistics": contexts.STATISTICS,
    **{name: model.FIELDS for name, model in WITH_TABLES.items()},
    "training of taggers": training_table(ChainModel),
    "shown pairs": SHOWN_PAIRS,
    **{
        f"training of {name}": training_table(model)
        for name, model in WITH_TABLES.items()
    },
}


BESIDES = {
    "trained": ["final"],
    "packed": ["final"],
    "encoder patterns": ["encoder templates"],
    **dict.fromkeys(["encoder bag", "encoder rows"], ["index"]),
    "training of WordSegmenter": ["training of taggers"],
    "training of ShiftReduceParser": [
        "training of taggers",
        "training of WordSegmenter",
    ],
    "training of KBestReranker": ["training of taggers", "training of WordSegmenter"],
}
"""Table -> those whose equal members its own list leaves out."""

SHORTER = {
    r" from ([^,;]+), below ": r" \1…",
    r" from (\S+)": r" ≥\1",
    r"\ban? (int|float|string)": r"\1",
    "true or false": "bool",
    "list of distinct": "distinct",
}
"""How the page writes the texts of kinds."""


def rows(table):
    """How the page's line of each field begins."""
    for field in table.fields:
        if field.kind.inline:
            yield from rows(field.kind)
            continue
        text = field.kind.text
        if field.when:
            text += f"; if {field.when}"
        lacks = ""
        if (
            field.default is not REQUIRED
            and not field.when
            or field.kind.absent
            or field.kind.null
        ):
            if isinstance(field.default, (bool, int)):
                text += f"; {field.default} if absent".lower()
            else:
                lacks = "?"
        for pattern, shorter in SHORTER.items():
            text = re.sub(pattern, shorter, text)
        yield f"- `{field.name}`{lacks} {text}"


def own_rows(name):
    others = [row for other in BESIDES.get(name, ()) for row in rows(TABLES[other])]
    return [row for row in rows(TABLES[name]) if row not in others]


@pytest.mark.parametrize("name", TABLES)
def test_the_page_has_every_field(name):
    text, expected = PAGE.read_text(encoding="utf-8"), own_rows(name)
    if not expected:
        pytest.skip("others say it all")
    marker = f"<!-- fields: {name} -->\n"
    assert marker in text, f"write {marker.strip()!r} and below it a list: {expected}"
    below = text.split(marker)[1].split("\n\n")[0].splitlines()
    for row in expected:
        found = [line for line in below if line == row or line.startswith(f"{row}: ")]
        assert found, f"docs/file-format.md: below {marker.strip()!r} write: {row}: …"
        below.remove(found[0])
    assert not below, (
        f"docs/file-format.md: below {marker.strip()!r} no field has the lines {below}"
    )


def test_every_table_has_a_place():
    """What a table of a model or encoder leads to is in ``TABLES``."""
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- fields: ") == sum(map(bool, map(own_rows, TABLES)))
    modules = encoder_fields, *ENCODERS, origin, stores
    declared = [v for m in modules for v in vars(m).values() if isinstance(v, Table)]
    listed = [id(table) for table in TABLES.values()]
    left_out = [
        t.text for t in declared if id(t) not in listed and t is not encoder_fields.ROWS
    ]
    assert not left_out, f"enter in TABLES: {left_out}"
