"""Planted errors found by `skstruct.inspection.label_issues`, and how many it says
there are.

Three in a hundred entities of Spanish and Dutch texts (CoNLL-2002, repaired) are made
wrong: a quarter gets another type, a quarter other ends, a quarter is left out, and as
many spans are added where there are none. A kind is found as far as its errors are
among three times as many findings of that kind. Real errors of the corpora count as
false alarms here.

With ``--cleanlab`` its token classification ranks the same labels, by out-of-fold
probabilities of the same model: of its tokens, three times as many as there are errors
of all kinds, a share lies in planted spans. With ``--tokens`` the labels of chunks are
replaced, as often as they occur.
"""

import argparse
import random
import re
import time

import numpy as np

from benchmarks.common import corpus, table
from skstruct import L1CRF, SpanTagger, StructuredPerceptron
from skstruct.datasets import columns_to_spans, load_chunking
from skstruct.inspection import label_issues, out_of_fold_marginals

KINDS = "other type", "other boundary", "missing", "superfluous"


def load(language):
    """Texts and spans; words that were encoded twice are repaired."""
    sentences = [[]]
    text = corpus(f"conll2002-{language}/train.txt").read_text(encoding="utf-8")
    for line in text.split("\n"):
        *word, label = line.split(" ")
        if not line:
            sentences.append([])
        elif word[0] != "-DOCSTART-":
            sentences[-1].append((repaired("".join(word[:-1]).strip() or "_"), label))
    pairs = [list(zip(*sentence)) for sentence in sentences if sentence]
    return columns_to_spans([list(x) for x, _ in pairs], [list(y) for _, y in pairs])


def repaired(word):
    """A word as it was before it was encoded a second time."""
    try:
        return "".join(word.encode("latin-1").decode("utf-8").split()) or "_"
    except UnicodeError:
        return "".join(word.split()) or "_"


class Planter:
    """Plants errors into the spans of texts; ``planted`` has (text, kind, what is found
    there).
    """

    def __init__(self, X, y, seed):
        self.X = X
        self.y = [[tuple(span) for span in row] for row in y]
        self.draw = random.Random(seed)
        self.labels = sorted({label for row in y for *_, label in row})
        self.planted = []

    def plant(self, rate):
        spans = [(i, span) for i, row in enumerate(self.y) for span in row]
        self.draw.shuffle(spans)
        for k in range(round(rate * len(spans))):
            kind = KINDS[k % len(KINDS)]
            made = None
            while made is None:
                i, span = self._free() if kind == "superfluous" else spans.pop()
                made = self._wrong(kind, i, span)
            old, new = made
            self.y[i] = sorted(
                [*(each for each in self.y[i] if each != old), *([new] if new else [])]
            )
            self.planted.append((i, kind, new or old))
        return self

    def _free(self):
        i = self.draw.randrange(len(self.X))
        words = [match.span() for match in re.finditer(r"\S+", self.X[i])]
        t = self.draw.randrange(len(words))
        last = words[min(t + self.draw.choice([0, 0, 1]), len(words) - 1)]
        return i, (words[t][0], last[1], self.draw.choice(self.labels))

    def _wrong(self, kind, i, span):
        """(the span that goes, the one that comes); None if there is no way."""
        a, b, label = span
        if kind == "missing":
            return span, None
        if kind == "other type":
            others = [each for each in self.labels if each != label]
            return span, (a, b, self.draw.choice(others))
        rest = [each for each in self.y[i] if each != span]
        if kind == "superfluous":
            lost = [s for j, _, s in self.planted if j == i]
            is_word = any(map(str.isalpha, self.X[i][a:b]))
            return (None, span) if is_word and not meets(span, rest + lost) else None
        words = [match.span() for match in re.finditer(r"\S+", self.X[i])]
        inside = [t for t, (c, d) in enumerate(words) if c < b and a < d]
        first, last = inside[0], inside[-1]
        ways = [(words[t][0], b) for t in (first - 1, first + 1) if 0 <= t <= last]
        ways += [
            (a, words[t][1]) for t in (last - 1, last + 1) if first <= t < len(words)
        ]
        ways = [(*way, label) for way in ways if not meets(way, rest)]
        return (span, self.draw.choice(ways)) if ways else None


def meets(span, others):
    """Whether a span shares a character with one of some others."""
    return any(span[0] < b and a < span[1] for a, b, *_ in others)


def counted(findings, planter):
    """By kind and for all (found, planted, expected)."""
    rows = {}
    for kind in (*KINDS, "all"):
        here = [p for p in planter.planted if kind in ("all", p[1])]
        listed = [f for f in findings if kind in ("all", f.kind)][: 3 * len(here)]
        found = sum(
            any(f.sequence == i and meets((f.start, f.end), [span]) for f in listed)
            for i, _, span in here
        )
        rows[kind] = found, len(here), sum(f.chance for f in listed)
    return rows


def of_cleanlab(model, planter):
    """How many planted errors are among three times as many tokens of cleanlab's, and
    how many there are.
    """
    from cleanlab.token_classification.filter import find_label_issues

    marginals, classes = out_of_fold_marginals(model, planter.X, planter.y)
    column = {label: k for k, label in enumerate(classes.tolist())}
    words = model.tokens(planter.X)
    given = []
    for pairs, spans in zip(words, planter.y):
        labels = ["O"] * len(pairs)
        for a, b, kind in spans:
            inside = [t for t, (c, d) in enumerate(pairs) if a <= c and d <= b]
            for t in inside:
                ends = (t == inside[0]) + 2 * (t == inside[-1])
                labels[t] = f"{'IBES'[ends]}-{kind}"
        given.append([column.get(label, column["O"]) for label in labels])
    full = [k for k, rows in enumerate(marginals) if len(rows)]
    ranked = find_label_issues(
        [given[k] for k in full], [np.asarray(marginals[k]) for k in full]
    )
    listed = [(full[k], words[full[k]][t]) for k, t in ranked]
    n = len(planter.planted)
    return sum(
        any(i == j and meets(token, [span]) for j, token in listed[: 3 * n])
        for i, _, span in planter.planted
    ), n


def spans(language, size, seeds, cleanlab):
    """A row of the table: shares found by kind, the number expected, cleanlab's
    share.
    """
    X, y = load(language)
    totals = {kind: np.zeros(3) for kind in (*KINDS, "all")}
    theirs = np.zeros(2)
    first_50 = np.zeros(2)
    seconds = []
    for seed in range(seeds):
        k = random.Random(1000 + seed).randrange(len(X) - size)
        planter = Planter(X[k : k + size], y[k : k + size], seed).plant(0.03)
        model = SpanTagger(L1CRF(random_state=0))
        began = time.process_time()
        findings = label_issues(model, planter.X, planter.y)
        seconds.append(time.process_time() - began)
        for kind, row in counted(findings, planter).items():
            totals[kind] += row
        top = findings[:50]
        right = [
            any(
                i == f.sequence and meets((f.start, f.end), [s])
                for i, _, s in planter.planted
            )
            for f in top
        ]
        first_50 += sum(right), top.expected()
        if cleanlab:
            theirs += of_cleanlab(model, planter)
    shares = [f"{found / n:.2f}" for found, n, _ in totals.values()]
    found, expected = first_50 / seeds
    share = f"{theirs[0] / theirs[1]:.2f}" if cleanlab else ""
    return [
        language, size, seeds, *shares, f"{expected:.1f}, {found:.1f}", share,
        f"{np.mean(seconds):.1f}",
    ]  # fmt: skip


def tokens(seeds):
    """Rows for labels of tokens: 30 that are replaced among the chunks of 162
    sentences.
    """
    X, y = load_chunking()
    every = [label for labels in y for label in labels]
    places = [(i, t) for i, labels in enumerate(y) for t in range(len(labels))]
    models = L1CRF(all_pairs=True, random_state=0), StructuredPerceptron(random_state=0)
    for model in models:
        found, expected = [], []
        for seed in range(seeds):
            draw = random.Random(seed)
            wrong = [list(labels) for labels in y]
            chosen = draw.sample(places, 30)
            for i, t in chosen:
                wrong[i][t] = draw.choice([each for each in every if each != y[i][t]])
            findings = label_issues(model, X, wrong)
            listed = {f[:2] for f in findings[:60]}
            found.append(len(listed & set(chosen)))
            expected.append(round(findings[:60].expected()))
        yield [
            type(model).__name__,
            " ".join(map(str, found)),
            " ".join(map(str, expected)),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 2000])
    parser.add_argument("--languages", nargs="+", default=["esp", "ned"])
    parser.add_argument("--cleanlab", action="store_true")
    parser.add_argument("--tokens", action="store_true")
    arguments = parser.parse_args()
    if arguments.tokens:
        table(["model", "found of 30 among 60", "expected"], tokens(arguments.seeds))
        return
    head = ["corpus", "texts", "plantings", *KINDS, "all", "first 50: expected, found"]
    rows = []
    for size in arguments.sizes:
        for language in arguments.languages:
            rows.append(spans(language, size, arguments.seeds, arguments.cleanlab))
            print(*rows[-1], flush=True)
    table([*head, "cleanlab", "processor s"], rows)


if __name__ == "__main__":
    main()
