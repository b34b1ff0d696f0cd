"""
Sensor windows to activities
============================

A phone in a pocket measures acceleration 50 times a second. The measurements of each
second are one token, a row of a few numbers, and what a person does (sit, stand, walk,
climb, run) is its label. People differ, so a model is tried on persons that it has not
met; and people go on doing what they do, so a chain beats a classifier of single
seconds.

The measurements are made up here: gravity, steps of a rhythm and a strength that depend
on activity and person, noise, and seconds in which the phone is moved about. The figure
shows one person's session.
"""

import matplotlib.pyplot as plt
import numpy as np
from _study import no_options, table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import L1CRF, NumericFeatures, SequenceMatrix, StructuredPerceptron
from skstruct.features import TokenTransformer
from skstruct.inspection import coefficients

no_options(__doc__)

# %%
# Twelve persons
# --------------
# Each activity has a rhythm (steps a second), a strength, and an angle of the phone.

ACTIVITIES = {
    "sit": (0.0, 0.02, 1.1),
    "stand": (0.0, 0.03, 0.2),
    "walk": (1.8, 0.35, 0.3),
    "climb": (1.5, 0.40, 0.4),
    "run": (2.6, 0.90, 0.3),
}
RATE = 50


def session(rng):
    """(samples (seconds, RATE, 3), labels) of one person."""
    pace, force, tilt = (
        rng.normal(1.0, 0.05),
        rng.normal(1.0, 0.1),
        rng.normal(0.0, 0.1),
    )
    samples, labels, activity = [], [], "sit"
    while len(labels) < 300:
        for _ in range(int(rng.integers(8, 40))):
            rhythm, strength, angle = ACTIVITIES[activity]
            time = (len(labels) * RATE + np.arange(RATE)) / RATE
            step = (
                force
                * strength
                * np.sin(2 * np.pi * pace * rhythm * time[:, None] + [0.0, 0.7, 1.9])
            )
            gravity = np.array([np.sin(angle + tilt), np.cos(angle + tilt), 0.3])
            shaken = rng.normal(0, 0.8, (RATE, 3)) if rng.random() < 0.3 else 0.0
            samples.append(gravity + step + shaken + rng.normal(0, 0.15, (RATE, 3)))
            labels.append(activity)
        activity = rng.choice([name for name in ACTIVITIES if name != activity])
    return np.array(samples), [str(label) for label in labels]


NAMES = [
    *(f"mean {axis}" for axis in "xyz"),
    *(f"spread {axis}" for axis in "xyz"),
    "1 Hz",
    "2 Hz",
    "3 Hz",
    "4 Hz",
]


def features(samples):
    """A row for each second: means, spreads, and how strong the first rhythms are."""
    spectrum = np.abs(np.fft.rfft(samples, axis=1)).mean(axis=2)[:, 1:5] / RATE
    return np.hstack([samples.mean(axis=1), samples.std(axis=1), spectrum])


rng = np.random.default_rng(0)
sessions = [session(rng) for _ in range(12)]
rows = [features(samples) for samples, _ in sessions]
X = SequenceMatrix(
    np.concatenate(rows), [len(part) for part in rows], feature_names=NAMES
)
y = [labels for _, labels in sessions]
print(X)

# %%
# Persons that were not met in training
# -------------------------------------
# ``TokenTransformer`` lets any transformer of scikit-learn work on the tokens;
# ``window`` lets a second see its neighbours.

models = {
    "seconds alone": None,
    "chain": L1CRF(c1=0.1, c2=0.5, random_state=0),
    "chain, window of 3": L1CRF(
        NumericFeatures(window=(-1, 1)), c1=0.1, c2=0.5, random_state=0
    ),
    "perceptron": StructuredPerceptron(random_state=0),
}
found = {name: [None] * len(X) for name in models}
for train, test in GroupKFold(4).split(X, y, groups=range(12)):
    flat = np.array([label for i in train for label in y[i]])
    for name, model in models.items():
        scaler = TokenTransformer(StandardScaler())
        if model is None:
            scaled, held_out = scaler.fit_transform(X[train]), scaler.transform(X[test])
            labels = (
                LogisticRegression(max_iter=1000)
                .fit(scaled.matrix, flat)
                .predict(held_out.matrix)
            )
            predicted = held_out.split(labels.tolist())
        else:
            predicted = (
                make_pipeline(scaler, model)
                .fit(X[train], [y[i] for i in train])
                .predict(X[test])
            )
        for i, labels in zip(test, predicted):
            found[name][i] = labels

right = {
    name: [np.mean([a == b for a, b in zip(p, q)]) for p, q in zip(found[name], y)]
    for name in models
}
table(
    ["model", "seconds right", "worst person"],
    [
        [name, f"{np.mean(each):.4f}", f"{min(each):.4f}"]
        for name, each in right.items()
    ],
)

# %%
# What it has learned
# -------------------
# The weights are those of standardised columns.

pipeline = make_pipeline(TokenTransformer(StandardScaler()), models["chain"]).fit(X, y)
coef, intercept, transitions = coefficients(pipeline[-1])
print()
for label, column in zip(pipeline[-1].classes_, coef.T):
    k = int(np.abs(column).argmax())
    print(f"{label}: most of all {NAMES[k]} ({column[k]:+.2f})")

order = {name: k for k, name in enumerate(ACTIVITIES)}
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(9, 5))
axes[0].plot(rows[0][:, 3:6], linewidth=0.8)
axes[0].set_ylabel("spread of acceleration")
for shift, (name, labels) in enumerate(
    {
        "true": y[0],
        "alone": found["seconds alone"][0],
        "chain": found["chain"][0],
    }.items()
):
    axes[1].step(
        range(len(labels)),
        [order[label] + 0.15 * shift for label in labels],
        label=name,
        linewidth=1,
    )
axes[1].set_yticks(range(len(order)), order)
axes[1].set_xlabel("second")
axes[1].legend()
figure.tight_layout()
plt.show()
