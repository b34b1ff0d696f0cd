"""Planted errors found by `skstruct.inspection.label_issues`, and how many it says
there are.

Errors are planted at random (other types, other ends, spans left out, spans where there
are none; of tags other tags), or systematically: a third of the mentions of a string
gets one wrong type, ends lose one to three characters (in columns a word), a share of
the words of one shape is annotated, every second mention of a string is left out. The
invoices of `benchmarks.invoices` have errors of both sorts.

Of N errors planted, a share is found among the first N and 3 N findings; *expected* is
the sum of the chances, beside N. A corpus has errors of its own: *unspoilt* is the sum
without plants. All are means over seeds. Time is processor time, beside that of five fits. With ``--cleanlab`` its token
classification ranks the tokens by out-of-fold probabilities of the same model: of its
first 3 N tokens a share of the planted errors holds one.
"""

import argparse
import random
import re
import time
from collections import defaultdict

import numpy as np
from sklearn.base import clone

from benchmarks.common import corpus, load_conll2000, load_ewt, table
from benchmarks.invoices import Error, invoices
from skstruct import L1CRF, SpanTagger
from skstruct.datasets import columns_to_spans
from skstruct.inspection import label_issues, out_of_fold_marginals
from skstruct.schemes import labels_to_spans, spans_to_labels

KINDS = "other type", "other boundary", "missing", "superfluous"


def load_entities(language):
    """Words and entity labels of CoNLL-2002; words that were encoded twice are
    repaired.
    """
    sentences = [[]]
    text = corpus(f"conll2002-{language}/train.txt").read_text(encoding="utf-8")
    for line in text.split("\n"):
        *word, label = line.split(" ")
        if not line:
            sentences.append([])
        elif word[0] != "-DOCSTART-":
            sentences[-1].append((repaired("".join(word[:-1]).strip() or "_"), label))
    pairs = [list(zip(*sentence)) for sentence in sentences if sentence]
    return [list(x) for x, _ in pairs], [list(y) for _, y in pairs]


def repaired(word):
    """A word as it was before it was encoded a second time."""
    try:
        return "".join(word.encode("latin-1").decode("utf-8").split()) or "_"
    except UnicodeError:
        return "".join(word.split()) or "_"


def meets(span, others):
    """Whether a span shares a character with one of some others."""
    return any(span[0] < b and a < span[1] for a, b, *_ in others)


def shape(word):
    """Digits as 9, letters as A, Aa or a."""
    word = re.sub(r"\d+", "9", word)
    return re.sub(r"[^\W\d_]+", lambda m: "A" if m[0].isupper() else "Aa" if
                  m[0][0].isupper() else "a", word)  # fmt: skip


class Planter:
    """Plants errors into the spans of texts; ``errors`` has what is found where."""

    def __init__(self, X, y, seed, by_words=False):
        self.X = X
        self.y = [[tuple(span) for span in row] for row in y]
        self.draw = random.Random(seed)
        self.labels = sorted({label for row in y for *_, label in row})
        self.by_words = by_words  # cut words, not characters
        self.errors = []

    def _change(self, i, kind, old, new):
        if old is not None:
            self.y[i].remove(old)
        if new is not None:
            self.y[i] = sorted([*self.y[i], new])
        self.errors.append(Error(i, kind, new or old))

    def _spoilt(self, i):
        return [span for j, _, span in self.errors if j == i]

    def _spans(self):
        return [
            (i, span)
            for i, row in enumerate(self.y)
            for span in row
            if not meets(span, self._spoilt(i))
        ]

    def _words(self, i):
        return [match.span() for match in re.finditer(r"\S+", self.X[i])]

    def random(self, n):
        """Plant n errors, as many of each kind."""
        for k in range(n):
            while not self._one(KINDS[k % len(KINDS)]):
                pass
        return self

    def _one(self, kind):
        if kind == "superfluous":
            i = self.draw.randrange(len(self.X))
            words = self._words(i)
            t = self.draw.randrange(len(words))
            last = words[min(t + self.draw.choice([0, 0, 1]), len(words) - 1)]
            new = words[t][0], last[1], self.draw.choice(self.labels)
            is_word = any(map(str.isalnum, self.X[i][new[0] : new[1]]))
            free = is_word and not meets(new, self.y[i] + self._spoilt(i))
            return free and (self._change(i, kind, None, new) or True)
        i, old = self.draw.choice(self._spans())
        a, b, label = old
        if kind == "missing":
            new = None
        elif kind == "other type":
            others = [each for each in self.labels if each != label]
            new = a, b, self.draw.choice(others)
        else:
            words = self._words(i)
            inside = [t for t, (c, d) in enumerate(words) if c < b and a < d]
            first, last = inside[0], inside[-1]
            ways = [(words[t][0], b) for t in (first - 1, first + 1) if 0 <= t <= last]
            ways += [
                (a, words[t][1])
                for t in (last - 1, last + 1)
                if first <= t < len(words)
            ]
            rest = [span for span in self.y[i] if span != old] + self._spoilt(i)
            ways = [way for way in ways if not meets(way, rest)]
            if not ways:
                return False
            new = (*self.draw.choice(ways), label)
        self._change(i, kind, old, new)
        return True

    def systematic(self, n):
        """Plant about n errors of each kind."""
        mentions = defaultdict(list)
        for i, span in self._spans():
            text = self.X[i][span[0] : span[1]].casefold()
            mentions[text, span[2]].append((i, span))
        often = sorted(key for key, row in mentions.items() if 6 <= len(row) <= 30)
        self.draw.shuffle(often)
        for kind, every in ("other type", 3), ("missing", 2):
            before = len(self.errors)
            while often and len(self.errors) < before + n:
                key = often.pop()
                wrong = self.draw.choice([x for x in self.labels if x != key[1]])
                for i, span in mentions[key][1::every]:
                    new = None if kind == "missing" else (*span[:2], wrong)
                    self._change(i, kind, span, new)
        self._cut(n)
        self._annotate_shape(n)
        return self

    def _cut(self, n):
        """Take the ends of spans of the commonest type."""
        rows = self._spans()
        types = [span[2] for _, span in rows]
        common = max(self.labels, key=types.count)
        rows = [(i, span) for i, span in rows if span[2] == common]
        if self.by_words:
            rows = [(i, s) for i, s in rows if " " in self.X[i][s[0] : s[1]]]
        else:
            rows = [(i, s) for i, s in rows if s[1] - s[0] > 4]
        for i, span in self.draw.sample(rows, min(n, len(rows) // 4)):
            a, b, label = span
            if self.by_words:
                b = a + self.X[i][a:b].rindex(" ")
            else:
                b -= self.draw.choice([1, 2, 3])
            self._change(i, "other boundary", span, (a, b, label))

    def _annotate_shape(self, n):
        """Annotate a third of the words of a shape with digits or upper-case letters."""
        places = defaultdict(list)
        for i in range(len(self.X)):
            taken = self.y[i] + self._spoilt(i)
            for a, b in self._words(i):
                form = shape(self.X[i][a:b])
                if (
                    re.search("[9A]", form)
                    and "a" not in form
                    and not meets((a, b), taken)
                ):
                    places[form].append((i, a, b))
        often = sorted(form for form, row in places.items() if len(row) >= 9)
        row = places[self.draw.choice(often)]
        label = self.draw.choice(self.labels)
        for i, a, b in self.draw.sample(row, min(n, len(row) // 3)):
            self._change(i, "superfluous", None, (a, b, label))


class Case:
    """A corpus with planted errors, as spans of texts, or as labels of tokens."""

    def __init__(self, name, sort, model, X, y, errors, original=None):
        self.name, self.sort, self.model = name, sort, model
        self.X, self.y, self.errors, self.original = X, y, errors, original

    def row(self, cleanlab=False):
        """What is measured, by the names of `HEAD`; of each kind of error its share."""
        began = time.process_time()
        clone(self.model).fit(self.X, self.y)
        five_fits = 5 * (time.process_time() - began)
        began = time.process_time()
        found = label_issues(self.model, self.X, self.y)
        seconds = time.process_time() - began
        n = len(self.errors)
        kinds = sorted({error.kind for error in self.errors})
        unspoilt = None
        if self.original is not None:
            unspoilt = label_issues(self.model, self.X, self.original).expected()
        return {
            "corpus": self.name,
            "errors": self.sort,
            "planted": n,
            "in N": self._share(found[:n]),
            "in 3 N": self._share(found[: 3 * n]),
            "worst kind": {k: self._share(found[: 3 * n], k) for k in kinds},
            "expected": found.expected(),
            "unspoilt": unspoilt,
            "cleanlab in 3 N": self._share_of_cleanlab(3 * n) if cleanlab else None,
            "seconds": seconds,
            "five fits": five_fits,
        }

    def _share(self, findings, kind=None):
        """The share of the errors that are among some findings."""
        places = defaultdict(list)
        for each in findings:
            places[each.sequence] += [(each.start, each.end)]
            places[each.sequence] += [each.other] if each.other else []
        errors = [error for error in self.errors if kind in (None, error.kind)]
        return np.mean([meets(span, places[i]) for i, _, span in errors])

    def _share_of_cleanlab(self, most):
        """The same of the first tokens that cleanlab finds."""
        from cleanlab.token_classification.filter import find_label_issues

        marginals, classes = out_of_fold_marginals(self.model, self.X, self.y)
        column = {label: k for k, label in enumerate(classes.tolist())}
        given, tokens = self._labels()
        given = [
            [column.get(label, column.get("O", 0)) for label in row] for row in given
        ]
        full = [k for k, rows in enumerate(marginals) if len(rows)]
        ranked = find_label_issues(
            [given[k] for k in full], [np.asarray(marginals[k]) for k in full]
        )
        places = defaultdict(list)
        for k, t in ranked[:most]:
            places[full[k]].append(tokens[full[k]][t])
        return np.mean([meets(span, places[i]) for i, _, span in self.errors])

    def _labels(self):
        """Labels of tokens, and where these are."""
        if not isinstance(self.X[0], str):
            return self.y, [[(t, t + 1) for t in range(len(x))] for x in self.X]
        tokens = self.model.tokens(self.X)
        given = []
        for pairs, spans in zip(tokens, self.y):
            labels = ["O"] * len(pairs)
            for a, b, kind in spans:
                inside = [t for t, (c, d) in enumerate(pairs) if c < b and a < d]
                for t in inside:
                    ends = (t == inside[0]) + 2 * (t == inside[-1])
                    labels[t] = f"{'IBES'[ends]}-{kind}"
            given.append(labels)
        return given, tokens


def some(X, y, size, seed):
    """Consecutive sentences."""
    k = random.Random(seed).randrange(max(1, len(X) - size))
    return X[k : k + size], y[k : k + size]


def of_texts(name, X, y, sort, seed, rate):
    """A case of spans of texts."""
    X, y = columns_to_spans(X, y)
    planter = Planter(X, y, seed)
    plant(planter, sort, rate)
    model = SpanTagger(L1CRF(random_state=0))
    return Case(name, sort, model, X, planter.y, planter.errors, y)


def plant(planter, sort, rate):
    """Plant errors into a share of the spans, but at least twenty."""
    n = max(20, round(rate * sum(map(len, planter.y))))
    if sort == "random":
        planter.random(n)
    else:
        planter.systematic(n // 4)


def of_columns(name, X, y, sort, seed, rate):
    """A case of labels of tokens that are segments."""
    words = [[x if isinstance(x, str) else x[0] for x in row] for row in X]
    texts = [" ".join(row) for row in words]
    starts = [
        [0, *np.cumsum([len(word) + 1 for word in row]).tolist()] for row in words
    ]
    spans = [
        [(first[a], first[b] - 1, kind) for a, b, kind in labels_to_spans(row, "BIO")]
        for row, first in zip(y, starts)
    ]
    planter = Planter(texts, spans, seed, by_words=True)
    plant(planter, sort, rate)

    def tokens(i, span):
        first = starts[i]
        return first.index(span[0]), first.index(span[1] + 1), span[2]

    labels = [
        spans_to_labels([tokens(i, span) for span in row], len(words[i]), "BIO")
        for i, row in enumerate(planter.y)
    ]
    errors = [Error(i, kind, tokens(i, span)) for i, kind, span in planter.errors]
    return Case(name, sort, L1CRF(random_state=0), X, labels, errors, y)


def of_tags(name, X, y, sort, seed, rate):
    """A case of tags: other tags, as often as they occur."""
    draw = random.Random(seed)
    labels = [label for row in y for label in row]
    places = [(i, t) for i, row in enumerate(y) for t in range(len(row))]
    wrong = [list(row) for row in y]
    n = round(rate * len(places))
    errors = []
    if sort == "random":
        for i, t in draw.sample(places, n):
            wrong[i][t] = draw.choice([each for each in labels if each != y[i][t]])
            errors.append(Error(i, "other label", (t, t + 1)))
    else:
        mentions = defaultdict(list)
        for i, t in places:
            mentions[X[i][t], y[i][t]].append((i, t))
        often = sorted(key for key, row in mentions.items() if 6 <= len(row) <= 30)
        while len(errors) < n:
            key = often.pop(draw.randrange(len(often)))
            label = draw.choice(sorted({*labels} - {key[1]}))
            for i, t in mentions[key][1::3]:
                wrong[i][t] = label
                errors.append(Error(i, "other label", (t, t + 1)))
    return Case(name, sort, L1CRF(random_state=0), X, wrong, errors, y)


def of_invoices(seed, n=240):
    """A case of invoices."""
    X, y, errors = invoices(seed, n)
    model = SpanTagger(L1CRF(random_state=0))
    return Case("invoices", "both", model, X, y, errors)


def cases(size, seed, rate=0.03):
    """The corpora in both sorts."""
    for language in "esp", "ned":
        X, y = some(*load_entities(language), size, seed)
        for sort in "random", "systematic":
            yield of_texts(f"{language}, texts", X, y, sort, seed, rate)
            yield of_columns(f"{language}, columns", X, y, sort, seed, rate)
    X, y = some(*load_conll2000("train"), size, seed)
    for sort in "random", "systematic":
        yield of_columns("conll2000, columns", X, y, sort, seed, rate / 3)
    X, y = some(*load_ewt("train", ("weblog",)), size, seed)
    for sort in "random", "systematic":
        yield of_tags("ewt weblogs, tags", X, y, sort, seed, rate / 6)


HEAD = [
    "corpus", "errors", "planted", "in N", "in 3 N", "worst kind", "expected : planted",
    "unspoilt", "cleanlab in 3 N", "seconds, five fits",
]  # fmt: skip


def joined(rows):
    """The rows of one corpus and sort of errors as one of the table: means over seeds,
    and the range of the ratio of expected and planted errors.
    """

    def mean(name, digits=2):
        values = [row[name] for row in rows if row[name] is not None]
        return f"{np.mean(values):.{digits}f}" if values else ""

    kinds = {kind for row in rows for kind in row["worst kind"]}
    shares = [
        np.mean([r["worst kind"][kind] for r in rows if kind in r["worst kind"]])
        for kind in kinds
    ]
    ratios = sorted(row["expected"] / row["planted"] for row in rows)
    return [
        rows[0]["corpus"],
        rows[0]["errors"],
        mean("planted", 0),
        mean("in N"),
        mean("in 3 N"),
        f"{min(shares):.2f}",
        f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
        mean("unspoilt", 0),
        mean("cleanlab in 3 N"),
        f"{mean('seconds', 1)}, {mean('five fits', 1)}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="sentences")
    parser.add_argument("--seeds", type=int, default=1, help="of the corpora")
    parser.add_argument("--invoices", type=int, default=10, help="seeds of these")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--cleanlab", action="store_true")
    arguments = parser.parse_args()
    cleanlab = arguments.cleanlab
    if cleanlab:
        try:
            import cleanlab as _  # noqa: F401
        except ImportError:
            print("cleanlab is not installed: its column stays empty")
            cleanlab = False
    first = arguments.first
    every = [of_invoices(seed) for seed in range(first, first + arguments.invoices)]
    for seed in range(first, first + arguments.seeds):
        every += cases(arguments.size, seed)
    rows = defaultdict(list)
    for case in every:
        row = case.row(cleanlab)
        rows[case.name, case.sort].append(row)
        print(row, flush=True)
    table(HEAD, [joined(each) for each in rows.values()])


if __name__ == "__main__":
    main()
