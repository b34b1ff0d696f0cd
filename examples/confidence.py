"""
How sure is a tagger?
=====================

How sure is a tagger, and where should a person look?

``CalibratedTagger`` makes probabilities of a perceptron's scores. Three questions about
them:

1. Do they hold? Confidence against accuracy on text that neither the weights nor the
   temperature have seen: English tags and Spanish entities.
2. Which labels should a person check? The tagger labels all words; a person corrects
   the least sure.
3. Which sentences should a person label? Active learning: the tagger chooses those
   whose labellings it is least sure of (D. Lewis and W. Gale 1994, A sequential
   algorithm for training text classifiers, SIGIR; for sequences A. Culotta and A.
   McCallum 2005, Reducing labeling effort for structured prediction tasks, AAAI).

Run it with::

    python examples/confidence.py --plot figure.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

from statistics import mean

import numpy as np
from _study import DATA, claim, mean_and_spread, progress, study, table

from skstruct import CalibratedTagger, StructuredPerceptron
from skstruct.datasets import load_sample, read_columns, read_conllu
from skstruct.inspection import ReliabilityDisplay
from skstruct.metrics import (
    expected_calibration_error,
    reliability,
    segment_f1_score,
    sequence_log_loss,
)
from skstruct.schemes import labels_to_spans, spans_to_labels

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
"""Of the words, those that a person checks."""

STRATEGIES = {
    "random order": lambda log_p, n_words, random: random.uniform(size=len(log_p)),
    "least sure": lambda log_p, n_words, random: log_p,
    "least sure per word": lambda log_p, n_words, random: log_p / n_words,
}
"""What sentences are chosen by, lowest first."""


def tags(part):
    """Words and PTB tags of the five genres of EWT."""
    files = sorted((DATA / "ewt" / part).glob("*.conllu"))
    rows = [s for file in files for s in read_conllu(file, fields=("form", "xpos"))]
    return [[form for form, _ in s] for s in rows], [
        [tag for _, tag in s] for s in rows
    ]


def entities(part):
    """Words and entities of CoNLL-2002 Spanish; the few that begin with I are given
    their B.
    """
    rows = read_columns(DATA / "conll2002-esp" / f"{part}.txt")
    y = [[row[-1] for row in s] for s in rows]
    y = [
        spans_to_labels(labels_to_spans(labels, "BIO"), len(labels), "BIO")
        for labels in y
    ]
    return [[row[0] for row in s] for s in rows], y


def corpora(quick):
    """Training and test sets of tags, and of entities."""
    if quick:
        sample = load_sample("en")
        half = len(sample.tokens) // 2
        halves = slice(None, half), slice(half, None)
        return [
            (sample.tokens[k], y[k])
            for y in (sample.pos, sample.entities)
            for k in halves
        ]
    return tags("train"), tags("dev"), entities("train"), entities("dev")


def calibrated(arguments, seed, **parameters):
    """The averaged perceptron with the sixteen word templates, at a temperature."""
    tagger = StructuredPerceptron(
        "word", max_iter=arguments.epochs, random_state=seed, **parameters
    )
    return CalibratedTagger(tagger, n_jobs=arguments.n_jobs, random_state=seed)


def sure_of_labels(arguments, train, test):
    """Confidence of tags: a row and the labellings to be checked for each seed; diagram
    of the first.
    """
    X, y = test
    rows, found = [], []
    for seed in range(arguments.seeds):
        model = calibrated(arguments, seed).fit(*train)
        progress(f"tags, seed {seed}: temperature {model.temperature_:.3f}")
        marginals = model.predict_marginals(X)
        known = set(model.classes_.tolist())
        given = [
            [label if label in known else None for label in labels] for labels in y
        ]
        rows.append(
            [
                expected_calibration_error(y, marginals, labels=model.classes_),
                sequence_log_loss(y, model.sequence_log_proba(X, given)),
                model.temperature_,
            ]
        )
        found.append((model.predict_posterior(X), marginals))
        if seed == 0:
            diagram = diagram_of(y, marginals, labels=model.classes_)
    return rows, found, diagram


def sure_of_entities(arguments, train, test):
    """Mean probability of the entities found, and the share that is right, by seed;
    diagram of the first.
    """
    X, y = test
    gold = [set(labels_to_spans(labels, "BIO")) for labels in y]
    rows = []
    for seed in range(arguments.seeds):
        model = calibrated(arguments, seed, constraints="BIO").fit(*train)
        progress(f"entities, seed {seed}: temperature {model.temperature_:.3f}")
        found = zip(gold, model.predict_segment_proba(X))
        pairs = [
            (segment in true, p) for true, segments in found for segment, p in segments
        ]
        right, sure = np.array(pairs, float).T
        rows.append(
            [
                float(value)
                for value in (
                    sure.mean(),
                    right.mean(),
                    expected_calibration_error(right, sure),
                    model.temperature_,
                )
            ]
        )
        if seed == 0:
            diagram = diagram_of(right, sure)
    return rows, diagram


def diagram_of(*predictions, **options):
    """Confidence, accuracy and number by bin, as lists."""
    return [part.tolist() for part in reliability(*predictions, **options)]


def left_over(y, found):
    """Errors left, and errors expected, when a person has corrected the least sure
    words; by share.
    """
    predicted, marginals = found
    wrong = np.array([a != b for g, p in zip(y, predicted) for a, b in zip(g, p)])
    sure = np.concatenate([rows.max(axis=1) for rows in marginals])
    order = np.argsort(sure, kind="stable")
    rest = [order[round(share * len(order)) :] for share in SHARES]
    return [int(wrong[each].sum()) for each in rest], [
        float((1 - sure[each]).sum()) for each in rest
    ]


def learn_actively(name, seed, train, test, arguments):
    """[(words labelled, F1)] after each round; the first part is random in every
    strategy.
    """
    X, y = train
    random = np.random.RandomState(seed)
    n_words = np.array([len(x) for x in X])
    waiting, chosen, curve, model = (
        random.permutation(np.flatnonzero(n_words)),
        [],
        [],
        None,
    )
    for _ in range(arguments.rounds):
        if model is not None:
            best = model.predict_kbest([X[i] for i in waiting], 1)
            log_p = np.array([ranked[0][1] for ranked in best])
            order = STRATEGIES[name](log_p, n_words[waiting], random)
            waiting = waiting[np.argsort(order, kind="stable")]
        n = int(np.searchsorted(np.cumsum(n_words[waiting]), arguments.step)) + 1
        chosen, waiting = [*chosen, *waiting[:n]], waiting[n:]
        model = calibrated(arguments, seed, constraints="BIO").set_params(cv=3)
        model.fit([X[i] for i in chosen], [y[i] for i in chosen])
        curve.append(
            (
                int(n_words[chosen].sum()),
                segment_f1_score(test[1], model.predict(test[0])),
            )
        )
    progress(f"{name}, seed {seed}: F1 {curve[-1][1]:.4f} with {curve[-1][0]} words")
    return curve


def words_needed(curve, target):
    """Words to be labelled for an F1, between rounds in proportion; None if it was not
    reached.
    """
    before = (0, 0.0)
    for words, score in curve:
        if score >= target:
            return before[0] + (words - before[0]) * (target - before[1]) / (
                score - before[1]
            )
        before = (words, score)
    return None


def run(arguments):
    """What the three questions found: rows, curves and diagrams, by seed."""
    train, test, train_entities, test_entities = corpora(arguments.quick)
    rows, found, diagram = sure_of_labels(arguments, train, test)
    entity_rows, entity_diagram = sure_of_entities(
        arguments, train_entities, test_entities
    )
    left = [left_over(test[1], each) for each in found]
    curves = {
        name: [
            learn_actively(name, seed, train_entities, test_entities, arguments)
            for seed in range(arguments.seeds)
        ]
        for name in STRATEGIES
    }
    return {
        "tags": rows, "entities": entity_rows, "diagrams": {"tags": diagram, "entities": entity_diagram},
        "left": left, "active": curves,
    }  # fmt: skip


def report(results, quick):
    """Tables and verdicts."""
    rows = np.array(results["tags"])
    error, loss, temperature = rows.mean(axis=0)
    header = ["tags: calibration error", "spread", "log-loss", "temperature"]
    table(
        header,
        [[*mean_and_spread(rows[:, 0].tolist()), f"{loss:.4f}", f"{temperature:.2f}"]],
    )
    claim(
        "the calibration error of tags is at most 0.015",
        error <= 0.015,
        f"{error:.4f}",
        quick,
    )
    rows = np.array(results["entities"])
    header = [
        "entities: mean probability",
        "precision",
        "calibration error",
        "temperature",
    ]
    table(header, [[f"{value:.4f}" for value in rows.mean(axis=0)]])
    gaps = np.abs(rows[:, 0] - rows[:, 1])
    numbers = ", ".join(f"{gap:.4f}" for gap in gaps)
    claim(
        "entities are as sure as they are right, to 0.02",
        gaps.max() <= 0.02,
        f"by seed {numbers}",
        quick,
    )

    left, expected = np.mean(results["left"], axis=0)
    table(
        ["words checked", "errors left", "of all", "expected by the model"],
        [
            [f"{s:.0%}", f"{a:.0f}", f"{a / left[0]:.1%}", f"{b:.0f}"]
            for s, a, b in zip(SHARES, left, expected)
        ],
    )
    tenth = left[SHARES.index(0.1)] / left[0]
    text = "half of the errors are among the tenth of the words that are least sure"
    claim(text, tenth < 0.5, f"{tenth:.1%} are left", quick)
    compare(results["active"], quick)
    return lambda plt: draw(plt, results["diagrams"], left, results["active"])


def compare(curves, quick):
    """Tables of active learning: F1 by round, and words needed for what random order
    reaches at the end.
    """
    names = list(curves)
    averages = {name: np.mean(curves[name], axis=0) for name in names}
    rows = zip(*(averages[name] for name in names))
    table(["words labelled", *names],
          [[f"{row[0][0]:.0f}", *(f"{score:.4f}" for _, score in row)] for row in rows])  # fmt: skip
    target = averages["random order"][-1][1]
    needed = {
        name: [
            words_needed(curve, random[-1][1])
            for curve, random in zip(curves[name], curves["random order"])
        ]
        for name in names
    }
    print()
    for name in names:
        found = [words for words in needed[name] if words is not None]
        reached = f"{mean(found):.0f} words" if found else "never"
        print(
            f"F1 {target:.4f} with {name}: {reached} ({len(found)} of {len(needed[name])} seeds)"
        )
    for name in names[1:]:
        pairs = list(zip(needed[name], needed["random order"]))
        fewer = all(a is not None and a < b for a, b in pairs)
        shares = ", ".join("-" if a is None else f"{a / b:.2f}" for a, b in pairs)
        claim(
            f"{name} needs fewer words than random order",
            fewer,
            f"shares by seed: {shares}",
            quick,
        )


def draw(plt, diagrams, left, curves):
    """Confidence against accuracy; work against errors; F1 against words labelled."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for name, diagram in diagrams.items():
        ReliabilityDisplay(*map(np.array, diagram), name=name).plot(ax=axes[0])
    axes[1].plot(
        [100 * s for s in SHARES], left / left[0], marker="s", label="least sure first"
    )
    axes[1].plot([0, 100 * SHARES[-1]], [1, 1 - SHARES[-1]], "k:", label="any words")
    axes[1].set(
        xlabel="words checked by a person, %", ylabel="errors left", ylim=(0, 1)
    )
    axes[1].legend()
    for name, each in curves.items():
        words, scores = np.mean(each, axis=0).T
        axes[2].plot(words, scores, marker=".", label=name)
    axes[2].set(xlabel="words labelled", ylabel="F1 of entities")
    axes[2].legend()
    return figure


if __name__ == "__main__":
    study(
        "confidence", __doc__, ["ewt", "conll2002-esp"], run, report, epochs=(10, 2, "of training"),
        step=(5000, 200, "words a round"), rounds=(12, 3, "of learning"),
    )  # fmt: skip
