"""Parameter mixing, and the CRF on shards, on a local Dask cluster, against loading and
fitting serially.

Each worker loads its own shards from the files, so that reading and encoding are shared
out too. Times are wall times from the call to the fitted model, with the cluster
running and the kernels loaded; repetitions alternate. Beside them stand CPU times along
the critical path, which a machine that is busy with other things distorts less: those
of the driver and its busiest worker, added up as if they never worked at the same time.
"""

import argparse
import functools
import os
import resource
import sys
import time

from benchmarks.common import Stopwatch, load_conll2000, load_gsd, load_sxu, table
from skstruct import L1CRF, ParameterMixer, Segmenter, StructuredPerceptron
from skstruct.metrics import word_f1_score
from skstruct.schemes import labels_to_words


def load_copies(corpus, copies):
    """A corpus, read ``copies`` times."""
    load = {"sxu": load_sxu, "gsd": load_gsd, "conll2000": load_conll2000}[corpus]
    parts = [load("train") for _ in range(copies)]
    return [x for X, _ in parts for x in X], [labels for _, y in parts for labels in y]


def load_shard(corpus, copies, s, n_shards):
    """A shard of so many copies: whole ones, and every ``n_shards``-th sentence of what
    does not divide.
    """
    X, y = load_copies(corpus, copies // n_shards)
    if copies % n_shards:
        more = load_copies(corpus, 1)
        for _ in range(copies % n_shards):
            X, y = X + more[0][s::n_shards], y + more[1][s::n_shards]
    return X, y


def learner(corpus, epochs):
    """The estimator that is compared."""
    tagger = StructuredPerceptron("char", max_iter=epochs, random_state=0)
    return Segmenter(tagger) if corpus == "gsd" else tagger


def serial(corpus, copies, epochs):
    """Load everything here, fit."""
    return learner(corpus, epochs).fit(*load_copies(corpus, copies))


def mixed(corpus, copies, epochs, n_shards):
    """Let the shards load themselves."""
    shards = [
        functools.partial(load_shard, corpus, copies, s, n_shards)
        for s in range(n_shards)
    ]
    return ParameterMixer(
        learner(corpus, epochs), client="auto", random_state=0
    ).fit_shards(shards)


def crf(corpus, passes):
    """The CRF that is compared, with one thread a process."""
    features = "chunk" if corpus == "conll2000" else "char"
    return L1CRF(
        features,
        c1=1.0,
        c2=0.0,
        all_pairs=True,
        random_state=0,
        n_jobs=1,
        max_iter=passes,
    )


def crf_serial(corpus, copies, passes):
    """Load everything here, fit."""
    return crf(corpus, passes).fit(*load_copies(corpus, copies))


def crf_sharded(corpus, copies, passes, n_shards):
    """Let the shards load themselves."""
    shards = [
        functools.partial(load_shard, corpus, copies, s, n_shards)
        for s in range(n_shards)
    ]
    return crf(corpus, passes).fit_shards(shards, client="auto")


def word_f1(corpus, model):
    """F1 of words (gsd: of words without their tags, and with them) on the test
    part.
    """
    if corpus == "gsd":
        X, y = load_gsd("test")
        predicted = model.predict(X)
        return word_f1_score(y, predicted, tagged=False), word_f1_score(y, predicted)
    X, y = load_sxu("test")
    words, predicted = (
        [labels_to_words(text, labels, "BMES") for text, labels in zip(X, side)]
        for side in (y, model.predict(X))
    )
    return (word_f1_score(words, predicted),)


def megabytes():
    """Peak resident memory of this process."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def warm(client, arguments):
    """Load the kernels in every process, with a little of the corpora."""
    for corpus in arguments.crf:
        X, y = {"sxu": load_sxu, "conll2000": load_conll2000}[corpus]("test")
        few = X[:40], y[:40]
        crf(corpus, 40).fit(*few)
        shards = [functools.partial(_identity, few) for _ in client.nthreads()]
        crf(corpus, 40).fit_shards(shards, client="auto")
    for corpus in arguments.corpora:
        X, y = {"sxu": load_sxu, "gsd": load_gsd}[corpus]("test")
        few = X[:40], y[:40]
        learner(corpus, 2).fit(*few)
        shards = [functools.partial(_identity, few) for _ in client.nthreads()]
        ParameterMixer(learner(corpus, 2), client="auto", random_state=0).fit_shards(
            shards
        )


def _identity(data):
    return data


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpora", nargs="*", default=["sxu", "gsd"], choices=["sxu", "gsd"]
    )
    parser.add_argument(
        "--crf",
        nargs="*",
        default=[],
        choices=["sxu", "conll2000"],
        help="corpora of the CRF",
    )
    parser.add_argument("--passes", type=int, default=1000, help="of the CRF at most")
    parser.add_argument("--copies", type=int, nargs="*", default=[8], help="of SXU")
    parser.add_argument("--gsd-copies", type=int, default=2)
    parser.add_argument("--shards", type=int, nargs="*", default=[2, 8], help="of SXU")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    from distributed import Client, LocalCluster

    rows = []
    options = {
        "n_workers": arguments.processes,
        "threads_per_worker": 1,
        "dashboard_address": None,
    }
    with LocalCluster(memory_limit=0, **options) as cluster, Client(cluster) as client:
        warm(client, arguments)
        crf_rows = [
            _measure_crf(arguments, client, corpus, copies, n_shards)
            for corpus in arguments.crf
            for copies in arguments.copies
            for n_shards in arguments.shards
        ]
        for corpus in arguments.corpora:
            for copies in (
                arguments.copies if corpus == "sxu" else [arguments.gsd_copies]
            ):
                for n_shards in (
                    arguments.shards if corpus == "sxu" else [arguments.processes]
                ):
                    rows.append(_measure(arguments, client, corpus, copies, n_shards))
    print(
        f"{arguments.processes} processes, {os.cpu_count()} cores, {arguments.epochs} rounds\n"
    )
    if rows:
        table(
            [
                "corpus", "copies", "shards", "serial", "mixed", "times faster",
                "CPU", "of the driver", "times less",
                "F1 serial", "F1 mixed", "MB sent a round: first", "last", "in all",
                "received: first", "last", "in all", "MB of a worker",
            ],
            rows,
        )  # fmt: skip
    if crf_rows:
        table(
            [
                "corpus", "copies", "shards", "serial", "sharded", "times faster",
                "CPU", "of the driver", "times less",
                "objective serial", "sharded", "passes serial", "sharded",
                "MB sent a pass: median", "most", "received: median", "most",
                "MB of a worker", "of the driver",
            ],
            crf_rows,
        )  # fmt: skip


def _compared(client, repeat, alone, together):
    """(watch, CPU times, model of each) of two functions, the latter of which has the
    workers busy.
    """
    watch, cpu = Stopwatch(), Stopwatch()
    driver = None
    for _ in range(repeat):
        before, began = client.run(time.process_time), time.process_time()
        sharded = watch.time("mixed", together)
        here, after = time.process_time() - began, client.run(time.process_time)
        busiest = max(after[worker] - before[worker] for worker in after)
        cpu.seconds.setdefault("mixed", []).append(here + busiest)
        cpu.seconds.setdefault("driver", []).append(here)
        driver = driver or megabytes()  # before anything was fitted here
        began = time.process_time()
        serially = watch.time("serial", alone)
        cpu.seconds.setdefault("serial", []).append(time.process_time() - began)
    return watch, cpu, serially, sharded, driver


def _times(watch, cpu):
    return [
        f"{watch.median('serial'):.1f} s",
        f"{watch.median('mixed'):.1f} s",
        f"{watch.ratio('serial', 'mixed'):.2f}",
        f"{cpu.median('serial'):.1f} / {cpu.median('mixed'):.1f} s",
        f"{cpu.median('driver'):.1f} s",
        f"{cpu.ratio('serial', 'mixed'):.2f}",
    ]


def _measure_crf(arguments, client, corpus, copies, n_shards):
    given = corpus, copies, arguments.passes
    watch, cpu, alone, sharded, driver = _compared(
        client,
        arguments.repeat,
        lambda: crf_serial(*given),
        lambda: crf_sharded(*given, n_shards),
    )
    traffic = [
        sorted(h[way] / 1e6 for h in sharded.history_ if h["stage"] == "batch")
        for way in ("bytes_sent", "bytes_received")
    ]
    return [
        corpus, copies, n_shards, *_times(watch, cpu),
        f"{alone.objective_:.1f}", f"{sharded.objective_:.1f}", alone.n_iter_, sharded.n_iter_,
        *(f"{megabytes:.2f}" for of in traffic for megabytes in (of[len(of) // 2], of[-1])),
        f"{max(client.run(megabytes).values()):.0f}", f"{driver:.0f}",
    ]  # fmt: skip


def _measure(arguments, client, corpus, copies, n_shards):
    given = corpus, copies, arguments.epochs
    watch, cpu, alone, mixture, _ = _compared(
        client,
        arguments.repeat,
        lambda: serial(*given),
        lambda: mixed(*given, n_shards),
    )
    peaks = client.run(megabytes)

    def shown(values):
        return " / ".join(f"{value:.4f}" for value in values)

    traffic = [
        [h[way] / 1e6 for h in mixture.history_]
        for way in ("bytes_sent", "bytes_received")
    ]
    return [
        corpus,
        copies,
        n_shards,
        *_times(watch, cpu),
        shown(word_f1(corpus, alone)),
        shown(word_f1(corpus, mixture)),
        *(
            f"{megabytes:.1f}"
            for of in traffic
            for megabytes in (of[0], of[-1], sum(of))
        ),
        f"{max(peaks.values()):.0f}",
    ]


if __name__ == "__main__":
    began = time.perf_counter()
    main()
    print(f"\n{time.perf_counter() - began:.0f} s in all")
