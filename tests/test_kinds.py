"""The table *kinds of corpus x verbs x (kind in training, kind in prediction)*.

A cell gives, to the bit, what the plain lists of its family give, or it is refused with
the message that is foreseen. There is nothing else: no other error, no other result. A
new kind is entered in `kind_cases`, a new verb in `kind_verbs`. Kinds with themselves
run each time, with all verbs that read a corpus in a way of their own, and some of
``ALIKE_READERS``; all pairs with all verbs under the mark ``slow``. Both run with bounds
checks in the kernels, too (``tox -e boundscheck``).
"""

import collections
import functools
import inspect
import itertools
import re

import pytest
from covers import cover, slow_beyond
from kind_cases import KINDS, ORDINARY, PLAIN
from kind_verbs import ALONE, VERBS, Cell, plain

from skstruct import L1CRF, CalibratedTagger, StructuredPerceptron, features, inspection

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*feature names", "ignore::sklearn.exceptions.ConvergenceWarning"
)

# -- what is refused, and why ----------------------------------------------------------
TRAINED_ON = {
    "words": "(of (the )?type str|strings)",
    "columns": "(of type tuple|tuples?) ",
    "features": "features ",
    "numbers": "rows? of numbers",
    "both": "(strings|of type tuple)",
}
"""What an error calls the tokens of training."""

GOT = {
    "words": "str 'w1'",
    "columns": r"tuple \('w1', 'c1'\)",
    "features": r"(list \['w:w1'|dict \{'w': 'w1')",
    "numbers": "a row of 4 numbers",
    "both": r"(a token of strings with 4 numbers|tuple \('w1', 'c1'\))",
}
"""What it calls a token of prediction."""

ANOTHER_KIND = r"X(_val)?: sequence 0, position 0: expected .*{0}.*, got {1}"
"""What was trained on one family reads no other."""

READ = "X: .*: the templates read column 1,"
SHARDS = (
    rf"shard 1: (its \w+ are not of the kinds? of those of shard 0|features|{READ})"
)
"""Shards have one set of features: all dense, or all sparse."""

NO_WORDS = r"expected a token of the type str, got (list|dict)|tokens are rows of numbers already; {} "
NO_NUMBERS = "expected a row of numbers, got (str|tuple|list|dict|a token of strings)"

NEEDS = {
    "adapt": (
        "words columns both",
        "there is nothing to adapt: (ready-made features|rows of numbers) have no",
    ),
    "token_vectorizer": (
        "words columns features both",
        NO_WORDS.format("TokenVectorizer"),
    ),
    "word_vectors": ("words columns", NO_WORDS.format("WordVectors")),
    "union_of_vectors": (
        "words columns",
        NO_WORDS.format(r"(TokenVectorizer|WordVectors)"),
    ),
    "window": ("numbers", NO_NUMBERS),
    "passthrough": ("numbers", NO_NUMBERS),
}
"""Verb -> the families that it can learn from, and what it says of others."""

ALIKE = {"word_vectors": {"words", "columns"}, "token_vectorizer": {"columns", "both"}}
"""Verb -> families of which it reads the same: the first column; the strings."""

EMPTY = r"(X|X_val|X and y) (are|is empty|holds no token).* at least one sequence"
LEARN_FROM_IT = (
    "fit partial_fit warm_start save_and_load adapt score search size_curve"
).split()
"""Verbs that need a token; a shard that has none takes no part."""

NAMED = "frames of|table of|union"
"""Kinds whose columns have names."""

OTHER_COLUMNS = {
    "fewer columns": "has (3|1) columns?, expected|has 1 column: tuple|type tuple as in training, got str",
    "more columns": "has (5|3) columns, expected",
    "swapped columns": "^$",
}
"""What says that columns are others than in training, where they have no names."""

OTHER_NAMES = r"columns (of strings )?are [\w, ]+(; trained on|, expected)|names differ from those of training: "
MISSING = "columns are missing: |[Cc]olumn names? (is|are) not (a )?columns? of"
"""What a ``ColumnTransformer`` says of frames itself."""

OTHER_SHARD = "shard 1: .*(columns|names|templates)"
WHOLE = "token_transformer by_sequence token_predictions union".split()
"""Verbs by which scikit-learn sees all columns."""

BY_NAME = "token_transformer by_sequence token_predictions".split()
"""Verbs by which a ``ColumnTransformer`` finds the columns of frames itself."""


def sparsity(kind):
    """Whether rows of numbers are dense, sparse, or partly so."""
    return (
        "sparse"
        if re.search("CSR|sparse", kind)
        else "both"
        if kind == "union"
        else "dense"
    )


def refusal(verb, training, prediction):
    """(why a cell is refused, the pattern of the message), or None."""
    family, other = KINDS[training], KINDS[prediction]
    families, pattern = NEEDS.get(verb, (family, None))
    if family == other or {family, other} == ALIKE.get(verb):
        if family not in families.split():
            return "nothing to learn from", pattern
        if verb in ("fit_shards", "shards_of_crf") and sparsity(training) != sparsity(
            prediction
        ):
            return "shards", SHARDS
        return None
    if verb in ("fit_shards", "shards_of_crf"):
        return "shards", SHARDS
    kind = ANOTHER_KIND.format(TRAINED_ON[family], GOT[other])
    if verb in WHOLE:
        kind += f"|{OTHER_NAMES}|{MISSING}|sequence 0 has . columns?, expected . as in training"
    return "another kind", kind if pattern is None else f"{kind}|{pattern}"


def other_columns(verb, kind, form):
    """The pattern of the message for other columns than in training, or None if they do
    not matter.
    """
    family = KINDS[kind]
    whole = verb in WHOLE
    if form == "more columns":  # templates read the first ones
        if (
            family == "columns"
            and not whole
            or family == "both"
            and (whole or verb == "token_vectorizer")
        ):
            return None
    elif (
        form == "fewer columns"
        and verb == "word_vectors"
        or form == "swapped columns"
        and verb in BY_NAME
    ):
        if family == ("columns" if verb == "word_vectors" else "both"):
            return None
    if verb in ("fit_shards", "shards_of_crf"):
        return OTHER_SHARD
    if whole and family == "both" and form == "fewer columns":
        return MISSING
    return f"{OTHER_COLUMNS[form]}|{OTHER_NAMES}"


# -- the cells -------------------------------------------------------------------------
def outcome(verb, cell):
    """(what a verb found, None) or (None, its error)."""
    try:
        return repr(plain(VERBS[verb](cell))), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


@functools.cache
def expected(verb, family, folder, part="new"):
    """What the plain lists give."""
    found, error = outcome(verb, Cell(PLAIN[family], PLAIN[family], folder, part))
    assert error is None, error
    return found


def wrong(cell, verb, pattern, part="new"):
    """What is wrong with a cell, or None; ``pattern`` is that of its error, if it is to
    have one.
    """
    found, error = outcome(verb, cell)
    if pattern is not None:
        return (
            "accepted"
            if error is None
            else None
            if re.search(pattern, error)
            else error
        )
    if error is not None:
        return error
    return (
        None
        if found == expected(verb, cell.family, cell.folder, part)
        else "another result"
    )


def wrong_pair(verb, training, prediction, folder):
    refused = refusal(verb, training, prediction)
    return wrong(Cell(training, prediction, folder), verb, refused and refused[1])


def faults(found):
    """Of {cell: what is wrong with it, or None} the cells with which something is."""
    return {cell: what for cell, what in found.items() if what}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kinds")


def cells(*lists, kinds=ORDINARY, there=lambda *cell: True):
    """Parameters, of cells that are there; what is of one family is for one worker,
    which fits its models once.
    """
    return [
        pytest.param(
            kind, *others, marks=pytest.mark.xdist_group(f"kinds-{KINDS[kind]}")
        )
        for kind in kinds
        for others in itertools.product(*lists)
        if there(kind, *others)
    ]


ALIKE_READERS = set(
    "decision_function predict_kbest predict_allowed predict_marginals predict_posterior "
    "sequence_log_proba score second_order crf average compress".split()
)
"""Verbs that read both corpora just as ``predict`` does, by one function."""


def held(cell):
    """What a cell tries: a verb with a family; and a kind with a way of reading."""
    kind, verb = cell
    reader = "as predict" if verb in ALIKE_READERS else verb
    return {(KINDS[kind], verb), (kind, reader)}


THEMSELVES = [*itertools.product(ORDINARY, VERBS)]
COVER = {THEMSELVES[k] for k in cover(THEMSELVES, held)}


@pytest.mark.parametrize(
    "kind, verb",
    slow_beyond(
        COVER,
        THEMSELVES,
        lambda kind, verb: pytest.mark.xdist_group(f"kinds-{KINDS[kind]}"),
    ),
)
def test_a_kind_with_itself(kind, verb, folder):
    assert wrong_pair(verb, kind, kind, folder) is None


@pytest.mark.parametrize(
    "kind, verb", cells(["predict", "partial_fit", "fit_shards", "window"])
)
def test_ordinary_pairs(kind, verb, folder):
    found = {other: wrong_pair(verb, kind, other, folder) for other in ORDINARY}
    assert faults(found) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind, verb", cells(VERBS, kinds=KINDS))
def test_all_pairs(kind, verb, folder):
    others = [kind] if verb in ALONE else KINDS
    found = {other: wrong_pair(verb, kind, other, folder) for other in others}
    assert faults(found) == {}


def test_how_many_cells_are_refused():
    pairs = itertools.product(set(VERBS) - ALONE, ORDINARY, ORDINARY)
    reasons = collections.Counter((refusal(*pair) or ["none"])[0] for pair in pairs)
    assert reasons == {
        "none": 4776,
        "another kind": 12336,
        "shards": 780,
        "nothing to learn from": 500,
    }


def test_every_kind_meets_every_way_of_reading():
    tried = set().union(*map(held, COVER))
    assert tried == set().union(*map(held, THEMSELVES))
    assert ALIKE_READERS < {*VERBS}


ELSEWHERE = {"forgetting", "predict_segment_proba", "render", "thresholds_for"}
"""They need a learner, a scheme or spans; one draws."""


def test_every_verb_that_takes_a_corpus_has_a_column():
    models = StructuredPerceptron, L1CRF, CalibratedTagger
    given = [
        getattr(each, name)
        for each in models
        for name in dir(each)
        if not name.startswith("_")
    ]
    given += [getattr(inspection, name) for name in inspection.__all__]
    reading = {
        f.__name__
        for f in given
        if inspect.isroutine(f) and "X" in inspect.signature(f).parameters
    }
    assert reading - {*VERBS} == ELSEWHERE
    steps = {name.replace("_", "") for name in VERBS} | {"sequenceunion"}
    assert {
        name.lower()
        for name in features.__all__
        if hasattr(getattr(features, name), "transform")
    } <= steps


# -- corpora without tokens, and other columns -----------------------------------------
FEW = (
    "partial_fit fit_shards predict predict_marginals explain report token_transformer token_vectorizer union"
).split()
AMOUNTS = [
    pytest.param(FEW, id="few"),
    pytest.param([*VERBS], marks=pytest.mark.slow, id="all"),
]


NOTHING_TO_SCORE = {
    ("report", "only empty ones"),
    ("errors", "only empty ones"),
    ("errors", "none"),
}
"""Verbs that compare with gold labels, and corpora that have none."""


def learns(kind, amount):
    """Those of some verbs that a kind can be given to, but for those that see no other
    corpus.
    """
    return [
        verb
        for verb in amount
        if verb not in ALONE and refusal(verb, kind, kind) is None
    ]


def may_be_empty(kind, part):
    """Whether there is such a corpus."""
    return part == "none" or not (
        kind.startswith("table") or (kind, part) == ("3-D", "empty ones")
    )


@pytest.mark.parametrize("verbs", AMOUNTS)
@pytest.mark.parametrize(
    "kind, part",
    cells(["none", "empty ones", "only empty ones"], there=may_be_empty),
)
def test_nothing_and_empty_sequences(kind, part, verbs, folder):
    found = {}
    for verb in learns(kind, verbs):
        needs = (
            part != "empty ones"
            and verb in LEARN_FROM_IT
            or (verb, part) == ("report", "none")
        )
        expected = EMPTY if needs else None
        if (verb, part) in NOTHING_TO_SCORE:
            expected = "there is nothing to score"
        found[verb] = wrong(Cell(kind, kind, folder, part), verb, expected, part)
    assert faults(found) == {}


def has_columns(kind, form):
    """Whether a kind has columns, and names of them where that matters."""
    named = form != "swapped columns" or re.match(NAMED, kind)
    return KINDS[kind] not in ("words", "features") and named


@pytest.mark.parametrize("verbs", AMOUNTS)
@pytest.mark.parametrize("kind, form", cells(OTHER_COLUMNS, there=has_columns))
def test_other_columns(kind, form, verbs, folder):
    found = {}
    # The templates of `adapt` read the first column; a sequence of a matrix is an
    # array, which has no names.
    other = {"adapt"} | (
        {"explain", "features_of"}
        if re.match("table of numbers|union", kind)
        else set()
    )
    for verb in learns(kind, verbs):
        if verb not in other:
            found[verb] = wrong(
                Cell(kind, kind, folder, "new", form),
                verb,
                other_columns(verb, kind, form),
            )
    assert faults(found) == {}
