"""The whole way through a report in real Chromium: find, read, decide, convert again; with keys, on paper, without scripts.

Over the report of the examples and over one of 150 files with two runs. No page writes to the console or asks for anything
but files.
"""

from __future__ import annotations

import json
import re
import shutil
import unittest
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

import pytest

from tests.report import made_project
from tests.report.browser import playwright_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[2]
LISTS = ("findings", "files", "apis")
ROWS = """
(name) => [...document.querySelectorAll(`#${name} tbody tr`)].filter((row) => row.checkVisibility())
  .map((row) => row.cells[0].textContent)
"""
NOTES = "[...document.querySelectorAll('.note')].filter((note) => note.checkVisibility()).map((note) => note.id)"
FOCUS = "document.activeElement.id"
THEME = "getComputedStyle(document.body).backgroundColor"


class Visits:
    """Contexts of a browser in which each page is listened to."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.told: list[str] = []
        self.asked: set[str] = set()

    def context(self, **how: Any) -> BrowserContext:
        made = self._browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 800}, **how)
        made.on("console", lambda message: self.told.append(message.text))
        made.on("weberror", lambda error: self.told.append(str(error.error)))
        made.on("request", lambda request: self.asked.add(request.url))
        self._contexts.append(made)
        return made

    def end(self) -> None:
        for context in self._contexts:
            context.close()
        assert self.told == [] and self.asked
        assert [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with playwright_chromium() as browser:
        yield browser


@pytest.fixture
def visits(chromium: Browser) -> Iterator[Visits]:
    made = Visits(chromium)
    yield made
    made.end()


@pytest.fixture
def page(visits: Visits) -> Page:
    return visits.context().new_page()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project, its conversion and the report of both, with two runs."""
    if find_spec("tensorflow") is None:
        raise unittest.SkipTest("TensorFlow is not installed, with which the two scripts are run")
    place = tmp_path_factory.mktemp("made")
    made_project.write_project(place / "src")
    with made_project.own_folders(place):
        assert made_project.tf2npu("convert", place / "src", place / "out") == 1
    for script in made_project.SCRIPTS:
        made_project.run_script(place / "out", script)
    return place


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo")
    shutil.copytree(ROOT / "examples", place / "src")
    with made_project.own_folders(place):
        assert made_project.tf2npu("convert", place / "src", place / "out") == 0
    return place


@pytest.fixture(params=["demo", "made"])
def report(request: pytest.FixtureRequest) -> Path:
    """The folder of each report in turn."""
    return Path(request.getfixturevalue(request.param)) / "out" / "tf2npu-report"


def document_of(report: Path) -> dict[str, Any]:
    return dict(json.loads((report / "report.json").read_text()))


def findings_of(report: Path) -> list[tuple[str, dict[str, Any]]]:
    return [(file["path"], finding) for file in document_of(report)["files"] for finding in file["findings"]]


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_searched_filtered_reloaded_and_left_and_its_address_shows_the_same(visits, page, report, name):
    page.goto((report / f"{name}.html").as_uri())
    at_first = page.evaluate(ROWS, name)
    choice = page.locator(f".tools[data-for={name}] select")
    option = {"findings": "info", "files": "copied", "apis": "runs"}[name]
    page.fill(f".tools[data-for={name}] input", "P E")
    searched = page.evaluate(ROWS, name)
    texts = page.locator(f"#{name} tbody tr").filter(visible=True).all_text_contents()
    assert texts and all("p" in text.lower() and "e" in text.lower() for text in texts)
    choice.select_option(option)
    page.locator(f"#{name} th button").first.click()
    left = page.evaluate(ROWS, name)
    assert 0 < len(left) < len(searched) <= len(at_first) and left == sorted(left)
    told = page.locator(f".tools[data-for={name}] [role=status]").inner_text()
    page.reload()
    assert page.evaluate(ROWS, name) == left
    page.goto((report / "index.html").as_uri())
    page.go_back()
    assert page.evaluate(ROWS, name) == left
    assert page.locator(f".tools[data-for={name}] [role=status]").inner_text() == told
    other = visits.context().new_page()
    other.goto(page.url)
    assert other.evaluate(ROWS, name) == left and choice.input_value() == option


@pytest.mark.whole(beyond=1)
def test_keys_lead_through_findings_and_files_and_back_up(page, report):
    with_findings = [file for file in document_of(report)["files"] if file.get("source") is not None and file["findings"]]
    page.goto((report / "files.html").as_uri())
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.type(with_findings[0]["path"])
    assert page.locator(".tools input").input_value() == with_findings[0]["path"]
    with page.expect_navigation():
        page.locator("#files tbody a").first.click()
    first = page.url
    notes = page.evaluate(NOTES)
    assert len(notes) == len(with_findings[0]["findings"]) > 1
    page.keyboard.press("j")
    assert page.evaluate(FOCUS) == notes[0]
    page.keyboard.press("j")
    assert page.evaluate(FOCUS) == notes[1]
    page.keyboard.press("k")
    assert page.evaluate(FOCUS) == notes[0]
    with page.expect_navigation():
        page.keyboard.press("]")
    assert page.locator("h1").inner_text() == with_findings[1]["path"]
    with page.expect_navigation():
        page.keyboard.press("[")
    assert urldefrag(page.url)[0] == urldefrag(first)[0]
    page.keyboard.press("?")
    assert page.locator("dialog#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog#keys").is_visible()
    for name in ("files.html", "index.html"):
        with page.expect_navigation():
            page.keyboard.press("u")
        assert Path(urldefrag(page.url)[0]).name.startswith(name)


@pytest.mark.whole(but=("demo",))
def test_every_page_opens_in_silence_and_in_the_colours_that_were_chosen(page, report):
    page.goto((report / "index.html").as_uri())
    light = page.evaluate(THEME)
    page.keyboard.press("t")
    dark = page.evaluate(THEME)
    assert dark != light
    for one in [*report.glob("*.html"), *(report / "files").glob("*.html")]:
        page.goto(one.as_uri(), wait_until="domcontentloaded")
        assert page.evaluate(THEME) == dark and page.title().endswith("tf2npu report"), one.name
    page.keyboard.press("t")
    page.goto((report / "index.html").as_uri())
    assert page.evaluate(THEME) == light


def open_places(page: Page, report: Path) -> int:
    """Places that are left to a person, as the first page adds them up."""
    page.goto((report / "index.html").as_uri())
    cards = page.locator("#verdict .card").evaluate_all("(all) => all.map((card) => [card.className, card.innerText])")
    return sum(int(re.search(r"(\d+) places?", text)[1]) for kind, text in cards if "done-by-the-tool" not in kind)


@pytest.mark.whole(but=("NPU969-edit",))
@pytest.mark.parametrize(("rule", "choice"), [("NPU912", "suppress"), ("NPU201", "accept"), ("NPU969", "edit")])
def test_what_is_decided_on_a_card_and_exported_is_no_work_any_more(page, made, tmp_path, rule, choice):
    shutil.copytree(made / "src", tmp_path / "src")
    shutil.copytree(made / "out", tmp_path / "out", symlinks=True)
    report = tmp_path / "out" / "tf2npu-report"
    before = open_places(page, report)
    page.goto((report / "decisions.html").as_uri())
    cards = page.locator("article.decision[data-decision]:not([data-row^=info])")  # an offer is no work
    assert before == sum(int(n) for n in cards.evaluate_all("(all) => all.map((card) => card.dataset.places)"))
    card = cards.filter(has_text=rule)
    places, identity = int(card.get_attribute("data-places")), card.get_attribute("data-decision")
    page.fill("#who", "Ann")
    page.locator("#who").blur()
    card.locator(f"input[value={choice}]").check()
    settled = int(card.locator(f"input[value={choice}]").get_attribute("data-places"))
    assert settled == places > 10
    card.locator("input[name=note]").fill("seen with the team")
    card.locator("input[name=note]").blur()
    card.locator("input[name=done]").check()
    page.reload()
    assert card.locator(f"input[value={choice}]").is_checked() and card.locator("input[name=done]").is_checked()
    with page.expect_download() as download:
        page.click("[data-export=toml]")
    assert download.value.suggested_filename == "tf2npu-decisions.toml"
    download.value.save_as(tmp_path / "tf2npu-decisions.toml")
    with made_project.own_folders(tmp_path):
        words = ["convert", tmp_path / "src", tmp_path / "out", "--decisions", tmp_path / "tf2npu-decisions.toml", "--force"]
        assert made_project.tf2npu(*words) == 1
    assert open_places(page, report) == before - places
    page.goto((report / "decisions.html").as_uri())
    assert page.locator(f"[data-decision='{identity}']").count() == 0
    decided = page.locator("article.decision:not([data-decision])")
    assert decided.count() == 1 and "Ann" in decided.inner_text() and "seen with the team" in decided.inner_text()


@pytest.mark.whole(but=("demo",))
def test_the_report_in_chinese_has_the_same_pages_and_places(page, report, tmp_path):
    shutil.copy(report / "report.json", tmp_path / "report.json")
    words = ["report", tmp_path / "report.json", "--lang", "zh", "--format", "html", "--report", tmp_path / "zh"]
    assert made_project.tf2npu(*words) == 0
    names = {path.relative_to(report).as_posix() for path in report.rglob("*.html")}
    assert {path.relative_to(tmp_path / "zh").as_posix() for path in (tmp_path / "zh").rglob("*.html")} == names
    page.goto((report / "findings.html").as_uri())
    english = page.evaluate(ROWS, "findings")
    for name in sorted(names - {name for name in names if name.startswith("files/")}) + sorted(names)[:2]:
        page.goto((tmp_path / "zh" / name).as_uri())
        assert page.evaluate("document.documentElement.lang") == "zh", name
        assert re.search("[\u4e00-\u9fff]{2}", page.locator("nav.sections").first.inner_text()), name
    page.goto((tmp_path / "zh" / "findings.html").as_uri())
    assert page.evaluate(ROWS, "findings") == english


SEEN = """
(() => {
  const skipped = "nav, .tools, .answers, .copies, .walk, button, dialog, script, .skip";
  return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest(skipped)
    && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => e.textContent.trim());
})()
"""


@pytest.mark.whole(but=("demo",))
def test_on_paper_nothing_is_hidden_that_the_screen_shows(page, report):
    for one in [*sorted(report.glob("*.html")), min((report / "files").iterdir())]:
        page.goto(one.as_uri())
        on_screen, rows = page.evaluate(SEEN), page.locator("tbody tr").count()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        on_paper = page.evaluate(SEEN)
        assert [text for text in on_screen if text not in set(on_paper)] == [], one.name
        assert page.evaluate("[...document.querySelectorAll('tbody tr')].filter((e) => e.checkVisibility()).length") == rows
        assert page.evaluate("document.querySelectorAll('details:not(.fold):not([open])').length") == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")


@pytest.mark.whole(but=("demo",))
def test_without_scripts_every_finding_is_reached_by_links(visits, report):
    page = visits.context(java_script_enabled=False).new_page()
    reached = walk(page, report / "index.html")
    ids = {address: set(found["ids"]) for address, found in reached.items()}
    loose = [(address, link) for address, found in reached.items() for link in found["links"] if leads_nowhere(link, ids)]
    assert loose == []
    rows = {row for found in reached.values() for row in found["rows"]}
    notes = [plain(text) for found in reached.values() for text in found["notes"]]
    for path, finding in findings_of(report):
        cell = f"cell {finding['cell']}:" if "cell" in finding else ""
        assert f"{path}:{cell}{finding['line']}:{finding['column']}" in rows
        message, _, _ = finding["message"].partition(" The file has ")
        assert any(plain(message) in note and finding["rule"] in note for note in notes), finding
    assert len(notes) == sum(len(file["findings"]) for file in document_of(report)["files"] if file.get("source") is not None)


READ = """
(() => ({
  links: [...document.querySelectorAll("a[href]")].map((e) => new URL(e.getAttribute("href"), document.baseURI).href),
  ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
  rows: [...document.querySelectorAll("#findings tbody th")].map((e) => e.textContent),
  notes: [...document.querySelectorAll(".note")].filter((e) => e.checkVisibility()).map((e) => e.textContent),
}))()
"""


def walk(page: Page, start: Path) -> dict[str, dict[str, Any]]:
    """Contents of each page that links lead to from the first one."""
    reached: dict[str, dict[str, Any]] = {}
    waiting = [start.as_uri()]
    while waiting:
        address = waiting.pop()
        if address in reached:
            continue
        page.goto(address)
        reached[address] = page.evaluate(READ)
        to = {urldefrag(link)[0].partition("?")[0] for link in reached[address]["links"] if link.startswith("file:")}
        waiting += sorted(to - set(reached))
    return reached


def leads_nowhere(link: str, ids: dict[str, set[str]]) -> bool:
    address, anchor = urldefrag(link)
    found = ids.get(address.partition("?")[0])
    return (found is None and link.startswith("file:")) or bool(anchor and found is not None and anchor not in found)


def plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())
