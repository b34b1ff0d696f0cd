"""Processes that need not import numba and scikit-learn again: each is forked from one
that has.

What is run meets a new process with an environment, a folder, arguments and open files
of its own, in which nothing of skstruct is imported, and numba's settings are read
anew. ``forking_server`` is the process from which others are forked. What a test says
about importing itself, or about signals, needs a Python of its own.
"""

import functools
import os
import subprocess
import sys
import tempfile

from forking_server import drop_privileges

HERE = os.path.dirname(os.path.abspath(__file__))
READ_ONCE = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT"
"""Settings that numba has used by then."""


def python(bound=False):
    """How a command begins that runs Python: behind it come ``-c``, ``-m`` or a script,
    and ``-W`` before these.

    Parameters
    ----------
    bound : bool
        Without a superuser's privileges.

    Returns
    -------
    list of str
    """
    if sys.platform != "linux" or any(name in os.environ for name in READ_ONCE):
        return [sys.executable]
    _, path = _server()
    client = os.path.join(HERE, "forking_client.py")
    return [sys.executable, "-I", "-S", client, path, str(int(bound))]


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
    forked = sys.platform == "linux" and not any(name in env for name in READ_ONCE)
    command = python(bound=True) if forked else [sys.executable]
    forked = command != [sys.executable]
    return subprocess.run(
        [*command, "-c", script, *arguments],
        env=env,
        cwd=cwd,
        preexec_fn=drop_privileges if not forked and os.name == "posix" else None,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@functools.cache
def _server():
    """The server, and the path of its socket."""
    path = os.path.join(tempfile.mkdtemp(prefix="forked-"), "socket")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, os.path.join(HERE, "forking_server.py"), path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, text=True, env=env, **pipes)
    assert server.stdout.readline() == "ready\n"
    return server, path


def stop():
    """Stop the process that others are forked from, if there is one."""
    if _server.cache_info().currsize:
        server, path = _server()
        server.communicate(timeout=100)
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
        _server.cache_clear()
