"""Long lists in real Chromium, with scripts and without: what is drawn from data is what the static rows say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.report import samples
from tests.report.browser import playwright_chromium
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report import writer
from tf2npu.report.model.report import FileReport, Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

N_FINDINGS = 1_000
MESSAGES = (
    "Look at `x` and at ``y``, not at `z.",
    f"Odd {samples.BIDI} \u2028 <img src=x onerror=document.title='owned'> </script>",
    "`a < b` & `c`` d`",
    "$& $1 \\u003c # of #",
)
SHOWN = """
({rows: [...document.querySelectorAll("#findings tbody tr")].map((row) => row.cells[0].textContent),
  said: document.querySelector(".tools [role=status]").textContent, walk: document.querySelector("nav.pages").textContent.trim(),
  order: [...document.querySelectorAll("#findings th[aria-sort]")].map((e) => [e.cellIndex, e.getAttribute("aria-sort")]),
  words: document.querySelector(".tools input").value, level: document.querySelector(".tools select").value,
  search: location.search})
"""
ROWS = "[...document.querySelectorAll('#findings tbody tr')].map((row) => row.innerHTML)"


def made() -> Report:
    """Ten files of a hundred findings, one of them with a name that no browser should obey."""
    levels = (Level.MANUAL, Level.UNSUPPORTED, Level.INFO, Level.FIXED)
    files = []
    for number in range(10):
        path = f"part{number}/train{number}.py" if number else samples.HOSTILE_NAMES[0].replace("/", "_") + samples.BIDI
        found = [
            Finding("NPU101", levels[n % 4], Span(n + 1, 1, n + 1, 3), f"{MESSAGES[n % 4]} {n % 7}", api=f"tensorflow.f{n % 13}")
            for n in range(N_FINDINGS // 10)
        ]
        files.append(FileReport(path, Status.UNCHANGED, found, source="x = 1\n" * 100))
    return Report(files)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("report")
    writer.write(made(), target, ["html"])
    return target


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with playwright_chromium() as browser:
        yield browser


@pytest.fixture
def opened(chromium, place) -> Iterator[Page]:
    """The list of findings; what the page complains of fails the test."""
    context = chromium.new_context()
    page, told = context.new_page(), []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto((place / "findings.html").as_uri())
    yield page
    assert told == [] and page.title() != "owned"
    context.close()


def shown(page: Page) -> dict[str, Any]:
    return page.evaluate(SHOWN)


def test_search_choice_and_sort_find_the_same_as_the_report_has(opened):
    assert shown(opened)["said"] == "1000 of 1000 findings shown" and len(shown(opened)["rows"]) == 100
    opened.fill(".tools input", "PART3/ f7")
    worst_first = (1, 0, 2, 3)  # unsupported, manual, info, fixed, by their numbers in `made`
    expected = [f"part3/train3.py:{n + 1}:1" for level in worst_first for n in range(level, 100, 4) if n % 13 == 7]
    assert shown(opened)["rows"] == expected and shown(opened)["said"] == f"{len(expected)} of 1000 findings shown"
    opened.select_option(".tools select", "unsupported")
    expected = [f"part3/train3.py:{n + 1}:1" for n in range(100) if n % 13 == 7 and n % 4 == 1]
    assert shown(opened)["rows"] == expected
    opened.fill(".tools input", "")
    assert shown(opened)["said"] == "250 of 1000 findings shown" and shown(opened)["walk"].startswith("previous Page 1 of 3")
    opened.click("#findings th >> nth=0 >> button")
    opened.click("#findings th >> nth=0 >> button")
    assert shown(opened)["order"] == [[0, "descending"]] and shown(opened)["rows"][0].startswith("part9/")
    opened.fill(".tools input", "nowhere to be found")
    assert shown(opened)["rows"] == [] and shown(opened)["said"] == "0 of 1000 findings shown"


def test_page_order_and_filter_come_back(opened, place):
    opened.select_option(".tools select", "manual")
    opened.click("#findings th >> nth=3 >> button")
    opened.click("nav.pages button >> nth=1")
    left = shown(opened)
    assert left["walk"].startswith("previous Page 2 of 3") and left["order"] == [[3, "ascending"]]
    opened.reload()
    assert shown(opened) == left
    opened.goto((place / "index.html").as_uri())
    opened.go_back()
    assert shown(opened) == left
    other = opened.context.new_page()
    other.goto((place / "findings.html").as_uri() + left["search"])
    assert shown(other) == left
    opened.click("nav.pages button >> nth=0")
    assert shown(opened)["walk"].startswith("previous Page 1 of 3") and "page=" not in shown(opened)["search"]


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(
    "query", ["?page=99999", "?page=-3&findings-by=77", "?findings-only=%3Cb%3E&page=x", "?findings=%FF&&=", "?page=1.5"]
)
def test_a_damaged_address_shows_rows_or_says_that_there_are_none(opened, place, query):
    opened.goto((place / "findings.html").as_uri() + query)
    assert shown(opened)["rows"] or shown(opened)["said"].startswith("0 of")


def test_a_damaged_state_of_the_history_does_no_harm(opened):
    before = shown(opened)
    for state in ("null", "7", "'<b>'", "{page: {page: 'x'}}", "[[]]"):
        opened.evaluate(
            f"history.pushState({state}, '', location.href); dispatchEvent(new PopStateEvent('popstate', {{state: {state}}}))"
        )
        assert shown(opened) == before


@pytest.mark.whole
def test_rows_that_are_drawn_are_those_of_the_static_pages(chromium, place, opened):
    without = chromium.new_context(java_script_enabled=False)
    drawn: list[str] = []
    for _ in range(10):
        drawn += opened.evaluate(ROWS)
        if opened.is_enabled("nav.pages button >> nth=1"):
            opened.click("nav.pages button >> nth=1")
    static: list[str] = []
    page = without.new_page()
    page.goto((place / "findings.html").as_uri())
    links = page.locator("nav.pages a").evaluate_all("(all) => all.map((e) => e.href)")
    assert len(links) > 2 and len(set(links)) == len(links)
    for link in links:
        page.goto(link)
        static += page.evaluate(ROWS)
    without.close()
    assert len(static) == N_FINDINGS
    assert [plain(row) for row in drawn] == [plain(row) for row in static]


def plain(row: str) -> str:
    """A row without spaces that nobody sees, and with its attributes in one order."""
    ordered = re.sub(r'<(\w+)((?: [\w-]+="[^"]*")+)>', _in_order, row)
    return re.sub(r"\s+(?=<)|(?<=>)\s+", "", ordered)


def _in_order(tag: re.Match[str]) -> str:
    attributes = sorted(re.findall(r' [\w-]+="[^"]*"', tag[2]))
    return f"<{tag[1]}{''.join(attributes)}>"


def test_blocks_of_data_are_plain_calls_that_hold_no_markup(place):
    blocks = sorted((place / "data").glob("findings-*.js"))
    rows, texts = [], []
    for block in blocks:
        text = block.read_text(encoding="utf-8")
        assert text.isascii() and "<" not in text and len(text) < 1_000_000
        call, items = re.fullmatch(r"tf2npu\.(texts|rows)\((.*)\);\n", text).groups()
        (rows if call == "rows" else texts).extend(json.loads(items))
    assert len(rows) == N_FINDINGS and len(texts) == len(set(texts))
    assert all(any(f"{said} {n}" == text for text in texts) for said in MESSAGES for n in range(7))
