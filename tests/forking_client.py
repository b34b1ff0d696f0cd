"""Starts like Python with the arguments behind the first two, in no time: a process is
forked that runs them.

Run as a script. The first argument is the socket of the server, the second is 1 if a
superuser's privileges are dropped.
"""

import json
import os
import signal
import socket
import sys


def ask(path, bound, arguments):
    """Have a process forked that has this one's files, folder and environment; returns
    how it ended.
    """
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    socket.send_fds(server, [b"."], [0, 1, 2])
    request = {
        "arguments": arguments,
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "bound": bound == "1",
    }
    server.sendall(json.dumps(request).encode() + b"\n")
    for file in (0, 1, 2):
        os.close(file)
    return int(server.makefile().read())


if __name__ == "__main__":
    _, path, bound, *arguments = sys.argv
    code = ask(path, bound, arguments)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
