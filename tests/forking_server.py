"""A Python that has imported what is slow to import, from which ``forked`` lets others
be forked: run as a script.

It listens on the socket whose path it is given, until its standard input ends. A client
sends its three open files and a line of JSON, and is told how the process ended that
was forked for it.
"""

import builtins
import contextlib
import ctypes
import gc
import importlib
import json
import os
import re
import runpy
import select
import signal
import socket
import sys
import types
import warnings

import numba
import numpy as np

READY = (
    "joblib scipy.optimize scipy.sparse scipy.special sklearn.metrics sklearn.model_selection sklearn.pipeline"
).split()
"""What skstruct imports of others; nothing of its own."""


def compile_something():
    """Let numba prepare what it needs for any kernel."""

    @numba.njit
    def next_of(numbers, place):
        return numbers[place] + 1

    next_of(np.zeros(2), 1)


def serve(path):
    """Fork a process for each request, and return the request there; None when there
    are no more.
    """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.freeze()  # what is here need not be looked at by each of the others
    clients = {}
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listener, sys.stdin, ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            answer(clients, os.WNOHANG)
        if sys.stdin in ready:
            answer(clients)
            return None
        if listener not in ready:
            continue
        client, _ = listener.accept()
        _, files, _, _ = socket.recv_fds(client, 1, 3)
        request = json.loads(client.makefile().readline())
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (listener, client, *clients.values()):
                each.close()
            return {**request, "files": files}
        clients[pid] = client
        for file in files:
            os.close(file)


def answer(clients, options=0):
    """Tell the clients of processes that have ended how they did."""
    while clients:
        pid, status = os.waitpid(-1, options)
        if pid == 0:
            break
        client = clients.pop(pid)
        with contextlib.suppress(OSError):  # it may have been killed
            client.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        client.close()


def drop_privileges():
    """Let permissions bind root too: without the capabilities to override them
    (Linux).
    """
    if sys.platform == "linux" and os.getuid() == 0:
        libc = ctypes.CDLL(None)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # of capabilities of 64 bits
        held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
        libc.capget(header, held)
        for capability in (1, 2, 3):  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP: after an exec
            for k in range(3):
                held[k] &= ~(1 << capability)
        libc.capset(header, held)


def open_streams(env):
    """Make ``sys.stdin`` and the others for the files 0 to 2."""
    encoding = env.get("PYTHONIOENCODING", "").split(":")[0] or "utf-8"
    given = {"encoding": encoding, "closefd": False}
    sys.stdin = sys.__stdin__ = open(0, **given)
    sys.stdout = sys.__stdout__ = open(1, "w", **given)
    sys.stderr = sys.__stderr__ = open(
        2, "w", buffering=1, errors="backslashreplace", **given
    )


def become(request):
    """Be the process that a request asks for, and run what it shall run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(request["files"]):
        os.dup2(file, number)
        os.close(file)
    env = request["env"]
    os.environ.clear()
    os.environ.update(env)
    os.chdir(request["cwd"])
    open_streams(env)
    numba.config.reload_config()
    if request["bound"]:
        drop_privileges()
    arguments = request["arguments"]
    while arguments[0] == "-W":
        action, _, category, module = arguments[1].split(":")
        kind = getattr(builtins, category)
        warnings.filterwarnings(action, category=kind, module=re.escape(module) + "$")
        del arguments[:2]
    given = [each for each in env.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:] = [*given, *sys.path[1:]]
    first, *rest = arguments
    if first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    elif first == "-m":
        sys.argv = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(first)))
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    for name in READY:
        importlib.import_module(name)
    compile_something()
    asked = serve(sys.argv[1])
    if asked is not None:
        become(asked)
