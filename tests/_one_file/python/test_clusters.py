"""The cluster of a word in a program of one file."""

from skstruct._one_file.keys import tables_for
from skstruct._one_file.python.clusters import cluster_function


def test_lower_case_and_normal_form_help():
    header = {
        "clusters": {"c1": ["dog", "Rome"], "c2": ["caf\u00e9"]},
        "unicode": tables_for(["cluster"]),
    }
    cluster = cluster_function(header)
    words = ["dog", "Dog", "Rome", "rome", "cafe\u0301", "no"]
    assert list(map(cluster, words)) == ["c1", "c1", "c1", "_", "c2", "_"]
