"""A process that has imported numba, from which ``forked`` lets others be forked: run as a script.

Reads requests from its standard input, a line of JSON each, and says how each process ended in the pipe
``ended`` of its folder.
"""

import ctypes
import json
import os
import signal
import sys
import types

import numba
import numpy as np


def compile_something():
    """Let numba prepare what it needs for any kernel."""

    @numba.njit
    def next_of(numbers, place):
        return numbers[place] + 1

    next_of(np.zeros(2), 1)


def serve():
    """Fork a process for each request: there it is returned; here None when there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        if os.fork() == 0:
            pid = os.fork()
            if pid == 0:
                return request
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with open(os.path.join(request["folder"], "ended"), "w") as pipe:
                pipe.write(str(code))
            sys.exit()
    return None


def drop_privileges():
    """Let permissions bind root too: without the capabilities to override them (Linux)."""
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


def become(request):
    """Be the process that a request asks for."""
    folder = request["folder"]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT), number)
    env = request["env"]
    os.environ.clear()
    os.environ.update(env)
    os.chdir(request["cwd"])
    given = [each for each in env.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:] = ["", *given, *sys.path[1:]]
    sys.argv = ["-c", *request["arguments"]]
    numba.config.reload_config()
    drop_privileges()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(request["script"], "<string>", "exec"), vars(main))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    compile_something()
    request = serve()
    if request is not None:
        become(request)
    else:
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
