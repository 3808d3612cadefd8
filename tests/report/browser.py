"""A Chromium that tests drive: real key presses, real print, and what it asks the network for."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--proxy-server=127.0.0.1:9",
    "--remote-debugging-pipe",
)  # fmt: skip
# Gives Chromium the descriptors by which it reads commands and answers: 3 and 4.
_START = """
import fcntl, os, sys
reading, writing = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(reading, 3), os.dup2(writing, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
TAB = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
ENTER = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}


def chromium_path() -> str:
    """The path of Chromium; a test without one fails."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.fail("Chromium is not installed: pages are tested in it; on Debian: apt-get install chromium")
    return found


@contextmanager
def playwright_chromium() -> Iterator[Any]:
    """A Chromium that Playwright drives."""
    from playwright.sync_api import sync_playwright  # where only the converter is installed, this module is still imported

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Browser:
    """A Chromium that is driven through a pipe, as DevTools drive it."""

    def __init__(self, profile: Path) -> None:
        found = chromium_path()
        (theirs, self._commands), (self._answers, back) = os.pipe(), os.pipe()
        command = [sys.executable, "-c", _START, str(theirs), str(back), found, *FLAGS, f"--user-data-dir={profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, pass_fds=(theirs, back), **quiet)
        os.close(theirs)
        os.close(back)
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []

    def open(self, url: str) -> None:
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def wait_for(self, event: str) -> None:
        self._read_until(lambda message: message.get("method") == event)

    def press(self, key: dict[str, Any]) -> None:
        self.call("Input.dispatchKeyEvent", type="keyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{name: value for name, value in key.items() if name != "text"})

    def ask(self, expression: str, *, waits: bool = False) -> Any:
        """The value of an expression; waits: of the promise that it makes."""
        return self.call("Runtime.evaluate", expression=expression, awaitPromise=waits)["result"].get("value")

    def requested(self) -> list[str]:
        """The addresses that the page has asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Errors and warnings of scripts and of the content security policy."""
        kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [json.dumps(e["params"]) for e in self.events if e["method"] in kinds]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._commands)
        os.close(self._answers)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer = self._read_until(lambda found: found.get("id") == self._number)
        assert "error" not in answer, answer
        return answer["result"]

    def _read_until(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            while b"\0" not in self._buffer:
                read = os.read(self._answers, 65536)
                assert read, "Chromium has ended"
                self._buffer += read
            one, _, self._buffer = self._buffer.partition(b"\0")
            message = json.loads(one)
            if "method" in message:
                self.events.append(message)
            if is_wanted(message):
                return message
