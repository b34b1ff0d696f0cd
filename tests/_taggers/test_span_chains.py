"""Spans that overlap: a chain of labels for each type that overlaps another."""

import json
import pickle
from collections import Counter

import pytest
from cli_cases import run
from nested_cases import GOLD, TEST, X, Y, flat_taggers, of_types, tagger
from serving_cases import call
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    ParameterMixer,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._data import text
from skstruct._data.nested import types_apart
from skstruct._data.spans import as_spans
from skstruct._one_file.writing import export
from skstruct.datasets.formats.span_writing import write_spans
from skstruct.features.template_encoder import TemplateEncoder
from skstruct.inspection import (
    errors,
    features_of,
    render,
    transition_weights,
)
from skstruct.serving import app


def test_chains_predict_what_taggers_of_their_types_do():
    model = tagger().fit(X, Y)
    assert len(model.chains_) == 1
    flat = [
        SpanTagger(StructuredPerceptron(random_state=0)).fit(X, of_types(Y, types))
        for types in ({"protein", "cell"}, {"DNA"})
    ]
    both = [sorted(a + b) for a, b in zip(*(each.predict(TEST) for each in flat))]
    found = model.predict(TEST)
    assert list(map(sorted, found)) == both
    assert all(a.start <= b.start for spans in found for a, b in zip(spans, spans[1:]))
    assert model.score(TEST, GOLD) > 0.95
    longest = SpanTagger(StructuredPerceptron(random_state=0), overlap="longest")
    with pytest.warns(UserWarning, match='overlap="by-type" learns them'):
        longest.fit(X, Y)
    assert longest.score(TEST, GOLD) < 0.9


def test_data_without_overlap_have_one_chain_and_the_same_model():
    flat = of_types(Y, {"protein"})
    model = tagger().fit(X, flat)
    assert model.chains_ == []
    plain = SpanTagger(StructuredPerceptron(random_state=0)).fit(X, flat)
    assert model.predict(TEST) == plain.predict(TEST)
    assert model.set_params(overlap="error").fit(X, flat).predict(
        TEST
    ) == plain.predict(TEST)
    assert not hasattr(model, "chains_")


def test_types_that_never_overlap_share_a_chain():
    y = [
        [(0, 4, "A"), (2, 6, "B"), (8, 9, "C")],
        [(0, 4, "C"), (1, 2, "B")],
        [(0, 1, "B")],
    ]
    assert types_apart(as_spans(y)) == [["B"], ["C", "A"]]
    assert types_apart(as_spans([[]])) == [[]]


def test_a_type_inside_of_itself_is_refused_by_its_place():
    y = [[], [(0, 9, "A"), (0, 3, "B"), (2, 5, "A")]]
    said = "sequence 1, position 2: .*same type.*one chain for each type"
    for verb in tagger().fit, tagger().alignment_report:
        with pytest.raises(ValueError, match=said):
            verb(["Ann saw Bob."] * 2, y)


def test_errors_name_positions_among_all_spans():
    y = [[], [(0, 6, "P"), (0, 15, "D"), (0, 4, "P2")]]
    for verb in "fit", "alignment_report":
        with pytest.raises(ValueError, match=r"sequence 1, position 1: \(0, 15, 'D'\)"):
            getattr(tagger(align="error"), verb)(["x", "GATA-1 promoters"], y)


def test_white_space_at_the_ends_does_not_overlap():
    X, y = ["Ann saw Bob."], [[(0, 4, "A"), (3, 7, "A"), (8, 11, "A")]]
    assert tagger().fit(X * 3, y * 3).chains_ == []


def test_without_it_the_error_names_it():
    with pytest.raises(ValueError, match='overlap="by-type" learns both'):
        SpanTagger().fit(X, Y)
    with pytest.raises(ValueError) as error:
        SpanTagger().fit(["Ann saw Bob."], [[(0, 9, "A"), (2, 5, "A")]])
    assert "by-type" not in str(error.value)


def test_the_report_counts_all_spans():
    report = tagger().alignment_report(
        ["GATA-1 promoters"], [[(0, 15, "D"), (0, 6, "P")]]
    )
    assert report.counts["spans"] == 2 and report.counts["moved"] == 1
    assert report.moves[0][4] == (0, 16, "D")
    assert tagger().alignment_report(X, Y).reachable == 1.0


def test_probabilities_and_k_best_of_chains():
    model = tagger(L1CRF(c1=0.1, max_iter=200, random_state=0)).fit(X, Y)
    (chain,) = model.chains_
    found = model.predict_segment_proba(TEST)
    assert [[span for span, _ in each] for each in found] == model.predict(TEST)
    dna = dict(chain.predict_segment_proba(TEST[:1], of_types(GOLD[:1], {"DNA"}))[0])
    asked = dict(model.predict_segment_proba(TEST[:1], GOLD[:1])[0])
    assert dna.items() <= asked.items() and list(asked) == GOLD[0]
    some = model.predict_segment_proba(TEST, min_proba={"DNA": 0.5, None: 0.9})
    assert all(
        p >= (0.5 if s.label == "DNA" else 0.9) for each in some for s, p in each
    )
    likely = model.predict(TEST, min_proba={"DNA": 0.5, None: 0.9})
    assert likely == [
        [s for s, p in row if p >= (0.5 if s.label == "DNA" else 0.9)] for row in found
    ]
    every = model.predict_segment_proba(TEST[:1], min_proba=0.2)[0]
    assert [p for _, p in every] == sorted((p for _, p in every), reverse=True)
    with pytest.raises(
        ValueError, match="sequence 0, position 0: no label has the type"
    ):
        model.predict_segment_proba(["ab"], [[(0, 2, "X")]])
    best = model.predict_kbest(TEST, 3)
    assert [each[0][0] for each in best] == model.predict(TEST)
    own = [s for _, s in SpanTagger.predict_kbest(model.chains_[0], TEST[:1], 3)[0]]
    assert best[0][0][1] > best[0][1][1] and len(own) == 3


def test_sets_of_spans_of_all_chains():
    inner = L1CRF(c1=0.1, max_iter=200, random_state=0)
    sets = SpanSets(tagger(inner), recall=0.9, cv=3).fit(X, Y)
    offered = [{span for span, _ in row} for row in sets.predict_sets(TEST)]
    found = sum(len(some & set(map(tuple, gold))) for some, gold in zip(offered, GOLD))
    assert found >= 0.85 * sum(map(len, GOLD))
    assert {span.label for some in offered for span in some} == {
        "DNA",
        "protein",
        "cell",
    }


def test_copies_files_pipelines_and_threads(tmp_path):
    for inner in (
        None,
        BaggingShuffleAverager(
            StructuredPerceptron(), n_estimators=2, n_jobs=2, random_state=0
        ),
    ):
        model = tagger(inner).fit(X, Y, X_val=None)
        expected = model.predict(TEST)
        model.save(tmp_path / "m")
        for other in (
            skstruct.load(tmp_path / "m"),
            pickle.loads(pickle.dumps(model)),
            clone(model).fit(X, Y),
            model.compress(dtype="float64"),
        ):
            assert other.predict(TEST) == expected
    pipeline = make_pipeline(tagger()).fit(X, Y)
    assert pipeline.predict(TEST) == tagger().fit(X, Y).predict(TEST)
    pipeline[-1].set_params(tagger__n_jobs=2)
    assert pipeline.predict(TEST) == tagger().fit(X, Y).predict(TEST)


def test_sizes_are_those_of_all_chains():
    found = tagger().fit(X, Y).info()
    flat = [each.info() for each in flat_taggers(X, Y)]
    for name in ("labels", "state_weights", "transition_weights"):
        assert found[name] == sum(each[name] for each in flat)
    assert found["features"] == flat[0]["features"]


def test_held_out_texts_and_weights():
    early = StructuredPerceptron(random_state=0, early_stopping=True)
    model = tagger(early).fit(X, Y, X_val=TEST, y_val=GOLD)
    assert "validation_score" in model.chains_[0].history_[0]
    apart = of_types(Y, {"protein", "cell"})
    held_out = {"X_val": TEST, "y_val": GOLD}
    later = [
        [(a, b, {"DNA": "cell"}.get(kind, kind)) for a, b, kind in row] for row in GOLD
    ]
    assert tagger(early).fit(X, apart).chains_ == []
    held_out["y_val"] = later
    assert len(tagger(early).fit(X, apart, **held_out).chains_) == 1
    new = [[*row, (0, 2, "new")] for row in GOLD]
    assert len(tagger(early).fit(X, Y, X_val=TEST, y_val=new).chains_) == 1
    twice = [[*row, *row[:1], (row[0][0], row[0][1] - 1, row[0][2])] for row in GOLD]
    with pytest.raises(
        ValueError, match=r"y_val: sequence 0, position \d: .*same type"
    ):
        tagger(early).fit(X, Y, X_val=TEST, y_val=twice)
    half = tagger().fit(X, Y, sample_weight=[1] * 30 + [0] * 30)
    assert half.predict(TEST) == tagger().fit(X[:30], Y[:30]).predict(TEST)


def test_what_knows_one_chain_says_so(tmp_path):
    model = tagger().fit(X, Y)
    for ask, instead in (
        (lambda: export(model, tmp_path / "m.py"), "of the types of each chain"),
        (lambda: transition_weights(model), "its tagger_, or one of its chains_"),
        (lambda: features_of(model, TEST[0]), "its tagger_, or one of its chains_"),
    ):
        with pytest.raises(ValueError, match=f"2 chains of labels.*{instead}"):
            ask()
    with pytest.raises(ValueError, match="put what mixes models inside of it"):
        ParameterMixer(tagger(), n_shards=2).fit(X, Y)


# -- one encoding ----------------------------------------------------------------------
def test_texts_are_tokenized_and_encoded_once(monkeypatch, tmp_path):
    calls = Counter()

    def counted(owner, name):
        before = getattr(owner, name)

        def count(*args, **given):
            calls[name] += 1
            return before(*args, **given)

        monkeypatch.setattr(owner, name, count)

    counted(text, "_tokenized")
    counted(TemplateEncoder, "encode")
    model = tagger().fit(X, Y)
    assert calls.pop("encode") == 1
    model.save(tmp_path / "m")
    for each in (
        model,
        skstruct.load(tmp_path / "m"),
        pickle.loads(pickle.dumps(model)),
    ):
        for ask in (each.predict, each.predict_kbest):
            calls.clear()
            ask(TEST)
            assert calls == {"_tokenized": 1, "encode": 1}
    crf = tagger(L1CRF(max_iter=3, random_state=0)).fit(X, Y)
    calls.clear()
    crf.predict_segment_proba(TEST, min_proba=0.5)
    assert calls == {"_tokenized": 1, "encode": 1}


def test_errors_are_those_of_each_chain():
    model = tagger().fit(X, Y)
    found = errors(model, TEST, GOLD)
    assert found.n_items == sum(map(len, GOLD)) and found.kind == "spans"
    left_out = [[span for span in spans if span[2] != "DNA"] for spans in GOLD]
    n = sum(map(len, GOLD)) - sum(map(len, left_out))
    (confusion,) = [c for c in errors(model, TEST, left_out).confusions if c.count == n]
    assert confusion[:2] == ("(none)", "DNA")


def test_pictures_draw_all_spans():
    drawn = render(["GATA-1 promoter binds"], [[(0, 15, "DNA"), (0, 6, "protein")]])
    assert drawn.count('class="line"') == 2
    assert "DNA" in drawn and "protein" in drawn


def test_on_the_command_line(tmp_path, capsys):
    path, model = tmp_path / "a.jsonl", tmp_path / "m"
    write_spans(str(path), X, Y, "jsonl")
    code, out, err = run(capsys, "check", path)
    assert code == 1 and "-p overlap=by-type learns both" in out + err
    code, _, err = run(capsys, "train", path, "-m", model)
    assert code == 1 and "-p overlap=by-type learns both" in err
    given = "-p", "overlap=by-type"
    code, _, err = run(capsys, "train", path, "-m", model, *given)
    assert code == 0, err
    code, out, _ = run(capsys, "evaluate", path, "-m", model)
    assert code == 0 and "DNA" in out and "protein" in out
    code, out, _ = run(capsys, "show", model, "--json")
    shown = json.loads(out)
    assert code == 0 and shown["chains"] == 2
    assert set(shown["top"]) == set(shown["labels"]) >= {"B-DNA", "S-protein", "O"}
    code, out, _ = run(capsys, "show", model, "--explain", X[0])
    assert code == 0 and "DNA" in out and "protein" in out
    code, out, _ = run(capsys, "show", model)
    assert code == 0 and out.count("\ntransitions\n") == 2
    code, out, _ = run(capsys, "tag", path, "-m", model)
    first = json.loads(out.splitlines()[0])
    assert code == 0 and len(first["spans"]) == len(Y[0])
    for format in "xml", "conll", "replaced":
        code, out, err = run(capsys, "tag", path, "-m", model, "--write", format)
        assert code == 1 and ("overlap" in err or "2 chains" in err)
    write_spans(str(path), ["Ann saw"] * 3, [[(0, 7, "A"), (4, 7, "A")]] * 3, "jsonl")
    code, out, err = run(capsys, "check", path, *given)
    assert code == 1 and "overlap, of one type" in out + err


def test_the_service_answers_with_all_spans():
    model = tagger().fit(X, Y)
    body = {"texts": TEST[:2]}
    status, _, answer = call(
        app(model), "POST", "/predict", body, kind="application/json"
    )
    found = json.loads(answer)
    rows = found if isinstance(found, list) else next(iter(found.values()))
    assert status == 200
    assert [len(row) for row in rows] == list(map(len, model.predict(TEST[:2])))


@pytest.mark.parametrize("kind, n", [("protein", 0), ("DNA", 1)])
def test_an_interrupt_leaves_chains_of_one_fit(kind, n):
    class Interrupted(StructuredPerceptron):
        def fit(self, X, y, *args, **given):
            super().fit(X, y, *args, **given)
            if any(kind in str(label) for labels in y for label in labels):
                raise KeyboardInterrupt
            return self

    model = tagger().fit(X, of_types(Y, {"cell"}))
    assert model.chains_ == []
    model.set_params(tagger=Interrupted(random_state=0))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    known = {"protein", "cell"} | ({"DNA"} if n else set())
    assert len(model.chains_) == n
    assert model.score(TEST, of_types(GOLD, known)) > 0.95
