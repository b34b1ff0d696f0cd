"""The tests of python-crfsuite and sklearn-crfsuite, from their source packages, over ``skstruct.compat``.

Fetches the packages with pip into a temporary folder, and runs their tests there, unchanged.
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

PACKAGES = ("python-crfsuite==0.9.12", "sklearn-crfsuite==0.5.0")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    """Fetch and run; the exit code is 0 if all tests pass."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "installed_names.py").write_text("import skstruct.compat\nskstruct.compat.install()\n")
        path = os.pathsep.join([str(ROOT), name, os.environ.get("PYTHONPATH", "")])
        for package in PACKAGES:
            into = folder / package.partition("=")[0]
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*fetch, package, "-d", str(into)], check=True)
            with tarfile.open(next(into.glob("*.tar.gz"))) as archive:
                # The tests alone, so that no package of the same name is found beside them.
                members = [m for m in archive.getmembers() if "/tests/" in m.name and m.name.endswith(".py")]
                archive.extractall(into, members, filter="data")
            tests = next(into.glob("*/tests"))
            print(f"{package}:", flush=True)
            run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "installed_names"]
            failed += subprocess.run([*run, str(tests)], env={**os.environ, "PYTHONPATH": path}).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
