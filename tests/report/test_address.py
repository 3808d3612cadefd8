"""The lists of a report in real Chromium: what is filtered and sorted survives going away and coming back; names stay whole."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report import samples
from tests.report.browser import Browser
from tf2npu.report import writer
from tf2npu.report.formats.render_context import page_name

SHOWN = """
(() => {
  const table = document.getElementById("files"), tools = document.querySelector('[data-for="files"]');
  return JSON.stringify({
    rows: [...table.tBodies[0].rows].filter((e) => e.checkVisibility()).map((e) => e.cells[0].textContent),
    words: tools.querySelector("input").value, status: tools.querySelector("select").value,
    order: table.querySelector("th").getAttribute("aria-sort"), search: location.search});
})()
"""
FILTER = """
(() => {
  const tools = document.querySelector('[data-for="files"]');
  const [field, choice] = [tools.querySelector("input"), tools.querySelector("select")];
  field.value = "py &+"; field.dispatchEvent(new Event("input"));
  field.value = "p y"; field.dispatchEvent(new Event("input"));
  choice.value = "%s"; choice.dispatchEvent(new Event("change"));
})()
"""
SORT = 'document.querySelector("#files th button").click()'


@pytest.fixture
def browser(tmp_path) -> Iterator[Browser]:
    driven = Browser(tmp_path / "profile")
    yield driven
    driven.close()


@pytest.fixture
def files(tmp_path) -> Path:
    writer.write(samples.sample(), tmp_path / "report", ["html"])
    return tmp_path / "report" / "files.html"


def shown(browser: Browser) -> dict[str, Any]:
    return json.loads(browser.ask(SHOWN))


def go(browser: Browser, step: str) -> None:
    """Leave the page by an expression, and wait for the next one."""
    browser.ask(f"setTimeout(() => {{ {step} }})")  # an answer from a page that is being left may never come
    browser.wait_for("Page.loadEventFired")


def test_filter_and_order_come_back_by_going_back_and_reloading(browser, files):
    browser.open(files.as_uri())
    at_first = shown(browser)
    browser.ask(FILTER % "converted")
    browser.ask(SORT)
    browser.ask(SORT)
    left = shown(browser)
    assert 0 < len(left["rows"]) < len(at_first["rows"]) and left["order"] == "descending"
    assert left["rows"] == sorted(left["rows"], reverse=True) != [row for row in at_first["rows"] if row in left["rows"]]
    go(browser, f"location.href = '{page_name('train.py')}'")
    assert browser.ask("document.getElementById('files')") is None
    go(browser, "history.back()")
    assert shown(browser) == left
    go(browser, "location.reload()")
    assert shown(browser) == left
    assert not browser.complaints()


def test_a_copied_address_shows_the_same_and_one_without_it_shows_all(browser, files):
    browser.open(files.as_uri())
    at_first = shown(browser)
    browser.ask(FILTER % "failed")
    browser.ask(SORT)
    left = shown(browser)
    browser.open(files.as_uri() + left["search"] + "#main")
    assert shown(browser) == left and left["rows"] == ["broken.py"]
    browser.open(files.as_uri())
    assert shown(browser) == at_first and at_first["search"] == ""


def test_going_back_inside_of_a_page_undoes_what_was_filtered_and_sorted_since(browser, files):
    browser.open(files.as_uri())
    at_first = shown(browser)
    browser.ask("location.hash = 'main'")
    browser.ask(FILTER % "failed")
    browser.ask(SORT)
    assert shown(browser)["rows"] == ["broken.py"]
    browser.ask("new Promise((done) => { addEventListener('popstate', () => setTimeout(done)); history.back(); })", waits=True)
    assert shown(browser) == at_first


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("query", ["?files-only=%3Cb%3E&files-by=99", "?files-by=-x&files=%FF%00", "?&&="])
def test_a_damaged_address_does_no_harm(browser, files, query):
    browser.open(files.as_uri() + query)
    assert shown(browser)["status"] == "" and shown(browser)["order"] is None
    assert not browser.complaints()


LINES = """
JSON.stringify([...document.querySelectorAll("#apis th code, #files th .path")].map((e) => {
  const range = document.createRange(); range.selectNodeContents(e);
  return [e.textContent, new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size];
}))
"""


def test_names_stay_whole_on_a_telephone(browser, files):
    lines: dict[str, int] = {}
    for page in (files, files.with_name("apis.html")):
        browser.open(page.as_uri())
        browser.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        lines |= dict(json.loads(browser.ask(LINES)))
        assert browser.ask("document.documentElement.scrollWidth <= 390"), "tables scroll, the page does not"
    for name in ("tensorflow.Session", "tensorflow.py_func", "broken.py", "tensorflow.float32"):
        assert lines[name] == 1, lines
    for name, n_lines in lines.items():
        assert n_lines <= 1 + len(name) // 15, (name, n_lines)
