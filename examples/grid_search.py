"""
Tuning the regularisers
=======================

A structured perceptron has several means against overfitting: averaging, penalties on
the weights, and noise during training. Which helps depends on the data, so ask the
data: a tagger is an estimator like any other, and ``GridSearchCV`` tunes it, also as a
step of a ``Pipeline``.

Here the task is finding named entities in the small English sample that comes with the
package.
"""

# %%
# A pipeline of two steps
# -----------------------
# The first step turns (form, part of speech) into the columns that the templates read:
# it adds the form in lower case. Any function from a list of sentences to a list of
# sentences will do.

import time

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import StructuredPerceptron
from skstruct.datasets import load_entities
from skstruct.metrics import segment_f1_scorer

TEMPLATES = [
    *(f"Uword{o:+d}:%x[{o},0]" for o in range(-1, 2)),
    *(f"Ulower{o:+d}:%x[{o},1]" for o in range(-2, 3)),
    *(f"Upos{o:+d}:%x[{o},2]" for o in range(-1, 2)),
    "Uprefix:%prefix2[0,0]",
    "Usuffix:%suffix3[0,0]",
    "Ushape:%shape[0,0]",
    "B",
]


def add_lower_case(sentences):
    """(form, part of speech) to (form, lower case, part of speech)."""
    return [
        [(form, form.lower(), pos) for form, pos in sentence] for sentence in sentences
    ]


tagger = StructuredPerceptron(
    features=TEMPLATES, constraints="BIO", max_iter=10, random_state=0
)
model = Pipeline([("columns", FunctionTransformer(add_lower_case)), ("tagger", tagger)])

# %%
# The grid
# --------
# Two grids, because ``alpha`` matters only with a penalty. It is small, for penalties
# act once per training example visited. ``segment_f1_scorer`` compares whole entities,
# as conlleval does.

regularisers = {"tagger__average": [True, False], "tagger__dropout": [0.0, 0.1, 0.2]}
grid = [
    {"tagger__penalty": [None], **regularisers},
    {"tagger__penalty": ["l1", "l2"], "tagger__alpha": [1e-5, 1e-4], **regularisers},
]
search = GridSearchCV(model, grid, scoring=segment_f1_scorer, cv=5)

X, y = load_entities()
X_train, y_train, X_test, y_test = X[:120], y[:120], X[120:], y[120:]
started = time.perf_counter()
search.fit(X_train, y_train)
seconds = time.perf_counter() - started

# %%
# Results
# -------

results = search.cv_results_
n_fits = len(results["params"]) * search.n_splits_
print(f"{len(results['params'])} settings, {n_fits} fits in {seconds:.1f} s\n")
print(
    f"{'penalty':<10}{'alpha':<10}{'dropout':<10}{'average':<10}{'mean F1':>8}{'std':>8}"
)
for i in results["rank_test_score"].argsort(kind="stable"):
    setting = {
        name.removeprefix("tagger__"): value
        for name, value in results["params"][i].items()
    }
    print(
        f"{setting['penalty'] or '-':<10}{setting.get('alpha', '-'):<10}{setting['dropout']:<10}"
        f"{str(setting['average']):<10}{results['mean_test_score'][i]:8.4f}"
        f"{results['std_test_score'][i]:8.4f}"
    )

print("\nBest parameters:")
for name, value in search.best_params_.items():
    print(f"  {name} = {value!r}")
print(f"Their segment F1 on held-out sentences: {search.score(X_test, y_test):.4f}")

order = results["mean_test_score"].argsort()
plt.errorbar(
    results["mean_test_score"][order],
    range(len(order)),
    xerr=results["std_test_score"][order],
    fmt="o",
)
plt.yticks([])
plt.xlabel("segment F1, mean and standard deviation over folds")
plt.ylabel("settings, the best at the top")
plt.show()
