"""
Noise in training for another domain
====================================

Noise in training for text unlike the training text: does it help, and does the kind of
noise matter?

Søgaard (2013) corrupts features during training, either leaving them out (binary
dropout) or dividing them by Zipf-distributed numbers, so that a tagger relies less on
features that other domains lack. This study repeats his table 1: train on newswire,
tune the noise on e-mail, test on the other genres of the web treebank, which nothing
was tuned on. Differences are tested over sentences with a paired bootstrap.

Run it with::

    python examples/domain_shift.py --plot figure.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

from statistics import mean

from _study import DATA, below_and_above, claim, mean_and_spread, progress, study, table

from skstruct import StructuredPerceptron
from skstruct.datasets import load_sample, read_conllu
from skstruct.metrics import paired_bootstrap

GENRES = ("answers", "newsgroup", "reviews", "weblog")

CANDIDATES = {
    "plain": [{}],
    "binary": [
        {"feature_noise": "dropout", "noise_rate": rate}
        for rate in (0.1, 0.2, 0.3, 0.4, 0.5)
    ],
    "Zipf": [
        {"feature_noise": "zipf", "zipf_exponent": s} for s in (1.3, 1.6, 2.0, 3.0, 4.0)
    ],
    "Zipf, edges too": [
        {"feature_noise": "zipf", "edge_noise": "same", "zipf_exponent": s}
        for s in (1.3, 1.6, 2.0, 3.0, 4.0)
    ],
    "Zipf, binary on edges": [
        {
            "feature_noise": "zipf",
            "edge_noise": "dropout",
            "noise_rate": 0.1,
            "zipf_exponent": s,
        }
        for s in (1.3, 1.6, 2.0, 3.0, 4.0)
    ],
}


def read(path):
    """Words and PTB tags."""
    rows = read_conllu(path, fields=("form", "xpos"))
    return [[form for form, _ in s] for s in rows], [
        [tag for _, tag in s] for s in rows
    ]


def corpora(quick):
    """(training set, set to tune on, {genre: test set})."""
    if quick:
        sample = load_sample("en")
        X, y = sample.tokens, sample.pos
        thirds = [slice(0, 60), slice(60, 80), slice(80, len(X))]
        train, tune, test = ((X[part], y[part]) for part in thirds)
        return train, tune, {"sample": test}
    ewt = DATA / "ewt"
    tests = {genre: read(ewt / "train" / f"{genre}.conllu") for genre in GENRES}
    return (
        read(DATA / "wsj-sample" / "all.conllu"),
        read(ewt / "dev" / "email.conllu"),
        tests,
    )


def fit(train, seed, epochs, parameters):
    """The averaged perceptron with the sixteen word templates."""
    return StructuredPerceptron(
        "word", max_iter=epochs, random_state=seed, **parameters
    ).fit(*train)


def run(arguments):
    """Parameters and score of the best setting of each noise, and what it reaches on
    each genre by seed.
    """
    train, tune, tests = corpora(arguments.quick)
    seeds = range(arguments.seeds)
    models, tuned = {}, {}
    for name, candidates in CANDIDATES.items():
        tried = []
        for parameters in candidates[:1] if arguments.quick else candidates:
            fitted = [fit(train, seed, arguments.epochs, parameters) for seed in seeds]
            tried.append(
                (mean(model.score(*tune) for model in fitted), fitted, parameters)
            )
            progress(f"{name}: {tried[-1][0]:.4f} with {parameters}")
        _, models[name], chosen = max(tried, key=lambda found: found[0])
        scores = [
            [", ".join(f"{k} {v}" for k, v in parameters.items()), score]
            for score, _, parameters in tried
        ]
        tuned[name] = {"chosen": chosen, "tried": scores}

    predicted = {
        (name, genre): [model.predict(X) for model in models[name]]
        for name in models
        for genre, (X, _) in tests.items()
    }
    genres = {}
    for genre, (_, y) in tests.items():
        genres[genre] = {}
        for name in models:
            compared = [
                paired_bootstrap(y, a, b, n_resamples=2000, random_state=0)
                for a, b in zip(predicted["plain", genre], predicted[name, genre])
            ]
            genres[genre][name] = {
                "accuracy": [float(c.score_b) for c in compared],
                "gain": [float(c.difference) for c in compared],
                "p": [float(c.p_value) for c in compared],
            }
    return {"tuned": tuned, "genres": genres}


def report(results, quick):
    """Tables and verdicts."""
    tuned, genres = results["tuned"], results["genres"]
    names, rows = list(tuned), []
    for genre, found in genres.items():
        for name, r in found.items():
            significant = sum(
                p < 0.05 and gain > 0 for p, gain in zip(r["p"], r["gain"])
            )
            tested = "" if name == "plain" else f"{significant} of {len(r['p'])}"
            rows.append(
                [
                    genre,
                    name,
                    *mean_and_spread(r["accuracy"]),
                    f"{100 * mean(r['gain']):+.2f}",
                    tested,
                ]
            )
    table(
        ["genre", "noise", "accuracy", "spread", "points", "seeds with p < 0.05"], rows
    )
    averages = {
        name: mean(mean(found[name]["accuracy"]) for found in genres.values())
        for name in names
    }
    rows = []
    for name in names:
        tried = "; ".join(
            f"{text or 'none'}: {score:.4f}" for text, score in tuned[name]["tried"]
        )
        rows.append([name, tried, f"{averages[name]:.4f}"])
    table(["noise", "tried on e-mail", "mean over genres"], rows)
    print()

    def wins(name, other):
        return sum(
            mean(f[name]["accuracy"]) > mean(f[other]["accuracy"])
            for f in genres.values()
        )

    n = len(genres)
    for name in names[1:]:
        won = wins(name, "plain")
        claim(
            f"{name} noise beats none on most unseen genres",
            2 * won > n,
            f"{won} of {n}",
            quick,
        )
    for name in names[2:]:
        won, gain = wins(name, "binary"), 100 * (averages[name] - averages["binary"])
        claim(
            f"{name} beats binary noise",
            2 * won > n,
            f"{won} of {n} genres, {gain:+.2f} points",
            quick,
        )
    for name in names[1:]:
        inside = is_inside(tuned[name]["tried"])
        claim(
            f"the best value of {name} noise is inside its grid",
            inside,
            str(tuned[name]["chosen"]),
            quick,
        )
    return lambda plt: draw(plt, genres, names[1:])


def is_inside(tried):
    """Whether the best of the settings tried is neither the first nor the last."""
    scores = [score for _, score in tried]
    return 0 < scores.index(max(scores)) < len(scores) - 1


def draw(plt, genres, names):
    """Bars: points gained by genre; thin lines show the smallest and the largest
    seed.
    """
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    width = 0.8 / len(names)
    for k, name in enumerate(names):
        gains = [[100 * g for g in found[name]["gain"]] for found in genres.values()]
        places = [i + width * (k - len(names) / 2 + 0.5) for i in range(len(genres))]
        axes.bar(
            places,
            [mean(values) for values in gains],
            width,
            yerr=below_and_above(gains),
            error_kw={"linewidth": 0.8},
            label=name,
        )
    axes.set_xticks(range(len(genres)), genres)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_ylabel("points over no noise")
    axes.legend()
    return figure


if __name__ == "__main__":
    study(
        "domain_shift",
        __doc__,
        ["wsj-sample", "ewt"],
        run,
        report,
        epochs=(5, 2, "of training"),
    )
