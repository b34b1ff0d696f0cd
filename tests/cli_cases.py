"""What the tests of the command line share."""

from skstruct import cli

N_TRAIN = 110
"""Sentences of the small corpora to learn from; the others are for tests."""


def columns(X, y):
    """(word, tag) sentences and labels as the text of a file."""
    return "".join(
        "".join(f"{w} {p} {c}\n" for (w, p), c in zip(*s)) + "\n" for s in zip(X, y)
    )


NOTICES = (
    "compiling kernels",
    "; first: ",
    ": first: ",
    ": read as one text",
    ": read as texts",
    ": read as annotated texts",
)
"""What standard error says of a first start, and of every file that is tagged."""


def without_notice(err):
    """What a command says on standard error, but for `NOTICES`."""
    return "".join(
        line
        for line in err.splitlines(keepends=True)
        if not any(notice in line for notice in NOTICES)
    )


def run_train(capsys, *arguments):
    """Run ``train``, which may replace the model that an earlier line of a test has
    written.
    """
    return run(capsys, "train", *arguments, "--force")


def run(capsys, *arguments):
    """(exit code, standard output, standard error) of a command."""
    capsys.readouterr()
    try:
        code = cli.main(list(map(str, arguments)))
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, without_notice(err)
