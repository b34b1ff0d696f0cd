"""
What sharding costs in accuracy
===============================

Iterative parameter mixing (McDonald, Hall and Mann 2010) trains a perceptron on every
shard of the data from the mixed weights, mixes what comes back, and goes on. How much
accuracy do more shards cost after the same number of rounds, with the uniform mixture
and with that of the non-zero weights (equation 8 of Zhang, Su and Zhou 2014)?

Run it with::

    python examples/parameter_mixing.py --plot figure.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

from statistics import mean

from _study import DATA, claim, mean_and_spread, progress, study, table

from skstruct import ParameterMixer, StructuredPerceptron
from skstruct.datasets import load_tagging, read_columns, read_conllu
from skstruct.metrics import segment_f1_score, token_accuracy_score

SHARDS = (1, 2, 8, 32)
MIXTURES = ("uniform", "nonzero")


def tags(quick):
    """Words and PTB tags: training and dev set of EWT, and how they are scored."""
    if quick:
        X, y = load_tagging()
        return (X[:120], y[:120]), (X[120:], y[120:]), token_accuracy_score
    parts = []
    for part in ("train", "dev"):
        files = sorted((DATA / "ewt" / part).glob("*.conllu"))
        rows = [s for file in files for s in read_conllu(file, fields=("form", "xpos"))]
        parts.append(
            (
                [[form for form, _ in s] for s in rows],
                [[tag for _, tag in s] for s in rows],
            )
        )
    return *parts, token_accuracy_score


def entities(quick):
    """Words and entities of CoNLL-2002 Spanish: training and dev set, and how they are
    scored.
    """
    if quick:
        return tags(quick)
    rows = [
        read_columns(DATA / "conll2002-esp" / f"{part}.txt")
        for part in ("train", "dev")
    ]
    parts = [
        ([[r[0] for r in s] for s in part], [[r[-1] for r in s] for s in part])
        for part in rows
    ]
    return *parts, segment_f1_score


TASKS = {"tags, accuracy": tags, "entities, F1": entities}


def run(arguments):
    """{task: {mixture: {shards: [score by seed]}}}."""
    results = {}
    for task, load in TASKS.items():
        train, test, score = load(arguments.quick)
        results[task] = {}
        for mixture in MIXTURES:
            found = results[task][mixture] = {}
            for shards in SHARDS[:2] if arguments.quick else SHARDS:
                found[str(shards)] = []
                for seed in range(arguments.seeds):
                    tagger = StructuredPerceptron(
                        "word", max_iter=arguments.rounds, random_state=seed
                    )
                    mixer = ParameterMixer(
                        tagger,
                        n_shards=shards,
                        mixing=mixture,
                        n_jobs=arguments.n_jobs,
                        random_state=seed,
                    ).fit(*train)
                    found[str(shards)].append(
                        float(score(test[1], mixer.predict(test[0])))
                    )
                progress(
                    f"{task}, {mixture}, {shards} shards: {mean(found[str(shards)]):.4f}"
                )
    return results


def lost(found, shards):
    """Errors that shards add to those of one, as a share."""
    one, many = mean(found["1"]), mean(found[shards])
    return (one - many) / (1 - one) if one < 1 else 0.0


def report(results, quick):
    """Table and verdicts."""
    rows = [
        [
            task,
            mixture,
            shards,
            *mean_and_spread(scores),
            f"{100 * lost(found, shards):+.1f} %",
        ]
        for task, mixtures in results.items()
        for mixture, found in mixtures.items()
        for shards, scores in found.items()
    ]
    table(["task", "mixture", "shards", "score", "spread", "errors added"], rows)
    print()
    for task, mixtures in results.items():
        for shards in list(mixtures["uniform"])[1:]:
            a, b = (lost(mixtures[mixture], shards) for mixture in MIXTURES)
            claim(
                f"{task}, {shards} shards: the non-zero mixture loses less than the uniform one", b < a,
                f"{100 * b:+.1f} % against {100 * a:+.1f} % more errors", quick,
            )  # fmt: skip
    return lambda plt: draw(plt, results)


def draw(plt, results):
    """Errors added against shards."""
    figure, axes = plt.subplots(1, len(results), figsize=(10, 4), layout="constrained")
    for axis, (task, mixtures) in zip(axes, results.items()):
        for mixture, found in mixtures.items():
            shards = list(found)
            axis.plot(
                [int(n) for n in shards],
                [100 * lost(found, n) for n in shards],
                marker="o",
                label=mixture,
            )
        axis.set_xscale("log", base=2)
        axis.set(title=task, xlabel="shards", ylabel="errors added, %")
        axis.legend()
    return figure


if __name__ == "__main__":
    study(
        "parameter_mixing", __doc__, ["ewt", "conll2002-esp"], run, report,
        rounds=(10, 2, "of mixing"),
    )  # fmt: skip
