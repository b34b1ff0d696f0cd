"""
Coming from sklearn-crfsuite
============================

One script, before and after: finding named entities with the features of
sklearn-crfsuite's tutorial. The features and the data stay as they are; what changes is
the estimator, and where the scores come from. The part "before" runs if
sklearn-crfsuite is installed.
"""

# %%
# What stays: data and features
# -----------------------------
# A sentence is a list of dicts, its labels a list of str.

import importlib.util
import time

import matplotlib.pyplot as plt

from skstruct import StructuredPerceptron
from skstruct.datasets import load_entities
from skstruct.inspection import TransitionDisplay
from skstruct.metrics import segment_f1_score, token_accuracy_score


def word_features(sentence, t):
    """Features of one word, and of its neighbours."""
    word, tag = sentence[t]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
    }
    for name, k in (("-1:", t - 1), ("+1:", t + 1)):
        if 0 <= k < len(sentence):
            features[name + "word.lower()"] = sentence[k][0].lower()
            features[name + "word.istitle()"] = sentence[k][0].istitle()
            features[name + "postag"] = sentence[k][1]
        else:
            features["BOS" if k < 0 else "EOS"] = True
    return features


sentences, labels = load_entities()
dicts = [
    [word_features(sentence, t) for t in range(len(sentence))] for sentence in sentences
]
X_train, y_train, X_test, y_test = dicts[:120], labels[:120], dicts[120:], labels[120:]

# %%
# Before
# ------

if importlib.util.find_spec("sklearn_crfsuite") is None:
    print("before: sklearn-crfsuite is not installed")
else:
    import sklearn_crfsuite
    from sklearn_crfsuite import metrics

    started = time.perf_counter()
    crf = sklearn_crfsuite.CRF(algorithm="ap", max_iterations=10)
    crf.fit(X_train, y_train)
    y_pred = crf.predict(X_test)
    seconds = time.perf_counter() - started
    accuracy = metrics.flat_accuracy_score(y_test, y_pred)
    print(f"before: token accuracy {accuracy:.4f}, {seconds:.2f} s")

# %%
# After
# -----
# ``random_state`` makes a run repeatable, bit by bit.

started = time.perf_counter()
tagger = StructuredPerceptron(max_iter=10, random_state=0)
tagger.fit(X_train, y_train)
y_pred = tagger.predict(X_test)
seconds = time.perf_counter() - started
accuracy = token_accuracy_score(y_test, y_pred)
print(f"after:  token accuracy {accuracy:.4f}, {seconds:.2f} s (a first run compiles)")
print(
    f"        entity F1 {segment_f1_score(y_test, y_pred):.4f}, as conlleval counts it"
)

# %%
# What more there is
# ------------------
# Constraints rule out labellings such as O, I-PER; and templates do what the function
# above does, without a dict for each token: tokens are tuples then.

templates = [
    *(f"Uword{o:+d}:%lower[{o},0]" for o in (-1, 0, 1)),
    *(f"Ushape{o:+d}:%shape[{o},0]" for o in (-1, 0, 1)),
    *(f"Upos{o:+d}:%x[{o},1]" for o in (-1, 0, 1)),
    "Usuffix:%suffix3[0,0]",
    "B",
]
tagger = StructuredPerceptron(templates, constraints="BIO", max_iter=10, random_state=0)
tagger.fit(sentences[:120], y_train)
y_pred = tagger.predict(sentences[120:])
print(
    f"with templates and constraints: entity F1 {segment_f1_score(y_test, y_pred):.4f}"
)
TransitionDisplay.from_estimator(tagger)  # what constraints forbid has no colour
plt.show()
