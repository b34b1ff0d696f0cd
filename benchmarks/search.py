"""A search over c1 and c2, as the tutorial of sklearn-crfsuite makes it: CRFsuite,
GridSearchCV, L1CRFCV.

Three folds of the development part of CoNLL-2002 Spanish (or 2,000 sentences of
CoNLL-2000 with a dozen features a token), from dicts. Processor time of one thread on
both sides, in one run. With ``--optima`` each candidate is also minimised to 1e-7 in
each fold, which says how far the search was from there.
"""

import argparse
import functools
import time
import warnings

import numpy as np
import scipy.stats
import sklearn_crfsuite
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, ParameterSampler

from benchmarks.common import load_conll2000, table
from benchmarks.users_road import load
from skstruct import L1CRF, L1CRFCV
from skstruct.features import TokenVectorizer
from skstruct.metrics import segment_f1_score

GRID = {"c1": [0.03, 0.1, 0.5], "c2": [0.03, 0.3]}
RANDOM = {"c1": scipy.stats.expon(scale=0.5), "c2": scipy.stats.expon(scale=0.05)}
SAMPLE = 6
"""Candidates that CRFsuite is timed on, of fifty."""


def chunks():
    """Dicts of a dozen features, and labels."""
    X, y = (part[:2000] for part in load_conll2000("train"))

    def features(sentence, t):
        word, tag = sentence[t]
        found = {"w": word, "p": tag, "suffix": word[-3:], "title": word.istitle()}
        for d in -2, -1, 1, 2:
            if 0 <= t + d < len(sentence):
                found[f"w{d}"], found[f"p{d}"] = sentence[t + d]
        return found

    return [[features(x, t) for t in range(len(x))] for x in X], y


def theirs(c1, c2):
    """The tutorial's CRF."""
    return sklearn_crfsuite.CRF(
        algorithm="lbfgs",
        c1=c1,
        c2=c2,
        max_iterations=100,
        all_possible_transitions=True,
    )


def ours(c1=1.0, c2=0.0, **options):
    """The same objective here."""
    return L1CRF(
        c1=c1, c2=c2, all_pairs="transitions", random_state=0, n_jobs=1, **options
    )


def timed(function, *arguments):
    """(seconds of the processor, what it returns)"""
    began = time.process_time()
    found = function(*arguments)
    return time.process_time() - began, found


def loop(make, candidates, X, y, folds):
    """F1 (candidates, folds) of a loop over both."""
    scores = []
    for values in candidates:
        scores.append([])
        for train, test in folds:
            model = make(**values).fit([X[i] for i in train], [y[i] for i in train])
            predicted = [list(labels) for labels in model.predict([X[i] for i in test])]
            scores[-1].append(segment_f1_score([y[i] for i in test], predicted))
    return np.array(scores)


def score(model, X, y):
    """The scorer of a search over encoded sequences."""
    return segment_f1_score(list(y), model.predict(X))


def optima(candidates, X, y, folds):
    """(objectives, F1) of each candidate at its optimum in each fold."""
    found = []
    for values in candidates:
        for train, test in folds:
            model = ours(**values, tol=1e-7, max_iter=3000).fit(
                [X[i] for i in train], [y[i] for i in train]
            )
            f1 = segment_f1_score(
                [y[i] for i in test], model.predict([X[i] for i in test])
            )
            found.append((model.objective_, f1))
    return np.array(found).reshape(len(candidates), len(folds), 2).transpose(2, 0, 1)


def gaps(search, at_optimum, n_folds):
    """Sentences on how far a search was from the optima."""
    results = search.cv_results_
    objective, f1 = at_optimum
    reached = np.array([results[f"split{k}_objective"] for k in range(n_folds)]).T
    share = reached / objective - 1.0
    mean, best = f1.mean(axis=1), int(np.argmax(results["mean_test_score"]))
    print(
        f"above the optimum: median {np.median(share):.1e}, largest {share.max():.1e}; mean F1 differs by "
        f"{np.abs(results['mean_test_score'] - mean).max():.4f} at most; "
        f"chosen {search.best_params_}, at its optimum {mean[best]:.4f}; the best there {mean.max():.4f}"
    )


def of_a_grid(X, y, arguments):
    """Six candidates."""
    folds, candidates = list(KFold(3).split(X)), list(ParameterGrid(GRID))

    def shared():
        grid = {
            "c1s": GRID["c1"],
            "c2s": GRID["c2"],
            "cv": folds,
            "scoring": "segment_f1",
            "refit": False,
        }
        return L1CRFCV(**grid, all_pairs="transitions", random_state=0, n_jobs=1).fit(
            X, y
        )

    def encoded():
        matrix, labels = (
            TokenVectorizer().fit_transform(X),
            np.array([*y, None], object)[:-1],
        )
        search = GridSearchCV(
            ours(tol=3e-3), GRID, cv=folds, scoring=score, refit=False
        )
        return search.fit(matrix, labels)

    ours(0.1, 0.1, max_iter=30).fit(X[:40], y[:40]).predict(X[:10])  # compiled
    encoded_once, plain = timed(encoded), timed(loop, ours, candidates, X, y, folds)
    mine, search = timed(shared)
    crf, _ = timed(loop, theirs, candidates, X, y, folds)
    rows = [["sklearn-crfsuite, loop", f"{crf:.1f}", ""]]
    each = (
        ("L1CRF, loop", plain[0]),
        ("GridSearchCV, encoded, `tol=3e-3`", encoded_once[0]),
        ("L1CRFCV", mine),
    )
    rows += [[name, f"{seconds:.2f}", f"{crf / seconds:.1f}"] for name, seconds in each]
    print(f"\n{len(candidates)} candidates in 3 folds, processor time in s\n")
    table(["", "s", "ratio"], rows)
    if arguments.optima:
        gaps(search, optima(candidates, X, y, folds), len(folds))


def at_random(X, y, arguments):
    """Fifty candidates, as the tutorial draws them."""
    folds = list(KFold(3).split(X))
    candidates = list(ParameterSampler(RANDOM, arguments.candidates, random_state=0))
    options = {"cv": folds, "scoring": "segment_f1", "refit": False}
    ours(0.1, 0.1, max_iter=30).fit(X[:40], y[:40]).predict(X[:10])
    search = L1CRFCV(
        candidates=candidates,
        **options,
        all_pairs="transitions",
        random_state=0,
        n_jobs=1,
    )
    mine, search = timed(search.fit, X, y)
    crf, _ = timed(loop, theirs, candidates[:SAMPLE], X, y, folds)
    crf *= len(candidates) / SAMPLE
    print(
        f"\n{len(candidates)} random candidates in 3 folds; CRFsuite from {SAMPLE} of them\n"
    )
    rows = [
        ["sklearn-crfsuite, loop", f"{crf:.0f}", ""],
        ["L1CRFCV", f"{mine:.1f}", f"{crf / mine:.1f}"],
    ]
    table(["", "s", "ratio"], rows)
    if arguments.optima:
        gaps(search, optima(candidates, X, y, folds), len(folds))


def single_fits(X, y):
    """Fits to the own stop: their true gap, and what is certified."""
    rows = []
    ours(0.1, 0.1, max_iter=30).fit(X[:40], y[:40])
    for values in ParameterGrid(GRID):
        crf, _ = timed(theirs(**values).fit, X, y)
        least = ours(**values, tol=1e-8, max_iter=3000).fit(X, y).objective_
        for tol in None, 2e-4:
            seconds, model = timed(ours(**values, tol=tol).fit, X, y)
            true, certain = model.objective_ / least - 1.0, model.gap_
            rows.append([
                f"{values['c1']:g}, {values['c2']:g}", str(tol), f"{seconds:.2f}", f"{crf / seconds:.1f}",
                str(model.n_iter_), f"{true:.1e}", f"{certain:.1e}", f"{certain / max(true, 1e-12):.1f}",
            ])  # fmt: skip
    print("\nfits, processor time in s; CRFsuite: 100 iterations\n")
    table(
        ["c1, c2", "`tol`", "s", "ratio", "passes", "true gap", "`gap_`", "times"], rows
    )


def coarse_stops(X, y):
    """What a coarser stop does to the choice from the grid."""
    folds, candidates = list(KFold(3).split(X)), list(ParameterGrid(GRID))
    f1 = optima(candidates, X, y, folds)[1]
    rows = [["1e-7", "", "", str(candidates[f1.mean(axis=1).argmax()])]]
    for tol in 2e-4, 1e-3, 3e-3, 1e-2:
        found = loop(functools.partial(ours, tol=tol), candidates, X, y, folds)
        mean = found.mean(axis=1)
        changed = np.abs(found - f1).max(), np.abs(mean - f1.mean(axis=1)).max()
        rows.append(
            [
                f"{tol:g}",
                *(f"{each:.4f}" for each in changed),
                str(candidates[mean.argmax()]),
            ]
        )
    print("\nF1 against that of the optima\n")
    table(["`tol`", "largest change, one fold", "mean of three folds", "chosen"], rows)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("grid", "random", "fits", "stops")
    parser.add_argument("--part", choices=parts, nargs="+", default=parts)
    parser.add_argument("--corpus", choices=("esp", "conll2000"), default="esp")
    parser.add_argument("--candidates", type=int, default=50, help="drawn at random")
    parser.add_argument(
        "--optima", action="store_true", help="also minimise each candidate to 1e-7"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # a hundred iterations do not converge
    X, y = load("dev") if arguments.corpus == "esp" else chunks()
    if "grid" in arguments.part:
        of_a_grid(X, y, arguments)
    if "random" in arguments.part:
        at_random(X, y, arguments)
    if "fits" in arguments.part:
        single_fits(X, y)
    if "stops" in arguments.part:
        coarse_stops(X, y)


if __name__ == "__main__":
    main()
