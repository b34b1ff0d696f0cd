"""Headless Chromium, driven over a pair of pipes: what tests of pages need of its
DevTools protocol.
"""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time

import pytest

CHROMIUM = (
    shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("google-chrome")
)

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed"
)

KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40, "Delete": 46,
}  # fmt: skip


class Browser:
    """One page of a browser; ``problems`` lists requests, errors on the console, and
    dialogs.
    """

    def __init__(self, folder):
        (to_read, self._out), (self._in, to_write) = os.pipe(), os.pipe()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={folder}",
        ]
        ends = [
            fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)
        ]  # 3 and 4 may be taken
        self._process = subprocess.Popen(
            [CHROMIUM, *options, "--remote-debugging-pipe"],
            preexec_fn=lambda: [os.dup2(end, k) for k, end in enumerate(ends, 3)],
            pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (to_read, to_write, *ends):
            os.close(end)
        self._held, self._number, self._session = b"", 0, None
        self.problems, self._loaded = [], False
        self.n_asked = (
            0  # how often a page asked before it was left; the answer is to leave it
        )
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send(
            "Target.attachToTarget", targetId=target, flatten=True
        )["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self):
        """End the browser."""
        self.send("Browser.close")
        self._process.wait(timeout=60)
        os.close(self._in)
        os.close(self._out)

    def _message(self):
        while b"\0" not in self._held:
            part = os.read(self._in, 1 << 16)
            assert part, "the browser ended"
            self._held += part
        raw, _, self._held = self._held.partition(b"\0")
        return json.loads(raw)

    def _write(self, method, **parameters):
        """Call a method, and wait for nothing; the number of the call."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith("Browser."):
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._number

    def send(self, method, **parameters):
        """Call a method of the protocol; its result."""
        number = self._write(method, **parameters)
        while (got := self._message()).get("id") != number:
            self._note(got)
        assert "error" not in got, got
        return got["result"]

    def _note(self, event):
        method, said = event.get("method", ""), event.get("params", {})
        if method == "Network.requestWillBeSent":
            address = said["request"]["url"]
            if (
                not address.startswith(("file:", "data:", "blob:"))
                or said.get("type") != "Document"
            ):
                self.problems.append(address)
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif (
            method == "Page.javascriptDialogOpening" and said["type"] == "beforeunload"
        ):
            self.n_asked += 1
            self._write("Page.handleJavaScriptDialog", accept=True)
        elif method == "Log.entryAdded" and "beforeunload" in said["entry"]["text"]:
            return  # a page that nobody has touched may not ask, and that is said on the console
        elif method in (
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        ):
            self.problems.append(said)
        elif method == "Runtime.consoleAPICalled" and said["type"] in (
            "error",
            "warning",
        ):
            self.problems.append(said)

    def open(self, path, fragment="", width=1400, dark=False):
        """Load a page at a width, light or dark."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        self.send("Page.navigate", url="about:blank")
        while (
            not self._loaded
        ):  # a navigation that overtakes another may never be answered
            self._note(self._message())
        self.send("Page.navigate", url=path.absolute().as_uri() + fragment)
        while not self(
            "location.protocol === 'file:' && document.readyState === 'complete'"
        ):
            time.sleep(0.01)

    def __call__(self, expression):
        """The value of an expression of JavaScript in the page."""
        got = self.send(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def until(self, expression, value):
        """Wait until an expression has a value: a page that is slow waits for pauses in
        typing.
        """
        for _ in range(600):
            if (got := self(expression)) == value:
                return
            time.sleep(0.05)
        assert got == value

    def press(self, key, **modifiers):
        """Press and release a key."""
        code = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": KEYS.get(key) or ord(key.upper()),
            **modifiers,
        }
        text = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, text):
        """Put text where the focus is."""
        self.send("Input.insertText", text=text)

    def picture(self, path):
        """A picture of the page."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser; the test skips where Chromium is not installed."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()
