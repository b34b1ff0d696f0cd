"""``--repair`` rewrites labels that break the scheme, and says how many."""

from cli_cases import run


def test_what_was_repaired_is_said_and_learned(tmp_path, capsys):
    path = tmp_path / "a.conll"
    path.write_text("Ana B-PER\nRuiz I-PER\nleft O\n\nin O\nLima I-LOC\n\n" * 3)
    given = [
        "train",
        path,
        "-m",
        tmp_path / "m",
        "-p",
        "constraints=BIO",
        "--epochs",
        2,
    ]
    code, _, err = run(capsys, *given)
    assert code == 1 and "; --repair rewrites the labels" in err
    code, _, err = run(capsys, *given, "--repair")
    assert code == 0 and "repaired 3 labels in 3 sentences" in err
    code, out, _ = run(capsys, "tag", path, "-m", tmp_path / "m")
    assert code == 0 and "Lima I-LOC B-LOC" in out
