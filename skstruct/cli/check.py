"""``skstruct check``: find labels of a corpus that are probably wrong.

Describe FILE and list its faults; exit with 1 if training would refuse it. Then train
taggers on parts of the corpus to judge the other parts, and print suspicious labels,
the most suspicious first: the probability of an error, its kind, the place, the given
and the suggested label, both with their text, and the context. In annotated texts, and
in columns with labels such as B-PER, these are whole spans, including missing ones.
"""

from __future__ import annotations

import argparse
import json
import shlex
import time
import warnings
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from .._data.elements import word_of
from .._data.nested import overlapping_pairs
from .._data.places import counted
from .._taggers.calibrated_tagger import TooFewSequences
from ..datasets.formats.span_writing import write_spans
from ..inspection import label_issues
from ..inspection.findings import about, named
from ..inspection.issues import corrected
from .common import (
    CommandError,
    check_inputs,
    checked_type,
    n_jobs,
    positive,
    tell,
    warn,
)
from .corpus import first_file, read_files, read_sound_records
from .document_keys import offered
from .faults import Problem, faults_of, unreadable
from .first_record import tell_understood
from .held_out import documents_of, tell_unnamed
from .input_files import tell_labels
from .learners import add_features, add_learner, features_of, new_model, task_of
from .located import locating
from .merging import without_corrected
from .options import THREADS, add_corpus, add_options, same_options
from .targets import add_output, output, printed_beside

if TYPE_CHECKING:
    from ..inspection import Finding, Findings
    from .common import Arguments
    from .corpus import Corpus


PILOT = 20
"""One in so many sequences is learned to say how long all of them take."""

FEWEST_IN_PILOT = 20

WRITTEN = "html", "jsonl", "prodigy", "label-studio"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_corpus(parser)
    add(
        "--top",
        type=positive,
        metavar="N",
        help=(
            "number of findings to print and write (default: the expected "
            "number of errors)"
        ),
    )
    add("--by-kind", action="store_true", help="print each kind of error separately")
    add(
        "--json",
        action="store_true",
        help="print one JSON object per line",
    )
    what = "file for an HTML page, or for the format of --write"
    add_output(parser, "--output", "-o", help=what)
    what = (
        "format of --output; for annotated texts also the texts with issues"
        " and suggested spans, for review"
    )
    add("--write", choices=WRITTEN, default="html", help=what)
    add("--n-jobs", type=n_jobs, metavar="N", help=THREADS)
    add_options(parser)
    group = parser.add_argument_group("learning")
    several = checked_type(int, lambda n: n >= 2, "an int of at least 2")
    group.add_argument(
        "--cv", type=several, default=5, metavar="N", help="number of parts"
    )
    add_features(group)
    add_learner(group, "l1crf")
    parser.set_defaults(
        **dict.fromkeys(("verbose", "search", "calibrate", "keep_training"), False),
        members=1,
        shards=1,
    )
    parser.set_defaults(**dict.fromkeys(("cluster", "stream", "dev", "recall")))


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    if arguments.output is None and arguments.write != "html":
        arguments.usage_error("--write needs --output")
    check_inputs(arguments.files, folders=True)
    with first_file(arguments, task_of(arguments)) as (source, layout):
        model = new_model(arguments, features_of(arguments), layout.kind)
        if not layout.kind.has_spans and arguments.write != "html":
            arguments.usage_error("--write is for annotated texts")
        if layout.kind.has_spans:
            corpus, readings = read_sound_records(arguments, source, layout)
            for name, reading in readings:
                tell(f"{name}: {reading.contents.summary()}")
            corpus = without_corrected(corpus)
        else:
            corpus, readings = read_files(arguments, source, layout), []
    what = layout.kind.record
    if corpus.X:
        tell_understood(corpus, counted(len(corpus.X), what))
        tell_labels(corpus)
    faults = [fault for each in readings for fault in unreadable(*each)]
    faults += faults_of(corpus, getattr(model, "overlap", "error"))
    _tell_faults(faults, arguments)
    if any(fault.refused for fault in faults):
        return 1
    if not corpus.X:
        raise CommandError(f"{corpus.name}: the file has no annotated text")
    findings = _findings(model, corpus, arguments)
    _tell_findings(findings, corpus, arguments)
    return None


def _tell_faults(faults: list[Problem], arguments: Arguments) -> None:
    """List all that is wrong with files: as the result, if training refuses them."""
    refused = sum(fault.refused for fault in faults)
    if not refused:
        for fault in faults:
            tell(f"note: {fault}")
        return
    for fault in faults:
        kind = "fault" if fault.refused else "note"
        if arguments.json:
            about = {kind: fault.problem, **fault.where._asdict()}
            print(json.dumps(about, ensure_ascii=False))
        else:
            print(f"{kind}\t{fault.where}\t{fault.problem}")
    tell(
        f"{counted(refused, 'fault')} that training refuses (listed with their "
        "places): correct them, and check again"
    )


def _findings(model: Any, corpus: Corpus, arguments: Arguments) -> Findings:
    """Find what is probably wrong."""
    try:
        with locating(corpus.name, corpus.places), warnings.catch_warnings():
            if corpus.kind.has_spans:
                _tell_moves(model, corpus)
                warnings.filterwarnings(
                    "ignore", ".*(do|does) not end where tokens do"
                )  # of each fold
            documents, known = documents_of(corpus)
            if not known and offered(corpus.said):
                tell_unnamed(corpus, known, "findings are fewer")
            _check_parts(corpus, arguments.cv, documents if known else corpus.X, known)
            _tell_time(model, corpus, arguments.cv)
            return label_issues(
                model,
                corpus.X,
                corpus.y,
                cv=arguments.cv,
                groups=documents if known else None,
                n_jobs=arguments.n_jobs,
                places=corpus.where,
            )
    except CommandError as error:
        if not isinstance(error.__cause__, TooFewSequences):
            raise
        n = counted(len(corpus.X), corpus.kind.sequence)
        raise CommandError(
            f"{corpus.name}: {n} are too few for probabilities of "
            f"--algorithm {arguments.algorithm}; -a l1crf has its own"
        ) from None
    except TypeError as error:  # it labels no tokens
        raise CommandError(f"--algorithm {arguments.algorithm}: {error}") from None


def _tell_time(model: Any, corpus: Corpus, cv: int) -> None:
    """Say how many models are trained, and for how long: as one on few sequences took."""
    n = len(corpus.X)
    text = f"{cv} models are trained, each without a part that it judges"
    rows = range(0, n, PILOT)
    if len(rows) >= FEWEST_IN_PILOT:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for some in (rows[:FEWEST_IN_PILOT], rows):  # the first one compiles
                    began = time.perf_counter()
                    X, y = ([of[i] for i in some] for of in (corpus.X, corpus.y))
                    clone(model).fit(X, y)
                    seconds = time.perf_counter() - began
            except ValueError:  # so few may lack what a model needs
                pass
            else:
                text += f": about {max(1, round(seconds * (cv - 1) * PILOT)):,} s"
    tell(text)


def _check_parts(corpus: Corpus, cv: int, units: Any, known: bool) -> None:
    """Raise unless each part of the corpus, which others judge, holds something."""
    n = len(set(units)) if known else len(units)
    if n >= cv:
        return
    unit = corpus.kind.sequence
    remedy = f"; --cv {n} makes as many" if n > 1 else ": others judge each part"
    raise CommandError(
        f"{corpus.name}: {counted(n, 'document' if known else unit)} for --cv {cv} "
        f"parts{remedy}"
    )


def _tell_findings(findings: Findings, corpus: Corpus, arguments: Arguments) -> None:
    """Print the first findings, and write them."""
    of = corpus.kind.record
    shown = findings.likely() if arguments.top is None else findings[: arguments.top]
    text = f"{corpus.name}: {about(findings.expected())} errors are expected"
    text += f" in {counted(len(corpus.X), of)}, {about(shown.expected())} of them"
    text += f" among the {len(shown):,} listed"
    if len(shown) < len(findings):
        text += f"; --top {len(findings)} lists all that a model rejects"
    tell(text)
    by_kind = findings.by_kind()
    if len(by_kind) > 1:
        listed = (
            f"{kind} {about(sum(each.chance or 0.0 for each in of_kind))}"
            for kind, of_kind in by_kind.items()
        )
        tell(f"by kind: {', '.join(listed)}")
    if arguments.output is not None:
        with output(arguments.output) as file:
            if arguments.write == "html":
                file.write(shown.to_html(f"{corpus.name}: what may be wrong"))
            else:
                _write_tasks(file, shown, corpus, arguments.write)
    if arguments.by_kind:
        rows = [each for of_kind in shown.by_kind().values() for each in of_kind]
    else:
        rows = list(shown)
    with printed_beside(arguments.output):
        if rows and not arguments.json:
            print("\t".join(HEADER))
        for each in rows:
            _print(each, corpus, arguments.json)
    _tell_next(findings, corpus, arguments)


HEADER = "chance", "kind", "place", "given", "suggested", "context"
"""The cells of a row."""


def _print(each: Finding, corpus: Corpus, as_json: bool) -> None:
    """Print a finding, as a line of cells or of JSON."""
    lines = corpus.places[each.sequence]
    place: dict[str, Any]
    ends = each.other or (each.start, each.end)
    covered = _covered(corpus, each.sequence, each.start, each.end)
    instead = _covered(corpus, each.sequence, *ends)
    if corpus.kind.has_spans:
        where = str(each.where)
        place = {"record": lines, "number": each.where.record, "id": each.where.id}
    else:
        where, place = _place_of_tokens(each, lines, corpus)
    if as_json:
        about = {**each._asdict(), "context": each.text, **place}
        about |= {"text": covered, "suggested_text": instead}
        about |= {"file": about.pop("where").file or corpus.name}
        if each.suggested is None:
            about["suggested_text"] = None
        print(json.dumps(about, ensure_ascii=False, default=str))
        return
    value = each.score if each.chance is None else each.chance
    place_of = corpus.kind.has_spans
    given = _span_text(each.given, (each.start, each.end), covered, place_of)
    suggested = _span_text(each.suggested, ends, instead, place_of)
    if each.other is not None:
        suggested += f" ({_change(each)})"
    cells = f"{value:.3f}", each.kind, where, given, suggested, each.text
    print("\t".join(" ".join(cell.split()) for cell in cells))


def _covered(corpus: Corpus, i: int, start: int, end: int) -> str:
    """Return the characters, or the words, between two positions."""
    sequence = corpus.X[i][start:end]
    if isinstance(sequence, str):
        return sequence
    return " ".join(str(word_of(token)) for token in sequence)


def _span_text(label: Any, ends: tuple[int, int], covered: str, places: bool) -> str:
    """Write a span with its text, and with its place in the text if asked."""
    if label is None:
        return "no span"
    place = f"{ends[0]}-{ends[1]} " if places else ""
    return f"{place}{json.dumps(covered, ensure_ascii=False)} {named(label)}"


def _change(each: Finding) -> str:
    """Say how the ends of a span that is suggested differ from those given."""
    assert each.other is not None  # or nobody asks
    start, end = each.other
    if start <= each.start and each.end <= end:
        return "wider"
    return "narrower" if each.start <= start and end <= each.end else "moved"


def _place_of_tokens(
    each: Finding, lines: Any, corpus: Corpus
) -> tuple[str, dict[str, Any]]:
    """Say where tokens stand, for people and as values of JSON."""
    if isinstance(lines, str):  # of a record
        return f"{lines}, token {each.position}", {"record": lines}
    first, last = (
        lines[t] if t < len(lines) else lines[0]  # one sentence per line
        for t in (each.start, each.end - 1)
    )
    words = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"{corpus.name}, {words}", {"line": first, "last_line": last}


def _tell_next(findings: Findings, corpus: Corpus, arguments: Arguments) -> None:
    """Say which command follows."""
    files = " ".join(map(shlex.quote, arguments.files))
    same = same_options(arguments)
    if not corpus.kind.has_spans or not findings:
        tell(f"next: skstruct train {files} --model MODEL{same}")
    elif arguments.output is None or arguments.write == "html":
        tell(
            f"next: skstruct check {files} --write label-studio --output tasks.json "
            f"writes them as tasks for review{same}"
        )
    else:
        tell(
            f"next: review {arguments.output}, then skstruct train {files} REVIEWED "
            f"--model MODEL{same}"
        )


def _write_tasks(file: Any, findings: Findings, corpus: Corpus, format: str) -> None:
    """Write the texts of findings, the most suspicious first, with their spans as
    suggested.
    """
    of_text: dict[int, list[Finding]] = {}
    for finding in findings:
        of_text.setdefault(finding.sequence, []).append(finding)
    nested = any(map(overlapping_pairs, corpus.y))
    spans = [corrected(corpus.y[i], found, nested) for i, found in of_text.items()]
    metadata = [_about(corpus, i, found) for i, found in of_text.items()]
    write_spans(file, [corpus.X[i] for i in of_text], spans, format, metadata=metadata)


def _about(corpus: Corpus, i: int, found: list[Finding]) -> dict[str, Any]:
    """Say of a task which text it is, so that it comes back with its name."""
    known = corpus.where[i]._asdict().items()
    about = {name: value for name, value in known if value is not None}
    kinds = sorted({finding.kind for finding in found})
    return {**about, "chance": found[0].chance, "suspected": ", ".join(kinds)}


def _tell_moves(model: Any, corpus: Corpus) -> None:
    """List the spans that do not end where tokens do."""
    for text, position, span, problem, result in model.alignment_report(
        corpus.X, corpus.y
    ).moves:
        becomes = "" if result is None else f", to {tuple(result)!r}"
        warn(
            f"{corpus.places[text]}: span {position}, {tuple(span)!r}: "
            f"{problem}{becomes}"
        )
