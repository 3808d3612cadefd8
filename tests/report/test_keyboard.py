"""The report by keyboard alone, with real key presses in Chromium: everything is reached, in the order that one reads."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.report import samples
from tests.report.browser import ENTER, TAB, Browser
from tf2npu.report import writer
from tf2npu.report.formats.render_context import page_name

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
[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(
  (e) => e.checkVisibility() && !e.disabled && e.getAttribute("tabindex") !== "-1"
    && (e.type !== "radio" || e === document.querySelector(`[name="${e.name}"]`))).length  // one stop for each group
"""


@pytest.fixture
def browser(tmp_path) -> Iterator[Browser]:
    driven = Browser(tmp_path / "profile")
    yield driven
    driven.close()


def walk(browser: Browser) -> list[dict[str, Any]]:
    """Elements that get the focus, press by press, until it leaves the page."""
    stops: list[dict[str, Any]] = []
    while len(stops) < 500:
        browser.press(TAB)
        stop = json.loads(browser.ask(FOCUSED))
        if stop is None:
            return stops
        stops.append(stop)
    pytest.fail("the focus never leaves the page")


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("which", ["index", "decisions", "findings", "apis", "page"])
def test_tab_goes_through_all_of_a_page_in_its_order(browser, tmp_path, which):
    writer.write(samples.sample(), tmp_path, ["html"])
    browser.open((tmp_path / (page_name("train.py") if which == "page" else f"{which}.html")).as_uri())
    stops = walk(browser)
    assert len(stops) == browser.ask(REACHABLE)
    assert [stop["number"] for stop in stops] == sorted(stop["number"] for stop in stops)
    assert all(stop["ring"] and stop["seen"] and stop["name"] for stop in stops), stops
    assert stops[0]["skip"]


def test_the_first_stop_leads_past_the_head_of_the_page(browser, tmp_path):
    writer.write(samples.sample(), tmp_path, ["html"])
    browser.open((tmp_path / "index.html").as_uri())
    browser.press(TAB)
    browser.press(ENTER)
    browser.press(TAB)
    stop = json.loads(browser.ask(FOCUSED))
    assert stop["hash"] != "" and browser.ask("document.activeElement.closest('nav, header') === null")
