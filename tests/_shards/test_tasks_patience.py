"""Waiting for a worker that is there and does not answer."""

import os
import signal
import threading
import time

import pytest
from inside import ask_shards, wait_for_sum

from skstruct._shards.tasks import Tasks
from skstruct._training.interrupt import DeferredInterrupt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")


class Silent:
    """A client whose only worker is alive, and a task whose result never comes."""

    def __init__(self):
        self.asked, self.over = threading.Event(), threading.Event()

    def nthreads(self):
        return {"here": 1}

    def submit(self, *_, **__):
        return self

    def result(self):
        self.asked.set()
        self.over.wait()

    def release(self):
        self.released = True


@pytest.mark.parametrize("of_a_sum", [False, True])
def test_the_third_interrupt_ends_it(of_a_sum):
    client, interrupt = Silent(), DeferredInterrupt()
    tasks = Tasks.__new__(Tasks)
    tasks.client, tasks.n_shards, tasks.home, tasks.losses = client, 1, ["here"], [0]

    def press():
        client.asked.wait()
        for n in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            while interrupt.count == n:  # two at a time would be one
                time.sleep(0.01)

    keyboard = threading.Thread(target=press)
    with pytest.raises(KeyboardInterrupt), interrupt:
        keyboard.start()
        if of_a_sum:
            wait_for_sum(tasks, client)
        else:
            ask_shards(tasks)
    client.over.set()
    keyboard.join()
    assert interrupt.count == 3 and (of_a_sum or client.released)
