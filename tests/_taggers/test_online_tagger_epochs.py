"""``max_iter="auto"``: epochs by the number of sequences, in every way to train."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skstruct
from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_parsing, load_segmentation, make_hmm_sequences
from skstruct.inspection import feature_weights as weights

X, Y = make_hmm_sequences(210, max_length=6, random_state=0)
TEXTS, WORDS = (part[:12] for part in load_segmentation())
TREES = tuple(part[:12] for part in load_parsing())
BY_SIZE = pytest.mark.parametrize(("n", "epochs"), [(199, 20), (200, 10)])


def auto(learner=StructuredPerceptron, **parameters):
    return learner(max_iter="auto", random_state=0, **parameters)


@BY_SIZE
@pytest.mark.parametrize("kind", [StructuredPerceptron, PassiveAggressiveTagger])
def test_a_fit_makes_the_epochs_of_its_size(kind, n, epochs, tmp_path):
    model = auto(kind).fit(X[:n], Y[:n])
    written = kind(max_iter=epochs, random_state=0).fit(X[:n], Y[:n])
    assert model.n_iter_ == epochs == len(model.history_)
    assert weights(model) == weights(written)
    model.save(tmp_path / "m")
    assert skstruct.load(tmp_path / "m").max_iter == "auto" == clone(model).max_iter
    assert repr(model).count("max_iter='auto'") == 1


@BY_SIZE
def test_members_and_shards_follow_all_that_is_trained_on(n, epochs):
    average = BaggingShuffleAverager(auto(), 2, random_state=0).fit(X[:n], Y[:n])
    assert average.n_iter_ == epochs and len(average.history_) == 2 * epochs
    for strategy, rounds in (("iterative", epochs), ("once", 1)):
        mixer = ParameterMixer(auto(), 2, strategy=strategy, random_state=0)
        mixer.fit(X[:n], Y[:n])
        assert mixer.n_iter_ == epochs and len(mixer.history_) == rounds
    loads = [lambda s=s: (X[s:n:2], Y[s:n:2]) for s in range(2)]
    mixer = ParameterMixer(auto(), 2, random_state=0).fit_shards(loads)
    assert mixer.n_iter_ == epochs


def test_sequences_that_are_empty_or_held_out_do_not_count():
    model = auto().fit([*X[:199], [], []], [*Y[:199], [], []])
    assert model.n_iter_ == 20
    model = auto(early_stopping=True, n_iter_no_change=99).fit(X, Y)
    assert model.n_iter_ == 20  # 21 are held out
    assert auto().fit(X, Y, X_val=X[:20], y_val=Y[:20]).n_iter_ == 10


def test_every_learner_and_what_is_around_it():
    assert auto(ShiftReduceParser).fit(*TREES).n_iter_ == 20
    assert auto(WordSegmenter).fit(TEXTS, WORDS).n_iter_ == 20
    assert Segmenter(auto(features="char")).fit(TEXTS, WORDS).tagger_.n_iter_ == 20
    assert CalibratedTagger(auto(), cv=2).fit(X, Y).estimator_.n_iter_ == 10
    assert auto(KBestReranker, base=auto(), k=2, cv=2).fit(X[:9], Y[:9]).n_iter_ == 20


def test_further_training():
    model = auto().partial_fit(X[:50], Y[:50])
    assert model.n_iter_ == 1 == len(model.history_)
    model = auto(warm_start=True).fit(X[:50], Y[:50]).fit(X[:50], Y[:50])
    assert model.n_iter_ == 20 and model.history_[-1]["epoch"] == 40


def test_checkpoints_and_searches(tmp_path):
    kept = auto(checkpoint=tmp_path).fit(X[:50], Y[:50])
    assert weights(kept) == weights(auto().fit(X[:50], Y[:50]))
    grid = {"max_iter": ["auto", 2]}
    search = GridSearchCV(StructuredPerceptron(), grid, cv=2, error_score="raise")
    assert len(search.fit(X[:60], Y[:60]).cv_results_["params"]) == 2


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="'max_iter' parameter"):
        StructuredPerceptron(max_iter="many").fit(X, Y)
