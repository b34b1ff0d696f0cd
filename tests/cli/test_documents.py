"""Splits of the command line keep the sentences of a document together."""

import json

import numpy as np
import pytest
from cli_cases import run

import skstruct
from skstruct import L1CRFCV, CalibratedTagger, SpanSets, StructuredPerceptron
from skstruct.cli import documents
from skstruct.cli.corpus import Corpus

N = 6


def written(path, n_documents=N):
    """Documents of three sentences; the word of each says its number."""
    text = ""
    for k in range(n_documents):
        text += "-DOCSTART- O\n\n"
        text += "".join(f"w{k} B-X\nin O\ns{i} B-Y\n\n" for i in range(3))
    path.write_text(text)
    return path


def numbers(X):
    return {tokens[0] for tokens in X}


@pytest.fixture
def seen(monkeypatch):
    """What the splits within ``fit`` were: (learned, tested) documents."""
    found = []
    original = documents.split_by_document

    def spy(model, corpus, *more):
        manager = original(model, corpus, *more)

        class Watched:
            def __enter__(self):
                shown = manager.__enter__()
                X = shown.corpus.X
                if shown.held_out is not None:
                    found.append((numbers(X), numbers(shown.held_out.X)))
                for name, value in model.get_params().items():
                    if name.endswith("cv") and isinstance(value, list):
                        for train, test in value:
                            parts = [numbers([X[i] for i in p]) for p in (train, test)]
                            found.append(tuple(parts))
                return shown

            def __exit__(self, *error):
                return manager.__exit__(*error)

        return Watched()

    monkeypatch.setattr("skstruct.cli.train.split_by_document", spy)
    return found


WAYS = {
    "early": ["-p", "early_stopping=True"],
    "members": ["-p", "early_stopping=True", "--members", "2"],
    "search": ["-a", "l1crf", "--search", "-p", "c1s=(1.0,)", "-p", "c2s=(0.1,)"],
    "calibrate": ["--calibrate"],
}


@pytest.mark.parametrize("way", WAYS)
def test_no_split_within_training_cuts_a_document(tmp_path, capsys, seen, way):
    path = written(tmp_path / "a.txt")
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", *WAYS[way])
    assert code == 0, err
    assert seen and all(learned and tested for learned, tested in seen)
    assert all(learned.isdisjoint(tested) for learned, tested in seen)
    model = skstruct.load(tmp_path / "m")
    kept = [v for k, v in model.get_params().items() if k.endswith("cv")]
    assert not any(isinstance(v, list) for v in kept)


def test_parts_that_are_a_number_stay_one(tmp_path, capsys):
    """A re-ranker has a parameter of the same name, which takes no folds."""
    path = written(tmp_path / "a.txt", 12)
    given = "-a", "reranker", "-p", "cv=2", "--epochs", 1
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", *given)
    assert code == 0, err
    assert skstruct.load(tmp_path / "m").cv == 2
    path = written(tmp_path / "b.txt", 3)
    given = "-a", "reranker", "-p", "cv=5", "--epochs", 1, "--force"
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", *given)
    assert code == 0 and "3 documents for 5 folds" in err and "-p cv=3" in err


def test_fewer_documents_than_folds_are_told(tmp_path, capsys):
    path = written(tmp_path / "a.txt", 3)
    given = ("train", path, "-m", tmp_path / "m", "--force")
    code, _, err = run(capsys, *given, "--calibrate")
    assert code == 0 and "3 documents for 5 folds" in err and "-p cv" not in err
    code, _, err = run(capsys, *given, *WAYS["search"])
    assert code == 0 and "3 documents for 5 folds" in err and "-p cv=3" in err
    code, _, err = run(capsys, *given, *WAYS["search"], "-p", "cv=3")
    assert code == 0 and "3 documents" not in err


def test_check_and_holdout_know_documents(tmp_path, capsys, monkeypatch):
    path = written(tmp_path / "a.txt")
    code, out, err = run(capsys, "train", path, "-m", tmp_path / "m", "--holdout", ".4")
    assert code == 0 and "2 documents held out" in out + err
    given = []
    original = documents.documents_of

    def spy(corpus):
        found = original(corpus)
        given.append(found)
        return found

    monkeypatch.setattr("skstruct.cli.check.documents_of", spy)
    assert run(capsys, "check", path, "--cv", 3)[0] == 0
    ((groups, known),) = given
    assert known and groups.tolist() == np.repeat(np.arange(N), 3).tolist()


def test_a_model_is_as_it_was_after_an_error():
    corpus = Corpus(
        "x", "columns", [["a"]] * 6, [["X"]] * 6, [[1]] * 6, list("aabbcc"), []
    )
    for model in L1CRFCV(cv=2), CalibratedTagger(StructuredPerceptron(), cv=3):
        before = model.cv
        with pytest.raises(ZeroDivisionError):
            with documents.split_by_document(model, corpus, 0, False) as shown:
                assert isinstance(model.cv, list) and shown.corpus is corpus
                raise ZeroDivisionError
        assert model.cv == before


def test_texts_of_one_document_are_calibrated_together(tmp_path, capsys, monkeypatch):
    """Records may name their document; each is one without."""
    rows = [
        {"text": f"Ann{k} met Bob in {t}.", "spans": [[0, 4, "PER"]], "doc_id": k}
        for k in range(6)
        for t in ("Rome", "Oslo", "Bern")
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    shown = []
    original = SpanSets.fit

    def fit(self, X, y, groups=None, **more):
        shown.append(groups)
        return original(self, X, y, groups, **more)

    monkeypatch.setattr(SpanSets, "fit", fit)
    given = ("train", path, "-m", tmp_path / "m", "-a", "l1crf", "--recall", ".5")
    code, _, err = run(capsys, *given)
    assert code == 0, err
    assert shown[0].tolist() == np.repeat(np.arange(6), 3).tolist()
