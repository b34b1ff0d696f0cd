"""``skstruct check``: find labels of a corpus that are probably wrong.

Say what FILE holds and all that is wrong in it; exit with 1 if training would refuse it.
Then train a tagger on parts of the corpus, and let it judge the others. Print what is
suspicious, by kind: how probable an error is, place, given label, suggested label, the
token in [ ] among others, and the kind. Of annotated texts these are whole spans,
missing ones too; - stands for no span.
"""

from __future__ import annotations

import argparse
import json
import shlex
import warnings
from typing import TYPE_CHECKING, Any

from .._data.places import counted
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
from .corpus import first_file, locating, read_files, read_sound_records
from .faults import Problem, faults_of, unreadable
from .first_record import tell_understood
from .held_out import documents_of
from .learners import add_features, add_learner, features_of, new_model, task_of
from .options import THREADS, add_corpus, add_options, same_options
from .targets import add_output, output, printed_beside

if TYPE_CHECKING:
    from ..inspection import Finding, Findings
    from .common import Arguments
    from .corpus import Corpus


WRITTEN = "html", "jsonl", "prodigy", "label-studio"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_corpus(parser)
    add(
        "--top",
        type=positive,
        default=50,
        metavar="N",
        help="how many to print and write",
    )
    add(
        "--json",
        action="store_true",
        help="print a JSON object a line",
    )
    what = "write a page of HTML, or what --write says"
    add_output(parser, "--output", "-o", help=what)
    what = (
        "of annotated texts also those with issues, with the spans suggested, for a "
        "person to review"
    )
    add("--write", choices=WRITTEN, default="html", help=what)
    add("--n-jobs", type=n_jobs, metavar="N", help=THREADS)
    add_options(parser)
    group = parser.add_argument_group("learning")
    several = checked_type(int, lambda n: n >= 2, "an int of at least 2")
    group.add_argument("--cv", type=several, default=5, metavar="N", help="parts")
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
        model = new_model(arguments, features_of(arguments), layout.format)
        if layout.format != "spans" and arguments.write != "html":
            arguments.usage_error("--write is for annotated texts")
        if layout.format == "spans":
            corpus, readings = read_sound_records(arguments, source, layout)
            for name, reading in readings:
                tell(f"{name}: {reading.contents.summary()}")
        else:
            corpus, readings = read_files(arguments, source, layout), []
    what = {"segmented": "line", "spans": "text"}.get(layout.format, "sentence")
    if corpus.X:
        tell_understood(corpus, counted(len(corpus.X), what))
    faults = [fault for each in readings for fault in unreadable(*each)]
    faults += faults_of(corpus, getattr(model, "overlap", "error"))
    _tell_faults(faults, arguments)
    if any(fault.refused for fault in faults):
        return 1
    if not corpus.X:
        raise CommandError(f"{corpus.name}: there is no annotated text in it")
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
        f"{counted(refused, 'fault')} that training refuses, listed with "
        "their places: mend them, and check again"
    )


def _findings(model: Any, corpus: Corpus, arguments: Arguments) -> Findings:
    """Find what is probably wrong."""
    try:
        with locating(corpus.name, corpus.places), warnings.catch_warnings():
            if corpus.format == "spans":
                _tell_moves(model, corpus)
                warnings.filterwarnings(
                    "ignore", ".*do not end where tokens do"
                )  # of each fold
            documents, known = documents_of(corpus)
            _check_parts(corpus, arguments.cv, documents if known else corpus.X, known)
            return label_issues(
                model,
                corpus.X,
                corpus.y,
                cv=arguments.cv,
                groups=documents if known else None,
                n_jobs=arguments.n_jobs,
                places=corpus.where,
            )
    except TypeError as error:  # it labels no tokens
        raise CommandError(f"--algorithm {arguments.algorithm}: {error}") from None


def _check_parts(corpus: Corpus, cv: int, units: Any, known: bool) -> None:
    """Raise unless each part of the corpus, which others judge, holds something."""
    n = len(set(units)) if known else len(units)
    if n >= cv:
        return
    unit = "text" if corpus.format == "spans" else "sentence"
    remedy = f"; --cv {n} makes as many" if n > 1 else ": others judge each part"
    raise CommandError(
        f"{corpus.name}: {counted(n, 'document' if known else unit)} for --cv {cv} "
        f"parts{remedy}"
    )


def _tell_findings(findings: Findings, corpus: Corpus, arguments: Arguments) -> None:
    """Print the first findings by kind, and write them."""
    of_spans = corpus.format == "spans"
    what, of = ("span", "text") if of_spans else ("label", "sequence")
    shown = findings[: arguments.top]
    text = (
        f"{corpus.name}: {counted(len(shown), what)} of "
        f"{counted(len(corpus.X), of)} may be wrong"
    )
    if shown:
        text += f"; expect {about(shown.expected())} of them to be errors"
    if len(shown) < len(findings):
        rest = findings[len(shown) :]
        text += f"; {len(rest):,} more, with {about(rest.expected())} errors, "
        text += "are less suspicious (--top lists them)"
    tell(text)
    by_kind = shown.by_kind()
    if len(by_kind) > 1:
        listed = (
            f"{kind} {len(of_kind)} ({about(sum(x.chance or 0 for x in of_kind))})"
            for kind, of_kind in by_kind.items()
        )
        tell(f"by kind, with the errors to expect: {', '.join(listed)}")
    if arguments.output is not None:
        with output(arguments.output) as file:
            if arguments.write == "html":
                file.write(shown.to_html(f"{corpus.name}: what may be wrong"))
            else:
                _write_tasks(file, shown, corpus, arguments.write)
    with printed_beside(arguments.output):
        for each in [finding for of_kind in by_kind.values() for finding in of_kind]:
            _print(each, corpus, arguments.json)
    _tell_next(findings, corpus, arguments)


def _print(each: Finding, corpus: Corpus, as_json: bool) -> None:
    """Print a finding, as a line of cells or of JSON."""
    lines = corpus.places[each.sequence]
    place: dict[str, Any]
    if corpus.format == "spans":
        covered = corpus.X[each.sequence][each.start : each.end]
        place = {"record": lines, "text": covered}
        where = f"{each.where}, {each.start}-{each.end}"
        numbers = {"number": each.where.record, "id": each.where.id}
    else:
        where, place = _place_of_token(each, lines, corpus)
        numbers = {}
    if as_json:
        about = {**each._asdict(), "context": each.text, **place, **numbers}
        about |= {"file": about.pop("where").file or corpus.name}
        print(json.dumps(about, ensure_ascii=False, default=str))
        return
    value = each.score if each.chance is None else each.chance
    labels = f"{named(each.given)}\t{named(each.suggested)}"
    print(f"{value:.3f}\t{where}\t{labels}\t{each.text}\t{each.kind}")


def _place_of_token(
    each: Finding, lines: Any, corpus: Corpus
) -> tuple[str, dict[str, Any]]:
    """Say where a token stands, for people and as values of JSON."""
    if isinstance(lines, str):  # of a record
        return f"{lines}, token {each.position}", {"record": lines}
    line = lines[0] if corpus.format == "segmented" else lines[each.position]
    return f"{corpus.name}, line {line}", {"line": line}


def _tell_next(findings: Findings, corpus: Corpus, arguments: Arguments) -> None:
    """Say which command follows."""
    files = " ".join(map(shlex.quote, arguments.files))
    same = same_options(arguments)
    if corpus.format != "spans" or not findings:
        tell(f"next: skstruct train {files} --model MODEL{same}")
    elif arguments.output is None or arguments.write == "html":
        tell(
            f"next: skstruct check {files} --write label-studio --output tasks.json "
            f"makes tasks of them, for a person to review{same}"
        )
    else:
        tell(
            f"next: review {arguments.output}, and learn what comes back: skstruct "
            f"train {files} REVIEWED --model MODEL{same}"
        )


def _write_tasks(file: Any, findings: Findings, corpus: Corpus, format: str) -> None:
    """Write the texts of findings, the most suspicious first, with their spans as
    suggested.
    """
    of_text: dict[int, list[Finding]] = {}
    for finding in findings:
        of_text.setdefault(finding.sequence, []).append(finding)
    spans = [corrected(corpus.y[i], found) for i, found in of_text.items()]
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
