"""Two commits side by side: do they compute the same, bit for bit, and do they take the
same time?

``python -m benchmarks.versus REV`` compares the package of commit REV with that of the
working tree, or of the commit given second. Each side is an environment of its own: a
copy of its source, processes of its own, and folders of its own for compiled kernels
and temporary files. The dependencies are those of the interpreter that runs this;
nothing is installed. Every process makes sure that the package it has imported is the
copy. Both sides run the same files, ``versus_results`` and ``versus_speed`` of the
working tree.

``--results`` (the default) compares hashes and ends with status 1 if one differs or a
case fails. ``--speed`` runs both sides in turns, each time in a fresh process, with
kernels compiled before. ``--cold`` does so with the first fit when no kernel is
compiled. Both show ratios of the second side to the first.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from benchmarks.common import DATA, table
from benchmarks.versus_results import FACTS
from benchmarks.versus_speed import FIGURES

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PAIRS = 5


# --------------------------------------------------------------------------------------
# Environments
# --------------------------------------------------------------------------------------
def git(*arguments, env=None):
    """Output of a git command in this repository; ends the script where it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, env=env
    )
    if done.returncode:
        sys.exit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextlib.contextmanager
def own_index():
    """Environment of git commands that leaves the user's index alone."""
    with tempfile.TemporaryDirectory() as folder:
        yield dict(os.environ, GIT_INDEX_FILE=str(pathlib.Path(folder, "index")))


def tree_of(commit):
    """Hash of the package's folder in a commit; in the working tree for None, new files
    included.
    """
    if commit is None:
        with own_index() as environment:
            git("read-tree", "HEAD", env=environment)
            git("add", "--all", "--", "skstruct", env=environment)
            commit = git("write-tree", env=environment)
    return git("rev-parse", "--verify", f"{commit}:skstruct")


class Side:
    """One commit: its copy of the source, and how to run a benchmark with it.

    Parameters
    ----------
    name : str
        What tables call it.
    commit : str or None
        None is the working tree.
    folder : path
        Where the copy, kernels and temporary files go. If it holds them already they
        are used again.
    """

    def __init__(self, name, commit, folder):
        self.name = name
        tree = tree_of(commit)
        self.folder = folder / f"{'tree' if commit is None else 'commit'}-{tree}"
        self.scratch = self.folder / "tmp"
        if not self.scratch.exists():
            with own_index() as environment:
                git("read-tree", tree, env=environment)
                git(
                    "checkout-index",
                    "--all",
                    f"--prefix={self.folder}/skstruct/",
                    env=environment,
                )
            self.scratch.mkdir()
        # Beside the package, so that no other copy of either is found first.
        shutil.copytree(
            REPOSITORY / "benchmarks", self.folder / "benchmarks", dirs_exist_ok=True
        )

    def run(self, module, *arguments, kernels=None):
        """What a module of the benchmarks prints in a fresh process, read as JSON."""
        environment = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join(
                filter(None, [str(self.folder), os.environ.get("PYTHONPATH")])
            ),
            NUMBA_CACHE_DIR=str(kernels or self.folder / "kernels"),
            TMPDIR=str(self.scratch),
            SKSTRUCT_DATA=str(DATA.resolve()),
        )
        command = [
            sys.executable,
            "-m",
            f"benchmarks.{module}",
            *arguments,
            str(self.folder),
        ]
        done = subprocess.run(
            command,
            env=environment,
            cwd=self.scratch,
            stdout=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            sys.exit(
                f"{self.name}: {module} {' '.join(arguments)} ended with status {done.returncode}"
            )
        return json.loads(done.stdout)


def both(sides, *arguments):
    """The same run of both sides at the same time."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda side: side.run(*arguments), sides))


# --------------------------------------------------------------------------------------
# Results
# --------------------------------------------------------------------------------------
def verdict(fact, first, second):
    """The cell of one fact of one case."""
    if fact not in first and fact not in second:
        return ""
    return "same" if first.get(fact) == second.get(fact) else "DIFFERENT"


def verdicts(first, second):
    """Rows of the table, and whether everything is the same: a case that fails is
    not.
    """
    rows, same = [], True
    for case, a in first.items():
        b = second[case]
        failed = [
            f"{where}: {side['error']}"
            for where, side in (("first", a), ("second", b))
            if "error" in side
        ]
        if failed:
            cells = ["FAILS; " + "; ".join(failed), *[""] * (len(FACTS) - 1)]
        else:
            cells = [verdict(fact, a, b) for fact in FACTS]
        rows.append([case, *cells])
        same &= not failed and "DIFFERENT" not in cells
    return rows, same


def compare_results(sides):
    """Print the table of hashes; whether all are the same."""
    rows, same = verdicts(*both(sides, "versus_results"))
    table(["case (data)", *FACTS], rows)
    n = sum(set(row[1:]) <= {"same", ""} for row in rows)
    print(f"\n{n} of {len(rows)} cases are the same, bit for bit.")
    return same


# --------------------------------------------------------------------------------------
# Speed
# --------------------------------------------------------------------------------------
def summary(pairs, names):
    """Print medians of both sides, and of the ratios; ``pairs``: {(figure, unit):
    [(first, second)]}.
    """
    rows = []
    for (figure, unit), values in pairs.items():
        ratios = [second / first for first, second in values]
        first, second = (statistics.median(side) for side in zip(*values))
        rows.append([
            figure, unit, f"{first:.3g}", f"{second:.3g}", f"{statistics.median(ratios):.3f}",
            f"{min(ratios):.3f} to {max(ratios):.3f}",
        ])  # fmt: skip
    table(["", "unit", *names, "ratio (median)", "least to greatest"], rows)


def compare_speed(sides, n, figures, cold):
    """Run both sides in turns and print ratios."""
    pairs = collections.defaultdict(list)

    def note(label, *found):
        for name in found[0]:
            for unit in found[0][name]:
                pairs[name + label, unit].append(
                    tuple(side[name][unit] for side in found)
                )

    for figure in figures:
        both(sides, "versus_speed", figure, "50")  # compiles
        for _ in range(n):
            note("", *(side.run("versus_speed", figure, "0") for side in sides))
    for _ in range(n if cold else 0):
        found = []
        for side in sides:
            with tempfile.TemporaryDirectory() as kernels:
                found.append(side.run("versus_speed", "start", "0", kernels=kernels))
        note(", no kernel compiled", *found)
    summary(pairs, [side.name for side in sides])


def main():
    """Build, run, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rev", help="the commit to compare with")
    parser.add_argument(
        "other", nargs="?", help="a commit in place of the working tree"
    )
    parser.add_argument(
        "--results", action="store_true", help="compare hashes of all results (default)"
    )
    parser.add_argument(
        "--speed", action="store_true", help="compare times, and memory of a fit"
    )
    parser.add_argument(
        "--cold",
        action="store_true",
        help="compare the first fit without compiled kernels",
    )
    parser.add_argument(
        "-n", type=int, default=PAIRS, help="pairs of runs (default: %(default)s)"
    )
    parser.add_argument(
        "--folder", help="keep copies and kernels here for the next time"
    )
    args = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.folder or temporary).resolve()
        names = [args.rev, args.other or "working tree"]
        sides = [
            Side(name, commit, folder)
            for name, commit in zip(names, [args.rev, args.other])
        ]
        if args.results or not (args.speed or args.cold):
            same = compare_results(sides)
        if args.speed or args.cold:
            compare_speed(sides, args.n, FIGURES if args.speed else (), args.cold)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
