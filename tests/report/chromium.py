"""Drive a headless Chromium through its DevTools pipe, with nothing but the standard library."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
PATIENCE = 60.0
HARMLESS = ("data:", "blob:", "about:")


class Chromium:
    """A browser with one tab, and everything that its pages said, asked for or let happen."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="stakes-browser-")
        self.events = []
        self._last = 0
        self._buffer = b""
        self._pid, self._send, self._receive = self._start(program)
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _start(self, program):
        (to_browser, send), (receive, from_browser) = os.pipe(), os.pipe()
        # clear of the numbers 3 and 4, where the browser expects its two ends
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        argv = [program, *FLAGS, f"--user-data-dir={self.profile}"]
        actions = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(ends, start=3)]
        actions += [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_WRONLY, 0o600) for n in (1, 2)]
        pid = os.posix_spawn(program, argv, os.environ, file_actions=actions, setpgroup=0)
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        return pid, send, receive

    def call(self, method, **params):
        """Call a method of the tab."""
        return self._ask(method, params, self._session)

    def _ask(self, method, params, session=None):
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        number, until = self._last, time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self, until):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._receive], [], [], max(0.0, until - time.monotonic()))
            chunk = os.read(self._receive, 1 << 20) if ready else b""
            if not chunk:
                raise TimeoutError("the browser gave no answer.")
            self._buffer += chunk
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
            if message["method"] == "Page.javascriptDialogOpening":
                self._dismiss()
        return message

    def _dismiss(self):
        self._last += 1
        message = {"id": self._last, "method": "Page.handleJavaScriptDialog", "params": {"accept": False}}
        os.write(self._send, json.dumps(message | {"sessionId": self._session}).encode() + b"\0")

    def open(self, path, *, width=1280, height=900, scheme="light"):
        """Load a file, and wait until the page says that it is drawn."""
        self.events.clear()
        self.resize(width, height)
        self.emulate(scheme=scheme)
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("document.readyState === 'complete'")

    def resize(self, width, height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def emulate(self, *, scheme="light", media=""):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def run(self, script):
        """Return what a script in the page returns; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", script))
        return answer["result"].get("value")

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            if time.monotonic() > until:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def press(self, key, times=1):
        code = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        common = {"key": key, "windowsVirtualKeyCode": code}
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def drag(self, start, end, steps=5):
        """Press the mouse at one place of the window, move it to another and let go."""
        self._mouse("mousePressed", start)
        for k in range(1, steps + 1):
            self._mouse("mouseMoved", [a + (b - a) * k / steps for a, b in zip(start, end, strict=True)])
        self._mouse("mouseReleased", end)

    def _mouse(self, kind, place):
        x, y = place
        pressed = {"button": "left", "buttons": 1, "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def hover(self, place):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])

    def screenshot(self, *, full=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        return base64.b64decode(shot["data"])

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def complaints(self):
        """Errors and warnings on the console, exceptions, and policy violations."""
        found = []
        for event in self.events:
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning", "assert"}:
                found.append(str(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
                found.append(params["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {params['message']}")
        return found

    def requests(self, path):
        """Requests for anything but the file itself, those that a policy stopped among them."""
        asked = [
            event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if url != path.as_uri() and not url.startswith(HARMLESS)]

    def blocked(self):
        """Requests that the page's policy stopped before they left."""
        stopped = {
            event["params"]["requestId"]
            for event in self.events
            if event["method"] == "Network.loadingFailed" and event["params"].get("blockedReason") == "csp"
        }
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent" and event["params"]["requestId"] in stopped
        ]

    def close(self):
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            self._ask("Browser.close", {})
        until = time.monotonic() + 5.0
        while time.monotonic() < until and os.waitpid(self._pid, os.WNOHANG) == (0, 0):
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        for end in (self._send, self._receive):
            os.close(end)
        shutil.rmtree(self.profile, ignore_errors=True)
