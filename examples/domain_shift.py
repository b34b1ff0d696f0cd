"""Noise in training for text unlike the training text: does it help, and does the kind of noise matter?

Søgaard (2013) corrupts features during training, either leaving them out (binary dropout) or dividing them by
Zipf-distributed numbers, so that a tagger relies less on features that other domains lack. This study repeats
his table 1: train on newswire, tune the noise on e-mail, test on the other genres of the web treebank, which
nothing was tuned on. Differences are tested over sentences with a paired bootstrap.

    python examples/domain_shift.py --plot figure.png

Corpora are looked for in the folder SKSTRUCT_DATA (default: ../shared/data).
"""

from statistics import mean

from _study import DATA, claim, mean_and_spread, options, progress, pyplot, table

from skstruct import StructuredPerceptron
from skstruct.datasets import load_sample, read_conllu
from skstruct.metrics import paired_bootstrap

GENRES = ("answers", "newsgroup", "reviews", "weblog")

CANDIDATES = {
    "plain": [{}],
    "binary": [{"feature_noise": "dropout", "noise_rate": rate} for rate in (0.1, 0.2, 0.3)],
    "Zipf": [{"feature_noise": "zipf", "zipf_exponent": s} for s in (2.0, 3.0, 4.0)],
    "Zipf, edges too": [
        {"feature_noise": "zipf", "edge_noise": "same", "zipf_exponent": s} for s in (2.0, 3.0, 4.0)
    ],
    "Zipf, binary on edges": [
        {"feature_noise": "zipf", "edge_noise": "dropout", "noise_rate": 0.1, "zipf_exponent": s}
        for s in (2.0, 3.0, 4.0)
    ],
}


def read(path):
    """Words and PTB tags."""
    rows = read_conllu(path, fields=("form", "xpos"))
    return [[form for form, _ in s] for s in rows], [[tag for _, tag in s] for s in rows]


def corpora(quick):
    """(training part, part to tune on, {genre: test part})."""
    if quick:
        sample = load_sample("en")
        X, y = sample.tokens, sample.pos
        thirds = [slice(0, 60), slice(60, 80), slice(80, len(X))]
        train, tune, test = ((X[part], y[part]) for part in thirds)
        return train, tune, {"sample": test}
    ewt = DATA / "ewt"
    tests = {genre: read(ewt / "train" / f"{genre}.conllu") for genre in GENRES}
    return read(DATA / "wsj-sample" / "all.conllu"), read(ewt / "dev" / "email.conllu"), tests


def fit(train, seed, epochs, parameters):
    """The averaged perceptron with the sixteen word templates."""
    return StructuredPerceptron("word", max_iter=epochs, random_state=seed, **parameters).fit(*train)


def main():
    """Run the study."""
    arguments = options(__doc__, ["wsj-sample", "ewt"], 3, epochs=(5, "of training"))
    if arguments.quick:
        arguments.seeds, arguments.epochs = 1, 2
    train, tune, tests = corpora(arguments.quick)
    seeds = range(arguments.seeds)

    models, chosen = {}, {}
    for name, candidates in CANDIDATES.items():
        tried = []
        for parameters in candidates[:1] if arguments.quick else candidates:
            fitted = [fit(train, seed, arguments.epochs, parameters) for seed in seeds]
            tried.append((mean(model.score(*tune) for model in fitted), fitted, parameters))
        score, models[name], chosen[name] = max(tried, key=lambda found: found[0])
        progress(f"{name}: tuned {score:.4f} with {chosen[name]}")

    predicted = {
        (name, genre): [model.predict(X) for model in models[name]]
        for name in models
        for genre, (X, _) in tests.items()
    }
    results, rows = {}, []
    for genre, (_, y) in tests.items():
        for name in models:
            compared = [
                paired_bootstrap(y, a, b, n_resamples=2000, random_state=0)
                for a, b in zip(predicted["plain", genre], predicted[name, genre])
            ]
            results[genre, name] = compared
            scores = [c.score_b for c in compared]
            significant = sum(c.p_value < 0.05 and c.difference > 0 for c in compared)
            gain = 100 * mean(c.difference for c in compared)
            tested = "" if name == "plain" else f"{significant} of {len(compared)}"
            rows.append([genre, name, *mean_and_spread(scores), f"{gain:+.2f}", tested])
    table(["genre", "noise", "accuracy", "spread", "points", "seeds with p < 0.05"], rows)
    averages = {name: mean(c.score_b for genre in tests for c in results[genre, name]) for name in models}
    table(
        ["noise", "tuned on e-mail", "mean over genres"],
        [[name, chosen[name] or "", f"{averages[name]:.4f}"] for name in models],
    )

    print()

    def wins(name, other):
        better = [
            mean(c.score_b for c in results[genre, name]) > mean(c.score_b for c in results[genre, other])
            for genre in tests
        ]
        return sum(better), len(better)

    for name in list(models)[1:]:
        won, of = wins(name, "plain")
        text = f"{name} noise beats none on most unseen genres"
        claim(text, 2 * won > of, f"{won} of {of}", arguments.quick)
    for name in list(models)[2:]:
        won, of = wins(name, "binary")
        gain = 100 * (averages[name] - averages["binary"])
        numbers = f"{won} of {of} genres, {gain:+.2f} points"
        claim(f"{name} beats binary noise", 2 * won > of, numbers, arguments.quick)
    if arguments.plot:
        draw(arguments.plot, results, list(tests), list(models)[1:])


def draw(path, results, genres, names):
    """Bars: points gained by genre."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    width = 0.8 / len(names)
    for k, name in enumerate(names):
        gains = [100 * mean(c.difference for c in results[genre, name]) for genre in genres]
        places = [i + width * (k - len(names) / 2 + 0.5) for i in range(len(genres))]
        axes.bar(places, gains, width, label=name)
    axes.set_xticks(range(len(genres)), genres)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_ylabel("points over no noise")
    axes.legend()
    figure.savefig(path, dpi=150)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
