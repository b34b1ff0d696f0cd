"""Spans of raw text: F1 of layouts, alignment and pieces, calibration, and time and
memory of prediction.

CoNLL-2002 Spanish as text: letters that were encoded twice are repaired, tokens are
joined as Spanish is written, and a sentence is a line of its document. F1 counts spans
whose start, end and label are right; every figure is a mean over seeds.
"""

import argparse
import multiprocessing
import pathlib
import random
import statistics
import sys
import tempfile
import textwrap
import time
import warnings

import skstruct
from benchmarks.common import load_esp, table
from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._data.text import tokenized
from skstruct.schemes import labels_to_spans

_TIGHT_BEFORE = set(",.;:?!)]}%»…")  # no space before these
_TIGHT_BEHIND = set("([{¿¡«")  # nor behind these


# --------------------------------------------------------------------------------------
# Corpora
# --------------------------------------------------------------------------------------
def repaired(token):
    """The token as it was before its bytes were taken for Latin-1."""
    try:
        return token.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return token


def detokenized(sentences):
    """A text with a sentence a line, and its spans, from sentences of (tokens,
    labels).
    """
    text, spans = [], []
    length = 0
    for tokens, labels in sentences:
        places, quoted, tight = [], False, True
        for token in map(repaired, tokens):
            closing = token == '"' and quoted
            if not (tight or closing or token[0] in _TIGHT_BEFORE):
                text.append(" ")
                length += 1
            places.append((length, length + len(token)))
            text.append(token)
            length += len(token)
            quoted ^= token == '"'
            tight = token[-1] in _TIGHT_BEHIND or (token == '"' and quoted)
        spans += [
            (places[a][0], places[b - 1][1], kind)
            for a, b, kind in labels_to_spans(labels, "BIO")
        ]
        text.append("\n")
        length += 1
    return "".join(text), spans


def load_texts(part):
    """Documents as texts, and their spans; a dash alone follows the first line of
    each.
    """
    sentences = list(zip(*load_esp(part)))
    starts = [i for i in range(len(sentences) - 1) if sentences[i + 1][0] == ["-"]] or [
        0
    ]
    starts[0] = 0
    documents = [sentences[a:b] for a, b in zip(starts, [*starts[1:], len(sentences)])]
    X, y = zip(*map(detokenized, documents))
    return list(X), list(y)


def moved(X, y, share, seed):
    """Spans of which a share is cut inside of a word, reaches into the next, or takes
    white space along.
    """
    rng, out = random.Random(seed), []
    for text, spans in zip(X, y):
        new, behind = [], 0
        for k, (start, end, label) in enumerate(spans):
            limit = spans[k + 1][0] if k + 1 < len(spans) else len(text)
            how = rng.choice(("cut", "reach", "both")) if rng.random() < share else ""
            if how in ("cut", "both") and end - start > 3:
                start, end = (
                    (start + 1, end) if rng.random() < 0.5 else (start, end - 1)
                )
            if how in ("reach", "both"):
                end = min(limit, end + 2)
            new.append((max(start, behind), end, label))
            behind = end
        out.append(new)
    return out


def wrapped(text, spans, width):
    """The text with lines no longer than ``width``, and a blank line where there was a
    line break.
    """
    lines = text.split("\n")
    out, new = list(text), []
    at = 0
    for line in lines:
        place = at
        for part in textwrap.wrap(
            line, width, drop_whitespace=False, break_on_hyphens=False
        )[:-1]:
            place += len(part)
            if out[place - 1] == " ":
                out[place - 1] = "\n"
        at += len(line) + 1
    # A line end becomes a blank line: every character behind it moves by one.
    before = [0]
    for c in text:
        before.append(before[-1] + (c == "\n"))
    result = "".join(
        "\n\n" if c == "\n" and text[k] == "\n" else c for k, c in enumerate(out)
    )
    new = [(a + before[a], b + before[b], label) for a, b, label in spans]
    return result, new


def one_line(text, spans):
    """The text on one line."""
    return text.replace("\n", " "), spans


def half(text, spans, annotated):
    """The spans of the first half of the lines; the rest is not annotated, or as if it
    held nothing.
    """
    lines = text.split("\n")
    end = len("\n".join(lines[: (len(lines) + 1) // 2]))
    kept = [span for span in spans if span[1] <= end]
    return kept if annotated else [*kept, (end, len(text), None)]


# --------------------------------------------------------------------------------------
# Figures
# --------------------------------------------------------------------------------------
def perceptron(seed):
    """The default tagger."""
    return StructuredPerceptron(random_state=seed)


def average(seed):
    """An average of five."""
    return BaggingShuffleAverager(StructuredPerceptron(), random_state=seed)


def mean_f1(train, test, seeds, tagger=perceptron, **parameters):
    """Mean F1 over the seeds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [
            SpanTagger(tagger(s), **parameters).fit(*train).score(*test)
            for s in range(seeds)
        ]
    return statistics.fmean(scores)


def defaults(train, test, seeds):
    """What layout, tokens and schemes do."""
    cases = {
        "`SpanTagger()`": {},
        "`layout=False`": {"layout": False},
        '`scheme="BIO"`': {"scheme": "BIO"},
        "split at white space": {"tokenizer": r"\S+"},
    }
    for name, parameters in cases.items():
        reachable = SpanTagger(**parameters).alignment_report(*train).reachable
        yield (
            name,
            f"{reachable:.1%}",
            f"{mean_f1(train, test, seeds, **parameters):.4f}",
        )


def alignment(train, test, seeds, share=0.15):
    """What the ways to align do where spans are moved; the last leaves these spans
    out.
    """
    X, y = train
    shifted = X, moved(X, y, share, 0)
    cases = {
        f'align="{align}"': align
        for align in ("nearest", "expand", "unknown", "contract")
    }
    for name, align in cases.items():
        yield (
            name,
            f"{mean_f1(shifted, test, seeds, average, align=align, overlap='longest'):.4f}",
        )
    off = {
        (text, position)
        for text, position, *_ in SpanTagger().alignment_report(*shifted).moves
    }
    left = [
        [s for k, s in enumerate(spans) if (i, k) not in off]
        for i, spans in enumerate(shifted[1])
    ]
    yield "moved spans left out", f"{mean_f1((X, left), test, seeds, average):.4f}"


def pieces(train, test, seeds):
    """What pieces do for text on wrapped lines, for documents on one line, for half
    annotated ones.
    """

    def as_(change, data):
        X, y = zip(*(change(text, spans) for text, spans in zip(*data)))
        return list(X), list(y)

    hard = [
        as_(lambda text, spans: wrapped(text, spans, 72), data)
        for data in (train, test)
    ]
    flat = [as_(one_line, data) for data in (train, test)]
    for how in ("auto", "lines"):
        yield (
            f'wrapped at 72, pieces="{how}"',
            f"{mean_f1(*hard, seeds, pieces=how):.4f}",
        )
    for length in (None, 1000, 200, 50):
        yield (
            f"a document a line, max_length={length}",
            f"{mean_f1(*flat, seeds, max_length=length):.4f}",
        )
    for annotated in (False, True):
        y = [half(text, spans, annotated) for text, spans in zip(*train)]
        name = "as if empty" if annotated else "None"
        yield (
            f"half annotated, the rest {name}",
            f"{mean_f1((train[0], y), test, seeds):.4f}",
        )


def calibration(train, test):
    """Mean probability of the predicted spans, minus the share that is right."""
    model = SpanTagger(CalibratedTagger(perceptron(0), random_state=0)).fit(*train)
    found = model.predict_segment_proba(test[0])
    right = [
        span in set(spans) for spans, each in zip(test[1], found) for span, _ in each
    ]
    yield (
        "mean probability",
        f"{statistics.fmean(p for each in found for _, p in each):.4f}",
    )
    yield "share right", f"{statistics.fmean(right):.4f}"


def speed(train, test, characters, repeat):
    """Processor time of the parts of ``predict``, as shares of the tagger's."""
    model = SpanTagger(perceptron(0)).fit(*train)
    texts = (test[0] * (characters // sum(map(len, test[0])) + 1))[:]
    while sum(map(len, texts)) > characters:
        texts.pop()
    rows = {"tokens": [], "labelled sequences": [], "tagger_.predict": [], "spans": []}
    for _ in range(repeat):
        marks = [time.process_time()]
        tokenized(texts)
        marks.append(time.process_time())
        ((part, _),) = model._parts(texts)
        sequences = part.sequences(model.layout)
        marks.append(time.process_time())
        labels = model.tagger_.predict(sequences)
        marks.append(time.process_time())
        model._spans(labels, part, range(len(labels)))
        marks.append(time.process_time())
        for row, a, b in zip(rows.values(), marks, marks[1:]):
            row.append(b - a)
    for name, seconds in rows.items():
        share = statistics.median(
            a / b for a, b in zip(seconds, rows["tagger_.predict"])
        )
        yield name, f"{statistics.median(seconds):.3f} s", f"{share:.2f}"


def memory(train, test, characters):
    """What ``predict`` takes at its peak, above what a process with model and texts
    takes.
    """
    texts = test[0] * (characters // sum(map(len, test[0])) + 1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model")
        SpanTagger(perceptron(0)).fit(*train).save(path, training=False)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            megabytes = pool.apply(_peak, (path, texts))
    yield f"{sum(map(len, texts)):,} characters", f"{megabytes:.0f} MB"


def _peak(path, texts):
    model = skstruct.load(path)
    model.predict(texts[:10])
    pathlib.Path("/proc/self/clear_refs").write_text(
        "5"
    )  # Linux: forget the peak so far
    before = _resident("VmRSS")
    model.predict(texts)
    return _resident("VmHWM") - before


def _resident(name):
    """A line of the memory of this process, in MB."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


PARTS = {
    "defaults": (defaults, ["", "reachable", "F1"]),
    "alignment": (alignment, ["15 % of the spans moved", "F1"]),
    "pieces": (pieces, ["", "F1"]),
}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--part", action="append", choices=[*PARTS, "calibration", "speed", "memory"]
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--characters", type=int, default=1_000_000)
    arguments = parser.parse_args()
    train, test = load_texts("train"), load_texts("test")
    chosen = arguments.part or [*PARTS, "calibration", "speed"]
    for name in chosen:
        print(f"\n{name}\n", flush=True)
        if name in PARTS:
            function, header = PARTS[name]
            table(header, function(train, test, arguments.seeds))
        elif name == "calibration":
            table(["", ""], calibration(train, test))
        elif name == "speed":
            table(
                ["", "processor time", "of the tagger's"],
                speed(train, test, arguments.characters, arguments.repeat),
            )
        else:
            table(["peak", ""], memory(train, test, arguments.characters))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
