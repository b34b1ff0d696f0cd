"""``python -m tests.fuzz``: run cases, list faults."""

import argparse
import collections
import faulthandler
import importlib
import itertools
import os
import sys
import tempfile
import time
import traceback
import warnings

MODES = {
    "checked": "NUMBA_BOUNDSCHECK",
    "interpreted": "NUMBA_DISABLE_JIT",
    "plain": None,
}


def arguments():
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz", description="Random cases through every estimator."
    )
    parser.add_argument(
        "--minutes", type=float, default=5.0, help="how long (default: 5)"
    )
    parser.add_argument(
        "--rounds", type=int, help="so many cases of each scenario, instead of minutes"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of the first round; the next one has the next",
    )
    parser.add_argument("--only", help="scenarios, between commas")
    parser.add_argument(
        "--skip", default="", help="scenarios to leave out, between commas"
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="checked",
        help="kernels with bounds checks (default), as Python, as usual",
    )
    parser.add_argument("--case", metavar="SCENARIO:SEED", help="run that one alone")
    parser.add_argument(
        "--last", metavar="FILE", help="write each case to it first, for crashes"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="a line for each case"
    )
    return parser.parse_args()


def set_mode(mode):
    """Say to numba, before it is imported, what kernels shall be."""
    for name in filter(None, MODES.values()):
        os.environ.pop(name, None)
    if MODES[mode]:
        os.environ[MODES[mode]] = "1"
    # Numba's files do not tell kernels with checks from others.
    folder = os.environ.get("NUMBA_CACHE_DIR") or os.path.join(
        tempfile.gettempdir(), "skstruct-fuzz"
    )
    os.environ["NUMBA_CACHE_DIR"] = os.path.join(folder, mode)


def check_mode(mode):
    """Make sure that kernels check bounds, if they shall."""
    import numpy as np

    from skstruct._core.compile import kernel

    @kernel
    def beyond(array, place):
        return array[place]

    if mode != "plain":
        try:
            beyond(np.zeros(3), 3)
        except IndexError:
            return
        sys.exit("bounds are not checked")


class Tally:
    """Counts of outcomes, and what is said of them."""

    def __init__(self):
        self.cases, self.faults, self.refusals = (
            collections.Counter() for _ in range(3)
        )

    def add(self, name, seed, outcome, error, notes):
        from .outcomes import frames_of, place_of

        self.cases[name, outcome] += 1
        first = str(error).strip().partition("\n")[0]
        if outcome == "refused":
            self.refusals[f"{name}: {first[:110]}"] += 1
        elif outcome == "fault":
            place = f"{type(error).__name__} at {place_of(error)}"
            self.faults[place] += 1
            if self.faults[place] == 1:
                print(f"\nFAULT {name}:{seed}  {place}\n    {first[:300]}")
                print(
                    "    "
                    + ", ".join(
                        f"{key}={value!r}"[:160] for key, value in notes.items()
                    )
                )
                for frame in frames_of(error)[-4:]:
                    file = os.path.basename(frame.filename)
                    print(f"      {file}:{frame.lineno} {frame.name}: {frame.line}")
                sys.stdout.flush()

    def report(self, names):
        from .outcomes import REFUSED_VERBS

        print("\ncases:")
        for name in names:
            counts = ", ".join(
                f"{self.cases[name, how]} {how}" for how in ("ok", "refused", "fault")
            )
            print(f"  {name:14} {counts}")
        lists = {
            "faults": self.faults,
            "refusals": self.refusals,
            "refusals of verbs": REFUSED_VERBS,
        }
        for title, counter in lists.items():
            print(f"{title}: {sum(counter.values())}")
            for what, n in counter.most_common(60):
                print(f"  {n:5} {what}")


def run_all(options, names):
    """Case after case, until time or rounds are over; the exit code."""
    from .cases import run_case

    tally, end = Tally(), time.monotonic() + 60 * options.minutes
    for seed in itertools.count(options.seed):
        if options.rounds is not None and seed == options.seed + options.rounds:
            break
        for name in names:
            if options.rounds is None and time.monotonic() > end:
                break
            if options.last:
                with open(options.last, "w") as file:
                    file.write(f"{name}:{seed}\n")
            begin = time.monotonic()
            outcome, error, notes = run_case(name, seed, options.mode == "interpreted")
            tally.add(name, seed, outcome, error, notes)
            if options.verbose:
                print(
                    f"{name}:{seed} {outcome} {time.monotonic() - begin:.1f} s",
                    flush=True,
                )
        else:
            continue
        break
    tally.report(names)
    return bool(tally.faults)


def main():
    options = arguments()
    set_mode(options.mode)
    faulthandler.enable()
    warnings.simplefilter("ignore")
    check_mode(options.mode)
    cases = importlib.import_module("tests.fuzz.cases")
    importlib.import_module("tests.fuzz.scenarios")
    if options.case:
        name, seed = options.case.split(":")
        outcome, error, notes = cases.run_case(
            name, int(seed), options.mode == "interpreted"
        )
        print(outcome, notes)
        if error is not None:
            traceback.print_exception(error)
        return outcome == "fault"
    skipped = options.skip.split(",")
    chosen = options.only.split(",") if options.only else cases.SCENARIOS
    return run_all(options, [name for name in chosen if name not in skipped])


if __name__ == "__main__":
    sys.exit(main())
