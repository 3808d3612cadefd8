"""The report by keyboard alone, with real key presses in Chromium: everything is reached, in the order that one reads."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report import samples
from tf2npu.report import as_html, folder

pytestmark = pytest.mark.one_python

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
FOCUSED = """
(() => {
  const e = document.activeElement;
  if (!e || e === document.body) return "null";
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  const number = [...document.querySelectorAll("*")].indexOf(e);
  const named = e.labels && e.labels.length ? e.labels[0].textContent : e.getAttribute("aria-label") || e.textContent;
  return JSON.stringify({number, tag: e.tagName, name: named.trim(), ring: style.outlineStyle !== "none", seen: box.width > 0,
    bottom: box.bottom, skip: e.className === "skip", hash: location.hash});
})()
"""
REACHABLE = """
[...document.querySelectorAll("a[href], button, input, select, summary")].filter((e) => e.checkVisibility() && !e.disabled).length
"""


class Browser:
    """A Chromium that is driven through a pipe, as DevTools drive it."""

    def __init__(self, profile: Path) -> None:
        found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not found:
            pytest.fail("Chromium is not installed: the report is tested in it; on Debian: apt-get install chromium")
        (theirs, self._commands), (self._answers, back) = os.pipe(), os.pipe()
        command = [sys.executable, "-c", _START, str(theirs), str(back), found, *FLAGS, f"--user-data-dir={profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, pass_fds=(theirs, back), **quiet)
        os.close(theirs)
        os.close(back)
        self._buffer, self._number, self._session = b"", 0, ""

    def open(self, url: str) -> None:
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Page.navigate", url=url)
        self._read_until(lambda message: message.get("method") == "Page.loadEventFired")

    def press(self, key: dict[str, Any]) -> None:
        self._call("Input.dispatchKeyEvent", type="keyDown", **key)
        self._call("Input.dispatchKeyEvent", type="keyUp", **{name: value for name, value in key.items() if name != "text"})

    def ask(self, expression: str) -> Any:
        return self._call("Runtime.evaluate", expression=expression)["result"].get("value")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=240)
        os.close(self._commands)
        os.close(self._answers)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer = self._read_until(lambda found: found.get("id") == self._number)
        assert "error" not in answer, answer
        return answer["result"]

    def _read_until(self, is_wanted: Any) -> dict[str, Any]:
        while True:
            while b"\0" not in self._buffer:
                read = os.read(self._answers, 65536)
                assert read, "Chromium has ended"
                self._buffer += read
            one, _, self._buffer = self._buffer.partition(b"\0")
            if is_wanted(message := json.loads(one)):
                return message


@pytest.fixture
def browser(tmp_path) -> Iterator[Browser]:
    driven = Browser(tmp_path / "profile")
    yield driven
    driven.close()


def walk(browser: Browser) -> list[dict[str, Any]]:
    """What gets the focus, press by press, until it leaves the page."""
    stops: list[dict[str, Any]] = []
    while len(stops) < 500:
        browser.press(TAB)
        stop = json.loads(browser.ask(FOCUSED))
        if stop is None:
            return stops
        stops.append(stop)
    pytest.fail("the focus never leaves the page")


@pytest.mark.parametrize("which", ["index", "page"])
def test_tab_goes_through_all_of_a_page_in_its_order(browser, tmp_path, which):
    folder.write(samples.sample(), tmp_path, ["html"])
    browser.open((tmp_path / ("index.html" if which == "index" else as_html.page_name("train.py"))).as_uri())
    stops = walk(browser)
    assert len(stops) == browser.ask(REACHABLE)
    assert [stop["number"] for stop in stops] == sorted(stop["number"] for stop in stops)
    assert all(stop["ring"] and stop["seen"] and stop["name"] for stop in stops), stops
    assert stops[0]["skip"]


def test_the_first_stop_leads_past_the_head_of_the_page(browser, tmp_path):
    folder.write(samples.sample(), tmp_path, ["html"])
    browser.open((tmp_path / "index.html").as_uri())
    browser.press(TAB)
    browser.press(ENTER)
    browser.press(TAB)
    stop = json.loads(browser.ask(FOCUSED))
    assert stop["hash"] != "" and browser.ask("document.activeElement.closest('nav, header') === null")
