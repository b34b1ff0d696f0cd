"""The bytecode of tests is made once, and they are not run for it."""

import os
import subprocess
import sys

from kept_bytecode import rewrite_tests


def test_rewritten_tests_are_kept_and_not_run(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/test_a.py").write_text("assert 1 == 2\n")
    (tmp_path / "sub/test_b.py").write_text("this is no Python\n")
    (tmp_path / "sub/test_c.py").write_text("assert 1 == 2\n")
    rewrite_tests(tmp_path)
    kept = [path.name for path in sorted(tmp_path.glob("sub/__pycache__/*"))]
    assert [name.split(".")[0] for name in kept] == ["test_a", "test_c"]
    (tmp_path / "sub/test_a.py").write_text("assert 1 == 1  # another text\n")
    before = (tmp_path / "sub/__pycache__" / kept[0]).read_bytes()
    rewrite_tests(tmp_path)  # tests have been run before: workers rewrite what changed
    assert (tmp_path / "sub/__pycache__" / kept[0]).read_bytes() == before


def test_processes_keep_bytecode(tmp_path):
    (tmp_path / "module.py").write_text("value = 1\n")
    assert not sys.dont_write_bytecode and "PYTHONDONTWRITEBYTECODE" not in os.environ
    subprocess.run([sys.executable, "-c", "import module"], cwd=tmp_path, check=True)
    assert [*tmp_path.glob("__pycache__/module.*")]
