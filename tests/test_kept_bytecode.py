"""The bytecode of tests is made once, and they are not run for it."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest
from kept_bytecode import kept_file, rewrite_tests

TEXTS = {
    "test_a": "assert 1 == 2\n",
    "test_b": "this is no Python\n",
    "test_c": "assert 1 == 2\n",
}


@pytest.mark.parametrize("elsewhere", [False, True])
def test_rewritten_tests_are_kept_and_not_run(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "c") * elsewhere or None)
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, text in TEXTS.items():
        (sources / f"{name}.py").write_text(text)
    rewrite_tests(sources)
    kept = {name: kept_file(sources / f"{name}.py") for name in TEXTS}
    assert [name for name in kept if kept[name].exists()] == ["test_a", "test_c"]
    assert (sources / "__pycache__").exists() is not elsewhere
    (sources / "test_a.py").write_text("assert 1 == 1  # another text\n")
    before = kept["test_a"].read_bytes()
    rewrite_tests(sources)  # tests have been run before: workers rewrite what changed
    assert kept["test_a"].read_bytes() == before
    kept["test_c"].rename(kept["test_c"].with_name("test_c.of-another-python.pyc"))
    rewrite_tests(sources)
    assert kept["test_c"].exists() and kept["test_a"].read_bytes() != before


def test_processes_keep_bytecode(tmp_path):
    (tmp_path / "module.py").write_text("value = 1\n")
    assert not sys.dont_write_bytecode and "PYTHONDONTWRITEBYTECODE" not in os.environ
    subprocess.run([sys.executable, "-c", "import module"], cwd=tmp_path, check=True)
    kept = importlib.util.cache_from_source(tmp_path / "module.py")
    assert pathlib.Path(kept).exists()
