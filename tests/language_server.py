"""A client of an editor's language server: what "go to definition" answers."""

import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading

SERVER = shutil.which("pyright-langserver") or shutil.which(
    "pyright-langserver", path=str(pathlib.Path(sys.executable).parent)
)
"""The server of pyright; None where it is not installed."""

PATIENCE = 240
"""Seconds that an answer may take: the first one reads the whole package."""


class LanguageServer:
    """A running server for the files of a folder.

    Parameters
    ----------
    root : pathlib.Path
        The repository.
    """

    def __init__(self, root):
        self.root = root
        self._process = subprocess.Popen(
            [SERVER, "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._answers = queue.Queue()
        self._number = 0
        self._opened = {}
        threading.Thread(target=self._read, daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        self._ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [folder],
                "capabilities": {"workspace": {"configuration": True}},
            },
        )
        self._send({"method": "initialized", "params": {}})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.kill()
        self._process.communicate()

    def definitions(self, path, text, word):
        """The lines that define a word.

        Parameters
        ----------
        path : pathlib.Path
            A file of the repository.
        text : str
            A part of it that holds the word; its first occurrence is meant.
        word : str
            Its last occurrence in ``text`` is asked for.

        Returns
        -------
        list of str
            The lines of source that the server points to.
        """
        content = self._open(path)
        place = content.index(text) + text.rindex(word)
        line = content.count("\n", 0, place)
        column = place - content.rfind("\n", 0, place) - 1
        found = self._ask(
            "textDocument/definition",
            {
                "textDocument": {"uri": path.as_uri()},
                "position": {"line": line, "character": column},
            },
        )
        return [self._line_of(one) for one in found or []]

    def _line_of(self, location):
        uri = location.get("uri") or location["targetUri"]
        span = location.get("targetSelectionRange") or location.get("range")
        path = uri.removeprefix("file://")
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        return lines[span["start"]["line"]]

    def _open(self, path):
        if path not in self._opened:
            self._opened[path] = path.read_text(encoding="utf-8")
            document = {
                "uri": path.as_uri(),
                "languageId": "python",
                "version": 1,
                "text": self._opened[path],
            }
            self._send(
                {"method": "textDocument/didOpen", "params": {"textDocument": document}}
            )
        return self._opened[path]

    # -- messages ----------------------------------------------------------------------
    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _ask(self, method, parameters):
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        while True:
            message = self._answers.get(timeout=PATIENCE)
            if message["id"] == self._number:
                return message.get("result")

    def _read(self):
        """Hand on answers; answer what the server asks: which Python, which files."""
        stream = self._process.stdout
        while line := stream.readline():
            size = 0
            while line.strip():
                name, _, value = line.decode().partition(":")
                if name.lower() == "content-length":
                    size = int(value)
                line = stream.readline()
            message = json.loads(stream.read(size))
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": self._settings(message)})
            elif "id" in message:
                self._answers.put(message)

    def _settings(self, message):
        if message["method"] != "workspace/configuration":
            return None
        analysis = {"diagnosticMode": "openFilesOnly", "indexing": False}
        setting = {"pythonPath": sys.executable, "analysis": analysis}
        return [setting for _ in message["params"]["items"]]
