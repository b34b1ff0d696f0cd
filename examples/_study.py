"""What the studies share: corpora, options, tables, verdicts, plots."""

import argparse
import os
import pathlib
import statistics
import sys

DATA = pathlib.Path(os.environ.get("SKSTRUCT_DATA") or pathlib.Path(__file__).parents[2] / "shared" / "data")


def options(description, needs, seeds, **extra):
    """The command line of a study.

    Parameters
    ----------
    needs : list of str
        Folders of corpora; if one is absent the study runs on the embedded samples, as with --quick.
    seeds : int
        Default of --seeds.
    **extra
        More options: name -> (default, help).
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="embedded samples: no verdicts")
    parser.add_argument("--plot", metavar="FILE", help="save the figures (needs matplotlib)")
    for name, (default, text) in extra.items():
        flag = "--" + name.replace("_", "-")
        if default is False:
            parser.add_argument(flag, action="store_true", help=text)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=text)
    arguments = parser.parse_args()
    missing = [name for name in needs if not (DATA / name).exists()]
    if missing and not arguments.quick:
        print(f"{', '.join(missing)} not found in {DATA}: the embedded samples instead, and no verdicts")
        arguments.quick = True
    if arguments.plot:
        pyplot()  # now: a missing library should not cost a study
    return arguments


def progress(text):
    """Say what is going on."""
    print(f"# {text}", file=sys.stderr, flush=True)


def table(header, rows):
    """Print a Markdown table."""
    print("\n| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def mean_and_spread(values):
    """Mean, and largest minus smallest, as text."""
    return f"{statistics.mean(values):.4f}", f"{max(values) - min(values):.4f}"


def claim(text, holds, numbers, quick):
    """Say whether a claim holds here; with ``quick`` nothing, since the samples are too small to tell."""
    if not quick:
        print(f"{'holds' if holds else 'does not hold'}: {text} ({numbers})")


def pyplot():
    """matplotlib without a screen."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("--plot needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
