"""Scripts in processes of their own that need not import numba again: each is forked from one that has.

What a script sees is a new process with the environment, the folder and the arguments that it is given, in
which numba, with its settings read anew, and nothing of skstruct is imported. ``forking_server`` is the
process that it is forked from.
"""

import functools
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

from forking_server import drop_privileges

READ_ONCE = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT"
"""Settings that numba has used by then."""


def run_script(script, *arguments, env, cwd, timeout=300):
    """Run a script as ``python -c`` does, without a superuser's privileges.

    Parameters
    ----------
    script : str
    *arguments : str
        Its ``sys.argv[1:]``.
    env : dict
        All the variables of its environment.
    cwd : path
        The folder that it starts in.
    timeout : float
        Seconds.

    Returns
    -------
    subprocess.CompletedProcess
        With the texts that the script has written.
    """
    if sys.platform != "linux" or any(name in env for name in READ_ONCE):
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env=env,
            cwd=cwd,
            preexec_fn=drop_privileges if os.name == "posix" else None,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(os.path.join(folder, "ended"))
        ended = os.open(os.path.join(folder, "ended"), os.O_RDONLY | os.O_NONBLOCK)
        request = {
            "script": script,
            "arguments": arguments,
            "env": env,
            "cwd": os.fspath(cwd),
            "folder": folder,
        }
        server = _server()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        if not select.select([ended], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(script, timeout)
        code = int(os.read(ended, 100))
        os.close(ended)
        out, err = (Path(folder, name).read_text() for name in ("out", "err"))
        return subprocess.CompletedProcess(script, code, out, err)


@functools.cache
def _server():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forking_server.py")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.Popen(
        [sys.executable, path], stdin=subprocess.PIPE, text=True, env=env
    )


def stop():
    """Stop the process that others are forked from, if there is one."""
    if _server.cache_info().currsize:
        _server().communicate(timeout=100)
        _server.cache_clear()
