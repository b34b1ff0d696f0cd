"""The tests of python-crfsuite and sklearn-crfsuite, from their source packages, over
``skstruct.compat``.

Makes an environment of its own with this package and pytest, fetches the source
packages with pip into a temporary folder, and runs their tests there, unchanged. It
needs a package index and some minutes.
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import venv

PACKAGES = ("python-crfsuite==0.9.12", "sklearn-crfsuite==0.5.0")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    """Fetch and run; the exit code is 0 if all tests pass."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        venv.create(folder / "env", with_pip=True)
        python = [
            str(folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
        ]
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        pip = [*python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", str(ROOT), "pytest"], check=True, env=clean)
        (folder / "installed_names.py").write_text(
            "import skstruct.compat\nskstruct.compat.install()\n"
        )
        for package in PACKAGES:
            into = folder / package.partition("=")[0]
            fetch = [
                *pip,
                "download",
                "--no-deps",
                "--no-binary",
                ":all:",
                package,
                "-d",
                str(into),
            ]
            subprocess.run(fetch, check=True, env=clean)
            with tarfile.open(next(into.glob("*.tar.gz"))) as archive:
                # The tests alone, so that no package of the same name is found beside
                # them.
                members = [
                    m
                    for m in archive.getmembers()
                    if "/tests/" in m.name and m.name.endswith(".py")
                ]
                archive.extractall(into, members, filter="data")
            tests = next(into.glob("*/tests"))
            print(f"{package}:", flush=True)
            run = [
                *python,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "installed_names",
                str(tests),
            ]
            failed += subprocess.run(
                run, env={**clean, "PYTHONPATH": name}, cwd=tests
            ).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
