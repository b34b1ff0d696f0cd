"""What the studies share: corpora, options, stored results, tables, verdicts, figures.

A study measures (``run``), and says what it found (``report``). What was measured can
be stored in ``results/``, with the commit and the seeds, and reported again without
measuring.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).parent
DATA = pathlib.Path(
    os.environ.get("SKSTRUCT_DATA") or HERE.parents[1] / "shared" / "data"
)
RESULTS = HERE / "results"


def study(name, description, needs, run, report, seeds=3, **extra):
    """Measure or read what was stored, report it, and draw it.

    Parameters
    ----------
    name : str
        Of the file of stored results.
    needs : list of str
        Folders of corpora; if one is absent the study runs on the embedded samples, as
        with --quick.
    run : callable
        ``run(arguments)`` returns the results: numbers in lists and in dicts whose keys
        are str.
    report : callable
        ``report(results, quick)`` prints tables and verdicts, and returns what draws
        them: a function of ``matplotlib.pyplot`` that returns a figure.
    seeds : int
        Default of --seeds.
    **extra
        More options: name -> (default, value with --quick, help).
    """
    arguments = _options(description, seeds, extra)
    if arguments.stored:
        record = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        about = ", ".join(
            f"{key} {value}" for key, value in record.items() if key != "results"
        )
        print(textwrap.fill(f"Stored results: {about}", 100))
        results = record["results"]
    else:
        missing = [folder for folder in needs if not (DATA / folder).exists()]
        if missing and not arguments.quick:
            print(f"{', '.join(missing)} not found in {DATA}.")
            arguments.quick = True
        if arguments.quick:
            print(
                "On the embedded samples: this shows that the study runs; its figures say nothing."
            )
            arguments.seeds = 1
            for option, (_, quick, _) in extra.items():
                setattr(arguments, option, quick)
        results = json.loads(json.dumps(run(arguments)))  # as they would be read again
        if arguments.store and not arguments.quick:
            store(name, arguments, results)
    draw = report(results, arguments.quick)
    if arguments.plot:
        draw(pyplot(screen=False)).savefig(arguments.plot, dpi=150)
        print(f"figure: {arguments.plot}")
    if arguments.show:
        plt = pyplot()
        draw(plt)
        plt.show()


def no_options(description):
    """Answer --help of a script that has no options, and refuse others."""
    if pathlib.Path(sys.argv[0]).resolve().parent == HERE:
        formatter = argparse.RawDescriptionHelpFormatter
        argparse.ArgumentParser(
            description=description, formatter_class=formatter
        ).parse_args()


def _options(description, seeds, extra):
    """The command line of a study."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument(
        "--quick", action="store_true", help="embedded samples: no verdicts"
    )
    parser.add_argument(
        "--store", action="store_true", help="keep the results in results/"
    )
    parser.add_argument(
        "--stored", action="store_true", help="report stored results, measure nothing"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="save the figures (needs matplotlib)"
    )
    parser.add_argument("--show", action="store_true", help="show the figures")
    for name, (default, _, text) in extra.items():
        flag = "--" + name.replace("_", "-")
        if default is False:
            parser.add_argument(flag, action="store_true", help=text)
        else:
            parser.add_argument(flag, type=type(default), default=default, help=text)
    arguments = parser.parse_args()
    if arguments.plot:
        pyplot(screen=False)  # now: a missing library should not cost a study
    return arguments


def store(name, arguments, results):
    """Write results with what made them."""
    git = ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=12"]
    commit = (
        subprocess.run(git, capture_output=True, text=True).stdout.strip() or "unknown"
    )
    about_reports = {"quick", "store", "stored", "plot", "show", "seeds"}
    options = {k: v for k, v in vars(arguments).items() if k not in about_reports}
    record = {
        "commit": commit,
        "seeds": list(range(arguments.seeds)),
        "options": options,
        "python": platform.python_version(),
        **{
            package: importlib.metadata.version(package)
            for package in ("numpy", "numba", "scikit-learn")
        },
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")
    progress(f"stored: results/{name}.json")


def progress(text):
    """Say what is going on."""
    print(f"# {text}", file=sys.stderr, flush=True)


def table(header, rows):
    """Print a Markdown table, its columns aligned."""
    lines = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    print()
    for line in lines:
        print(
            "| "
            + " | ".join(cell.ljust(width) for cell, width in zip(line, widths))
            + " |"
        )


def mean_and_spread(values):
    """Mean, and largest minus smallest, as text."""
    return f"{statistics.mean(values):.4f}", f"{max(values) - min(values):.4f}"


def below_and_above(groups):
    """How far the values of each group lie from their mean: (below, above), for error
    bars.
    """
    means = [statistics.mean(values) for values in groups]
    return (
        [mean - min(values) for mean, values in zip(means, groups)],
        [max(values) - mean for mean, values in zip(means, groups)],
    )


def claim(text, holds, numbers, quick):
    """Say whether a claim holds here; with ``quick`` nothing, since the samples are too
    small to tell.
    """
    if not quick:
        print(f"{'holds' if holds else 'does not hold'}: {text} ({numbers})")


def pyplot(screen=True):
    """matplotlib, if need be without a screen."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("figures need matplotlib: pip install matplotlib")
    if not screen:
        matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
