"""Who follows ``fit`` with a debugger, or with "go to definition", is soon where
weights are read.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

CHILD = """
import json, sys
import skstruct

PACKAGE = skstruct.__path__[0]


def watch(frame, event, argument):
    names = "score_tokens", "score_sequence"
    if event == "call" and not found and frame.f_code.co_name in names:
        stack = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(PACKAGE):
                stack.append(frame.f_code.co_name)
            frame = frame.f_back
        found.extend(reversed(stack))


all_found = []
for parameters in json.loads(sys.argv[1]):
    tagger = skstruct.StructuredPerceptron(max_iter=1, **parameters)
    found = []
    sys.setprofile(watch)
    tagger.fit([["the", "dog", "barks"]], [["D", "N", "V"]])
    sys.setprofile(None)
    all_found.append(found)
print(json.dumps(all_found))
"""


def frames(*parameters):
    """The package's functions from each ``fit`` to the first score of a sequence,
    kernels among them.
    """
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", CHILD, json.dumps(parameters)]
    return json.loads(subprocess.check_output(command, env=environment, text=True))


@pytest.mark.skipif(
    np.__version__ < "2",
    reason="interpreted kernels add int and uint64 as numpy 2 does",
)
def test_six_frames_lead_from_fit_to_the_first_score():
    small, all_kinds = frames({}, {"penalty": "l1"})
    assert small == ["checked", "fit", "train", "run_epoch", "epoch", "score_tokens"]
    assert all_kinds == [*small[:-1], "score_sequence"]
