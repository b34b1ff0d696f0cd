"""SpanTagger: texts in, spans out; what its tagger is given, pieces, k best,
probabilities, bad input.
"""

import itertools
import pickle
import warnings

import inside
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    ParameterMixer,
    Segmenter,
    Span,
    SpanTagger,
    StructuredPerceptron,
    inspection,
)
from skstruct._data.text import TextToken
from skstruct._taggers import text_probabilities
from skstruct.metrics import span_f1_score
from skstruct.metrics.task_scores import scores_of

X = [
    "Ann Lee lives in Rome.",
    "Bob Lee left Paris.\nHe met Ann.",
    "",
    "In Rome, Ann met Bob.",
    " \n ",
    "Paris: Bob, Ann\n\nRome is far.",
] * 2
y = [
    [(0, 7, "PER"), (17, 21, "LOC")],
    [(0, 7, "PER"), (13, 18, "LOC"), (27, 30, "PER")],
    [],
    [(17, 20, "PER"), (3, 7, "LOC"), (9, 12, "PER")],
    [],
    [(0, 5, "LOC"), (7, 10, "PER"), (12, 15, "PER"), (17, 21, "LOC")],
] * 2


class Recorder(StructuredPerceptron):
    """Keeps what it was given."""

    def fit(self, X, y, sample_weight=None):
        type(self).given = X, y, sample_weight
        return super().fit(X, y, sample_weight)


def perceptron(**parameters):
    return StructuredPerceptron(random_state=0, **parameters)


def given(X, y, sample_weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SpanTagger(Recorder(random_state=0), **parameters).fit(
            X, y, sample_weight
        )
    return model, Recorder.given


def test_what_the_tagger_sees():
    model, (tokens, labels, weight) = given(X[:4], y[:4], np.arange(1.0, 5.0))
    assert model.pieces_ == "lines" and weight.tolist() == [1.0, 2.0, 2.0, 4.0]
    assert tokens[2] == [("He", "2"), ("met", "1"), ("Ann", "1"), (".", "0")]
    assert {type(token) for line in tokens for token in line} == {TextToken}
    assert labels[0] == ["B-PER", "E-PER", "O", "O", "S-LOC", "O"]
    assert model.tagger_.constraints == "BIOES"
    assert inside.model_of(model.tagger_).encoder.templates.n_columns == 2
    _, (tokens, labels, _) = given(
        X[:1], y[:1], layout=False, scheme="BIO", tokenizer=str.split
    )
    assert tokens == [X[0].split()] and labels == [
        ["B-PER", "I-PER", "O", "O", "B-LOC"]
    ]


def test_spans_that_are_not_annotated():
    text = "Ann met Bob.\nBob met Ann."
    model, (_, labels, _) = given(
        [text], [[(0, 3, "PER"), (8, 25, None), (8, 11, "PER")]]
    )
    assert labels == [["S-PER", "O", "S-PER", None], [None] * 4]
    assert model.score([text], [[(0, 3, "PER"), (8, 11, "PER"), (12, 25, None)]]) == 1.0
    assert model.score([text], [[(0, 3, "PER"), (8, 11, "PER")]]) < 1.0


def test_pieces():
    wrapped = "Ann\nLee met\nBob\nLee.\n\nRome\nand Paris."
    spans = [[(0, 7, "PER"), (12, 19, "PER"), (22, 26, "LOC"), (31, 36, "LOC")]]
    model, (tokens, _, _) = given([wrapped], spans)
    assert model.pieces_ == "paragraphs" and list(map(len, tokens)) == [6, 4]
    model, (tokens, labels, _) = given([wrapped], spans, pieces="lines")
    assert [[t.word for t in line] for line in tokens] == [
        ["Ann", "Lee", "met"], ["Bob", "Lee", "."], ["Rome"], ["and", "Paris", "."],
    ]  # fmt: skip
    assert labels[0] == ["B-PER", "E-PER", "O"]  # no span is cut in training
    assert [len(p) for p in inside.sequences_of(model, [wrapped])] == [1, 2, 1, 2, 1, 3]
    model, (tokens, _, _) = given([wrapped], spans, pieces="texts")
    assert len(tokens) == 1


def test_long_pieces_are_cut_where_the_gap_is_largest():
    text = "aa bb. cc dd ee ff, gg hh ii jj\nkk ll mm nn"
    model, (tokens, _, _) = given([text], [[(0, 2, "A")]], pieces="texts", max_length=6)
    assert [" ".join(t.word for t in piece) for piece in tokens] == [
        "aa bb .", "cc dd ee ff , gg", "hh ii jj", "kk ll mm nn",
    ]  # fmt: skip
    _, (tokens, _, _) = given([text], [[(0, 22, "A")]], pieces="texts", max_length=6)
    assert [len(piece) for piece in tokens] == [9, 3, 4]
    assert model.predict([text]) == [[(0, 2, "A")]]


def test_held_out_and_sample_weight():
    model = SpanTagger(perceptron(early_stopping=True, max_iter=20)).fit(
        X, y, X_val=X[:2], y_val=y[:2]
    )
    assert model.history_[-1]["validation_score"] == 1.0 and len(model.history_) < 20
    with pytest.raises(
        ValueError, match=r"y_val: sequence 0, position 0: \(9, 3, 'PER'\) ends before"
    ):
        SpanTagger(perceptron()).fit(X, y, X_val=X[:1], y_val=[[(9, 3, "PER")]])
    one = SpanTagger(perceptron()).fit(X, y, sample_weight=[1.0] * len(X))
    assert one.predict(X) == SpanTagger(perceptron()).fit(X, y).predict(X)
    weight = np.zeros(len(X))
    weight[0] = 1.0
    assert one.score(X, y, weight) == one.score(X[:1], y[:1])
    with pytest.raises(NotFittedError):
        SpanTagger().predict(X)


def test_streams_keep_their_pieces():
    model = SpanTagger(perceptron()).partial_fit(
        ["Ann\nLee\n\nmet Bob."], [[(0, 7, "PER"), (13, 16, "PER")]]
    )
    model.partial_fit(X, y)
    assert model.pieces_ == "paragraphs" and model.alignment_["spans"] == 2 + sum(
        map(len, y)
    )


@pytest.mark.parametrize("k", [1, 2, 7, 100])
def test_k_best_is_that_of_all_combinations(k):
    model = SpanTagger(perceptron(max_iter=2), max_length=4).fit(X, y)
    texts = [*X[:6], "Ann Bob. Rome Paris Lee, Ann."]
    for text, best, first in zip(
        texts, model.predict_kbest(texts, k), model.predict(texts)
    ):
        pieces = inside.sequences_of(model, [text])
        found = {}
        for parts in (
            itertools.product(*model.tagger_.predict_kbest(pieces, 8))
            if pieces
            else [()]
        ):
            labels = tuple(label for part, _ in parts for label in part)
            found[labels] = sum(score for _, score in parts)
        scores = sorted(found.values(), reverse=True)[:k]
        assert [score for _, score in best][: min(k, 8)] == pytest.approx(scores[:8])
        assert best[0][0] == first and len({tuple(spans) for spans, _ in best}) == len(
            best
        )


class Counted(list):
    """Spans of a piece; counts those that are copied."""

    copied = 0

    def __iter__(self):
        type(self).copied += len(self)
        return super().__iter__()

    def __radd__(self, before):
        type(self).copied += len(before) + len(self)
        return Counted(list.__add__(before, self))

    __add__ = None


def test_the_work_of_k_best_grows_with_the_text():
    """Each span of the results is copied once, not once for each line that follows."""
    ranked = [(Counted("ab"), 1.0), (Counted("c"), 0.5), (Counted(), 0.0)]
    for n in (100, 400):
        Counted.copied = 0
        found = text_probabilities.best_sums([ranked] * n, 3)
        assert [score for _, score in found] == [n, n - 0.5, n - 0.5] and found[0][
            0
        ] == list("ab") * n
        assert Counted.copied == sum(len(spans) for spans, _ in found) < 3 * 2 * n


def test_probabilities_sum_over_labellings():
    model = SpanTagger(L1CRF(c1=0.1, random_state=0), max_length=5).fit(X, y)
    text = "Ann met Bob Lee, Paris.\nRome"
    asked = [
        (0, 3, "PER"),
        (8, 15, "PER"),
        (8, 11, "LOC"),
        (24, 28, "LOC"),
        (1, 3, "PER"),
        (17, 28, "LOC"),
    ]
    (found,) = model.predict_segment_proba([text], [asked])
    assert [span for span, _ in found] == asked and all(
        type(span) is Span for span, _ in found
    )
    assert [p for _, p in found[4:]] == [
        0.0,
        0.0,
    ]  # no whole tokens, and tokens of two pieces
    everything = model.predict_kbest([text], 100_000)[0]
    total = sum(np.exp(score - everything[0][1]) for _, score in everything)
    for span, p in found[:4]:
        with_it = sum(
            np.exp(score - everything[0][1])
            for spans, score in everything
            if span in spans
        )
        assert p == pytest.approx(with_it / total, rel=1e-6)
    with pytest.raises(
        ValueError, match=r"segments: sequence 1, position 0: no label has the type 'X'"
    ):
        model.predict_segment_proba(X[:2], [[], [(0, 3, "X")]])
    with pytest.raises(
        ValueError, match=r"segments: sequence 0, position 0: \(0, 99, 'PER'\) leaves"
    ):
        model.predict_segment_proba(X[:1], [[(0, 99, "PER")]])
    assert model.predict_segment_proba(["", text])[0] == []


def test_corpora_are_predicted_in_parts(monkeypatch):
    model = SpanTagger(L1CRF(c1=0.1, random_state=0)).fit(X, y)
    whole = model.predict(X), model.predict_kbest(X, 3), model.predict_segment_proba(X)
    monkeypatch.setattr("skstruct._data.text.AT_ONCE", 30)
    assert (
        model.predict(X),
        model.predict_kbest(X, 3),
        model.predict_segment_proba(X),
    ) == whole
    with pytest.raises(ValueError, match="sequence 12: expected a text"):
        model.predict([*X, 3])
    assert model.predict([]) == [] and model.predict(["", " "]) == [[], []]


def test_files(tmp_path):
    for tagger in (
        perceptron(),
        L1CRF(c1=0.1),
        ParameterMixer(perceptron(), random_state=0),
    ):
        model = SpanTagger(tagger, tokenizer=r"\w+|\S").fit(X, y)
        model.save(tmp_path / "model")
        loaded = skstruct.load(tmp_path / "model")
        for same in (
            loaded,
            pickle.loads(pickle.dumps(model)),
            model.compress(dtype="float64"),
        ):
            assert same.predict(X) == model.predict(X) and same.pieces_ == model.pieces_
            assert same.alignment_ == model.alignment_
    model = SpanTagger(perceptron(), tokenizer=str.split).fit(X, y)
    with pytest.raises(
        TypeError, match="parameter 'tokenizer' of SpanTagger: a value of type method"
    ):
        model.save(tmp_path / "model")
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)


def test_white_space_at_the_ends_of_spans_does_not_count():
    texts, spans = (
        ["\ufeffAnn met Bob.", "Ann "],
        [[(1, 4, "PER"), (8, 12, "PER")], [(0, 4, "PER")]],
    )
    model = SpanTagger(perceptron(), tokenizer=r"[^\s.]+|\.").fit(
        texts, spans
    )  # takes U+FEFF for a letter
    assert (
        model.predict(texts)[0][0] == (0, 4, "PER") and model.score(texts, spans) == 1.0
    )
    assert (
        scores_of("spans", texts, model.predict(texts), spans).overall["f1"].value
        == 1.0
    )


def test_all_scores_of_spans_agree():
    """Gold spans with white space at their ends, as people mark them."""
    sloppy = [
        [(s, min(e + 1, len(text)), label) for s, e, label in row]
        for text, row in zip(X, y)
    ]
    model = SpanTagger(perceptron(max_iter=1)).fit(X, y)
    found, scorer = model.predict(X), skstruct.metrics.span_f1_scorer
    scores = [
        model.score(X, sloppy),
        scorer(model, X, sloppy),
        span_f1_score(sloppy, found, texts=X),
    ]
    assert len(set(scores)) == 1 and span_f1_score(sloppy, found) < scores[0]
    weight = np.arange(1.0, 1.0 + len(X))
    assert scorer(model, X, sloppy, sample_weight=weight) == model.score(
        X, sloppy, weight
    )
    pipeline = make_pipeline(
        FunctionTransformer(lambda X: [text for (text,) in X]), model
    )
    boxes = [(text,) for text in X]
    assert scorer(pipeline, boxes, sloppy) == pipeline.score(boxes, sloppy) == scores[0]
    grid = {"tagger__max_iter": [1, 3]}
    for pairs in (None, {"one": scorer, "two": scorer}):
        default, by_name = (
            GridSearchCV(
                SpanTagger(perceptron()), grid, cv=2, scoring=scoring, refit=False
            ).fit(X, sloppy)
            for scoring in (None, pairs or scorer)
        )
        column = "mean_test_two" if pairs else "mean_test_score"
        assert (
            by_name.cv_results_[column].tolist()
            == default.cv_results_["mean_test_score"].tolist()
        )


def test_searches_and_pipelines():
    grid = {"tokenizer": ["words", "characters"], "tagger__max_iter": [1, 3]}
    search = GridSearchCV(
        SpanTagger(perceptron()), grid, cv=2, scoring=skstruct.metrics.span_f1_scorer
    )
    search.fit(X, y)
    assert search.best_score_ == 1.0 and search.best_params_ == {
        "tagger__max_iter": 3,
        "tokenizer": "words",
    }
    found = cross_val_predict(SpanTagger(perceptron()), X, y, cv=2)
    assert found.shape == (len(X),) and span_f1_score(y, found) == 1.0
    pipeline = make_pipeline(FunctionTransformer(list), SpanTagger(perceptron())).fit(
        X, y
    )
    assert pipeline.predict(X) == SpanTagger(perceptron()).fit(X, y).predict(X)
    assert inspection.explain(pipeline, X[0]).segments == [(0, 2, "PER"), (4, 5, "LOC")]


def test_mixtures_of_texts():
    shards = [
        lambda: (X[:6], y[:6]),
        lambda: (["Ann\nLee\n\nmet Bob."], [[(0, 7, "PER"), (13, 15, "PER")]]),
    ]
    with pytest.warns(UserWarning, match="1 of 2 spans does not end where tokens do"):
        mixer = ParameterMixer(SpanTagger(), random_state=0).fit_shards(shards)
    model = mixer.estimator_
    assert (
        model.pieces_ == "lines"
        and model.alignment_["moved"] == 1
        and model.alignment_["spans"] == 14
    )
    alone = ParameterMixer(SpanTagger(), n_shards=1, random_state=0).fit(
        X, y, X_val=X, y_val=y
    )
    assert alone.predict(X) == SpanTagger(perceptron()).fit(X, y).predict(X)
    with pytest.raises(
        ValueError,
        match=r"put it inside: SpanTagger\(BaggingShuffleAverager\(tagger\)\)",
    ):
        BaggingShuffleAverager(SpanTagger()).fit(X, y)
    with pytest.raises(
        TypeError, match=r"put it inside: SpanTagger\(CalibratedTagger\(tagger\)\)"
    ):
        CalibratedTagger(SpanTagger()).fit(X, y)


SCORED = []


def third_is_interrupted(estimator, X, y):
    """A scorer."""
    SCORED.append(X)
    if len(SCORED) == 3:
        raise KeyboardInterrupt
    return 0.5


def test_checkpoints_and_interrupts(tmp_path):
    SCORED.clear()
    tagger = perceptron(
        max_iter=4, checkpoint=str(tmp_path), scoring=third_is_interrupted
    )
    model = SpanTagger(tagger)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, X_val=X, y_val=y)
    again = SpanTagger(tagger).fit(X, y, X_val=X, y_val=y)
    assert again.tagger_.resumed_from_ == 2 and not list(tmp_path.iterdir())
    assert again.predict(X) == SpanTagger(perceptron(max_iter=4)).fit(X, y).predict(X)


def test_segmenters_and_foreign_taggers():
    class Often:
        """Says that capitals are names."""

        def fit(self, X, y):
            self.fitted_ = True
            return self

        def predict(self, X):
            return [["B-PER" if t.word[0].isupper() else "O" for t in x] for x in X]

        def get_params(self, deep=True):
            return {}

    model = SpanTagger(Often()).fit(X, y)
    assert model.predict(["Ann met Bob."]) == [[(0, 3, "PER"), (8, 11, "PER")]]
    assert not hasattr(model, "predict_kbest") and not hasattr(
        model, "predict_segment_proba"
    )
    with pytest.raises(TypeError, match="must label tokens.*a Segmenter does not"):
        SpanTagger(Segmenter()).fit(X, y)


def test_explanations_and_pictures_of_texts():
    model = SpanTagger(CalibratedTagger(perceptron(), cv=2)).fit(X, y)
    found = inspection.explain(model, X[1])
    assert (
        " ".join(token.token for token in found.tokens)
        == "Bob Lee left Paris . He met Ann ."
    )
    assert found.segments == [(0, 2, "PER"), (3, 4, "LOC"), (7, 8, "PER")]
    scores = model.tagger_.estimator_.decision_function(
        inside.sequences_of(model, [X[1]])
    )
    assert found.score == pytest.approx(scores.sum())
    other = inspection.explain(model, X[1], [(0, 3, "LOC"), (27, 30, "PER")])
    assert (
        other.segments == [(0, 1, "LOC"), (7, 8, "PER")] and other.score < found.score
    )
    assert inspection.explain(model, " ").tokens == []
    picture = inspection.render([X[0]], [y[0]], [[(0, 3, "PER"), (17, 21, "LOC")]])
    assert picture.count("LOC") == 1 and "✗" in picture
    errors = inspection.errors(
        model, X[:1], [[(0, 7, "PER"), (8, 13, "LOC"), (14, 16, None)]]
    )
    assert (errors.kind, errors.n_items, errors.n_errors, errors.n_unseen) == (
        "spans",
        2,
        2,
        0,
    )
    assert [(c.gold, c.predicted) for c in errors.confusions] == [
        ("(none)", "LOC"),
        ("LOC", "(none)"),
    ]
    assert "[Rome]" in errors.confusions[0].examples[0].text


def test_reliability_of_spans():
    pytest.importorskip("matplotlib")
    model = SpanTagger(L1CRF(c1=0.1, random_state=0)).fit(X, y)
    display = inspection.ReliabilityDisplay.from_estimator(model, X, y, n_bins=1)
    found = [pair for spans in model.predict_segment_proba(X) for pair in spans]
    assert display.confidence[0] == pytest.approx(np.mean([p for _, p in found]))
    assert display.accuracy[0] == 1.0 and display.count[0] == len(found)


def clauses(n_texts, lengths, touching=False):
    """(X, y) of clauses of so many sentences, on one line a text."""
    random = np.random.default_rng(0)
    words = "alpha beta gamma delta mu nu pi rho tau phi".split()
    X, y = [], []
    for _ in range(n_texts):
        text, spans = "Introduction. ", []
        for length in lengths:
            sentences = random.choice(words, (length, 12))
            inner = " ".join(" ".join(sentence) + "." for sentence in sentences)
            clause = f"Indemnity: {inner} End of clause."
            spans.append((len(text), len(text) + len(clause), "CLAUSE"))
            text += clause + (" " if touching else " Notices: alpha mu. ")
        X.append(text)
        y.append(spans)
    return X, y


@pytest.mark.parametrize("max_length", [200, 50, None])
@pytest.mark.parametrize("touching", [False, True])
def test_spans_may_be_longer_than_pieces_of_training(max_length, touching):
    X, y = clauses(20, [1, 25, 3], touching)
    model = SpanTagger(L1CRF(random_state=0), max_length=max_length)
    assert model.fit(X[:15], y[:15]).score(X[15:], y[15:]) == 1.0
    found = model.predict(X)
    for other in (1, 7, None):
        assert model.set_params(max_length=other).predict(X) == found
    assert len(model.predict_segment_proba(X[:1], y[:1])[0]) == 3


def test_training_cuts_beside_no_span():
    """Were spans cut off where they end, a tagger would learn that they end there."""
    X, y = clauses(4, [25, 1, 20])
    _, (tokens, labels, _) = given(X, y, max_length=40)
    assert len(tokens) > 4
    of_text = {0, *itertools.accumulate(map(len, given(X, y, max_length=None)[1][0]))}
    at = 0
    for piece in labels:
        assert piece[:2] == ["O", "O"] or at in of_text
        at += len(piece)
        assert piece[-2:] == ["O", "O"] or at in of_text


def test_very_long_pieces_are_cut_in_prediction(monkeypatch):
    model = SpanTagger(perceptron(), pieces="texts").fit(X, y)
    monkeypatch.setattr("skstruct._taggers.span_training.MOST_TOKENS", 50)
    pieces = inside.sequences_of(model, [" ".join(X * 9)])
    assert len(pieces) > 1 and max(map(len, pieces)) <= 50


def test_what_max_length_and_pieces_change_is_said():
    X, y = clauses(5, [1, 25])
    report = SpanTagger().alignment_report(X, y)
    assert report.long_pieces == 5 and report.reachable == 1.0
    assert "5 long pieces cut for training (max_length)" in str(report)
    assert SpanTagger(max_length=None).alignment_report(X, y).long_pieces == 0
    texts = ["Ann\nLee met Bob."] + ["Bob met Ann."] * 200
    spans = [[(0, 7, "PER"), (12, 15, "PER")]] + [[(0, 3, "PER"), (8, 11, "PER")]] * 200
    said = 'never be predicted: 1 across lines \\(pieces="texts" can hold them\\)'
    with pytest.warns(UserWarning, match=said):
        model = SpanTagger(perceptron()).fit(texts, spans)
    assert model.pieces_ == "lines" and model.alignment_["across"] == 1
    report = model.alignment_report(texts, spans)
    assert report.reachable == pytest.approx(1 - 1 / 402)
    assert report.moves == [(0, 0, (0, 7, "PER"), "across", (0, 7, "PER"))]
    whole = SpanTagger(pieces="texts").alignment_report(texts, spans)
    assert whole.reachable == 1.0 and not whole.moves
