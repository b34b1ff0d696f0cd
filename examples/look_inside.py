"""
See what a model does
=====================

Why it labels as it does, what it confuses, what it has learned. Every picture here is
what a notebook shows when the object stands at the end of a cell.
"""

# %%
# Entities: words with their labels, half to learn from, half to look at.

import matplotlib.pyplot as plt

from skstruct import L1CRF, BaggingShuffleAverager, StructuredPerceptron
from skstruct.datasets import load_entities, load_parsing
from skstruct.inspection import (
    FeatureWeightsDisplay,
    HistoryDisplay,
    LabelConfusionDisplay,
    RegularizationPathDisplay,
    TransitionDisplay,
    errors,
    explain,
    feature_weights,
    render,
    transition_weights,
)

X, y = load_entities()
X_train, y_train, X_test, y_test = X[:90], y[:90], X[90:], y[90:]
tagger = StructuredPerceptron(
    "word", constraints="BIO", early_stopping=True, random_state=0
)
tagger.fit(X_train, y_train)
predicted = tagger.predict(X_test)

# %%
# Predictions beside gold: what is on one line only is marked.

wrong = [i for i, (a, b) in enumerate(zip(y_test, predicted)) if a != b][:3]
picture = render(*([each[i] for i in wrong] for each in (X_test, y_test, predicted)))
picture

# %%
# Which types are confused with which, and whether unseen words are to blame.

mistakes = errors(tagger, X_test, y_test)
print(mistakes)
mistakes

# %%
# Why one of these sentences was labelled as it was: bars that add up to the score, and
# for each token the smallest set of features without which it would have another label.

explanation = explain(tagger, X_test[wrong[0]])
change = next(t for t in explanation.tokens if t.counterfactual is not None)
print(f"\n{change.token[0]} is {change.label}. Without", end=" ")
print(
    f"{', '.join(change.counterfactual.features)} it would be {change.counterfactual.label}."
)
rows = sum(len(token.features) + len(token.transitions) for token in explanation.tokens)
print(f"{rows} contributions add up to {explanation.score:.3f}.")
explanation

# %%
# What the model has learned: features by label, and which label follows which.

weights = feature_weights(tagger, top=100)
transitions = transition_weights(tagger)
print("Largest weight:", *weights[0][:2], f"{weights[0].weight:+.2f}")
weights

# %%
transitions

# %%
# Trees are arcs.

sentences, trees = load_parsing()
arcs = render(sentences[:1], trees[:1])
print(f"A tree of {len(sentences[0])} words has {arcs.count('<path') // 2} arcs.")
arcs

# %%
# The displays: transitions with constraints, epochs and the spread of an averager's
# members, confusions, and the regularisation path of a CRF.

members = BaggingShuffleAverager(
    StructuredPerceptron("word", max_iter=5), 3, random_state=0
).fit(X_train, y_train)
figure, axes = plt.subplots(2, 3, figsize=(17, 10), layout="constrained")
TransitionDisplay.from_estimator(tagger, ax=axes[0, 0])
HistoryDisplay.from_estimator(tagger, members, ax=axes[0, 1])
FeatureWeightsDisplay.from_estimator(tagger, label="B-LOC", top=14, ax=axes[0, 2])
LabelConfusionDisplay.from_predictions(
    y_test, predicted, errors_only=True, ax=axes[1, 0]
)
RegularizationPathDisplay.from_estimator(
    L1CRF("word", random_state=0), X_train, y_train, [0.1, 0.3, 1, 3, 10],
    X_val=X_test, y_val=y_test, ax=axes[1, 1],
)  # fmt: skip
axes[1, 2].set_visible(False)
plt.show()
