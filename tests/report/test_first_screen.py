"""Facts that a person finds without scrolling, and clicks to the rest: an engineer, a lead and a newcomer in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.how_many import some
from tests.report import samples
from tests.report.browser import playwright_chromium
from tests.report.test_json import RUN
from tests.report.test_pictures import pictured
from tf2npu.findings import EntryScript, Finding, Level, Span, Status
from tf2npu.report import writer
from tf2npu.report.model.report import FileReport, Report

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SCREEN = {"width": 1280, "height": 800}
FACTS = ("#verdict .outcome > span", "#verdict .left", "#verdict .work", "#verdict p:has(strong)")
"""Facts for a lead: the verdict, the places that are left, the shares that they are split into, and the risks."""
AT_POINT = "(box) => document.elementFromPoint(box.x + 5, box.y + 5)?.getAttribute('href') === '#words'"
WORDS = {"manual": "A person must change", "info": "It runs as it is", "host": "The host's processor"}


def large() -> Report:
    """Many decisions with sentences of several lines, in folders with long names, and a script that needs all of them."""
    place = "projects/" + "language_modelling_with_a_long_name/" * 2
    said = "look at this, and write it otherwise. " * 9
    files = [
        FileReport(f"{place}part_{n}.py", Status.CONVERTED, references=9, lines=40, source="x = tf.py_func(f)\n" * 9)
        for n in range(60)
    ]
    for n, file in enumerate(files):
        file.findings.append(Finding("NPU922", Level.MANUAL, Span(3, 1, 3, 4), f"Number {n}: {said}"))
    imports = tuple(file.path for file in files[1:])
    files[0].imports = imports
    return Report(files, entries=(EntryScript(files[0].path, "guard", True),))


def hostile() -> Report:
    report = samples.sample()
    report.run = RUN
    return replace(report, entries=(EntryScript("train.py", "guard", True),))


REPORTS: dict[str, Callable[[], Report]] = {
    "small": pictured, "large": large, "hostile": hostile, "Chinese": lambda: replace(pictured(), language="zh"),
}  # fmt: skip


@pytest.fixture(scope="module", params=some(REPORTS, 3))
def report(request, tmp_path_factory) -> tuple[str, Path]:
    """Its name and its folder."""
    target = tmp_path_factory.mktemp("report")
    writer.write(REPORTS[request.param](), target, ["html"])
    return request.param, target


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[..., Page]]:
    """Opens a page of the disk in a window of its own."""
    with playwright_chromium() as browser, ExitStack() as closing:

        def open_page(path: Path, **size: Any) -> Page:
            context = browser.new_context(viewport=SCREEN | size, offline=True)
            closing.callback(context.close)
            page = context.new_page()
            page.goto(path.as_uri())
            return page

        yield open_page


def is_read(shown: Locator) -> bool:
    """Whether all of it stands in the window."""
    box, size = shown.bounding_box(), shown.page.viewport_size
    assert box and size
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"] and box["x"] + box["width"] <= size["width"]


def first_pages(target: Path) -> list[Path]:
    """A page of each kind."""
    return [*(p for p in sorted(target.glob("*.html")) if not p.stem[-1].isdigit()), *sorted((target / "files").glob("*"))[:1]]


def test_verdict_places_risks_and_the_first_step_are_read_without_scrolling(opened, report):
    name, target = report
    page = opened(target / "index.html")
    for fact in FACTS:
        assert is_read(page.locator(fact).first), fact
    assert is_read(page.locator("#next_steps .steps li").first)
    if name == "small":
        assert page.locator("#verdict .outcome").inner_text().startswith("Ready after")
        assert "left" in page.locator("#verdict .left").inner_text()


def test_what_to_change_and_the_command_are_two_clicks_away(opened, report):
    """One click to the card of the first step, one to its code; the command stands on the first page, or behind a fold of it."""
    _, target = report
    page = opened(target / "index.html")
    command = page.locator("#next_steps .command code, #entry_scripts details[open] .command code").first
    assert command.inner_text().startswith(("tf2npu ", "python "))
    step = page.locator("#next_steps .steps li").first
    step.locator("a[href^='decisions']").click()
    card = page.locator("article:target")
    heading, said = card.locator("h2"), card.locator(".said").first
    assert is_read(heading) and said.inner_text()
    page.go_back()
    place = page.locator("#next_steps .steps li a[href^='files/']").first
    place.click()
    note = page.locator("tr:target .note, .note:target").first
    note.wait_for()
    box = note.bounding_box()
    assert box and 0 <= box["y"] < SCREEN["height"]


def test_the_words_are_one_click_away_on_every_page(opened, report):
    name, target = report
    for path in some(first_pages(target)):
        page = opened(path)
        link = page.locator("nav.sections a[href='#words']").first
        for at in ("0", "document.documentElement.scrollHeight"):
            page.evaluate(f"scrollTo(0, {at})")
            assert is_read(link), (path.name, at)
            assert page.evaluate(AT_POINT, link.bounding_box()), "nothing lies over it"
        link.click()
        for word, said in WORDS.items():
            meaning = page.locator(f"#words dt.badge.{word} + dd").last
            assert is_read(meaning), (path.name, word)
            assert name == "Chinese" or meaning.inner_text().startswith(said)


def test_nothing_is_wider_than_a_telephone(opened, report):
    _, target = report
    for path in some(first_pages(target)):
        page = opened(path, width=390)
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path.name


@pytest.mark.whole(but=("Chinese",))
def test_no_count_of_a_table_is_broken(opened, report):
    _, target = report
    for path in some(first_pages(target)):
        for width in (1280, 390):
            page = opened(path, width=width)
            heights = page.evaluate(
                "[...document.querySelectorAll('table.list tbody td.number')].map((cell) => {"
                " const text = document.createRange(); text.selectNodeContents(cell); return text.getClientRects().length })"
            )
            assert all(lines <= 1 for lines in heights), (path.name, width)


def test_code_before_and_after_a_choice_stand_below_each_other(opened, report):
    _, target = report
    page = opened(target / "decisions.html")
    edges = page.evaluate("""
      [...document.querySelectorAll(".choice .example")].map((code) => {
        const last = code.querySelector("del:last-of-type"), first = code.querySelector("ins");
        return [last.getBoundingClientRect().bottom, first.getBoundingClientRect().top];
      })
    """)
    assert edges and all(bottom <= top for bottom, top in edges)
