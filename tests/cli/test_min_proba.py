"""``tag --min-proba``: spans that are at least so probable, by type."""

import json

from cli_cases import run

from skstruct import L1CRF, SpanTagger


def test_spans_of_at_least_a_probability(tmp_path, capsys):
    texts = ["Ann met Tom .", "Eve saw Bob .", "Kim ran ."] * 3
    spans = [
        [(0, 3, "PER"), (8, 11, "PER")],
        [(0, 3, "PER"), (8, 11, "PER")],
        [(0, 3, "PER")],
    ]
    model = SpanTagger(L1CRF(c1=0.3, random_state=0)).fit(texts, spans * 3)
    model.save(tmp_path / "ner")
    (tmp_path / "new.txt").write_text("Zoe met Ann .\nAnn ran .\n")
    given = "tag", tmp_path / "new.txt", "-m", tmp_path / "ner", "--lines"
    _, out, _ = run(capsys, *given, "--proba")
    found = [json.loads(line)["spans"] for line in out.splitlines()]
    every = sorted(span["probability"] for row in found for span in row)
    assert len(every) > 1 and every[0] < every[-1]
    limit = every[-1]
    _, out, _ = run(capsys, *given, "--min-proba", limit)
    left = [json.loads(line)["spans"] for line in out.splitlines()]
    assert sum(map(len, left)) == sum(p >= limit for p in every) < len(every)
    assert run(capsys, *given, "--min-proba", f"PER={limit}")[1] == out
    assert run(capsys, *given, "--min-proba", f"{limit},PER={limit}")[1] == out
    wrong = "0", "1.5", "x", "PER=0", "PER=.5,PER=.6", ".5,.6", "=.5"
    for each in wrong:
        assert run(capsys, *given, "--min-proba", each)[0] == 2
    code, _, said = run(capsys, *given, "--min-proba", "LOC=.5,.6")
    assert code == 2 and "--min-proba: no label has the type 'LOC'" in said
    assert run(capsys, *given, "--min-proba", "0.5", "--sets")[0] == 2
