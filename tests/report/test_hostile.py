"""Hostile texts everywhere in a report, on every kind of page in Chromium: nothing of them runs, loads, leads out or is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from npu_formats.escape import visible
from tests.report.browser import chromium_path, playwright_chromium
from tests.report.hostile import HOSTILE, MARKUP, hostile_json
from tests.report.test_json import SCHEMA, VALIDATOR
from tf2npu.findings import FileResult, Finding, Level, Span, Status
from tf2npu.report import writer
from tf2npu.report.compared import page as compared_page
from tf2npu.report.compared.comparison import compare
from tf2npu.report.formats import as_json
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report

WATCH = """
window.seen = [];
addEventListener("securitypolicyviolation", (event) => seen.push("policy " + event.violatedDirective));
addEventListener("error", (event) => seen.push("error " + event.message), true);
addEventListener("unhandledrejection", (event) => seen.push("rejected " + event.reason));
"""
USE = """
async () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll("input[type=search]")) {
    for (const words of [%s, "(", ""]) { one.value = words; one.dispatchEvent(new Event("input", { bubbles: true })); }
  }
  for (const one of document.querySelectorAll("select")) {
    one.selectedIndex = one.options.length - 1; one.dispatchEvent(new Event("change", { bubbles: true }));
    one.selectedIndex = 0; one.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const one of document.querySelectorAll("input[name=note], input[name=who]")) {
    one.value = %s; one.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const one of document.querySelectorAll("main button, main input[type=radio], summary")) {
    one.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  }
  for (const key of "jjjk?t/") document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((done) => setTimeout(done, 150));
}
"""
FOUND = """
() => ({
  seen, title: document.title,
  outside: [...document.querySelectorAll("[href], [src], [action], [srcdoc]")].filter((e) => {
    const to = e.href instanceof SVGAnimatedString ? new URL(e.href.baseVal, document.baseURI).href : e.href || e.src || "";
    return !/^(file:|data:,$|#)/.test(to) || e.hasAttribute("srcdoc") || e.hasAttribute("action");
  }).map((e) => e.outerHTML.slice(0, 200)),
  handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^(on|style$)/.test(a.name)))
    .map((e) => e.outerHTML.slice(0, 200)),
  foreign: [...document.querySelectorAll(
    "iframe, object, embed, img, base, form:not([method=dialog]), math, foreignObject, body script:not([src])")]
    .map((e) => e.outerHTML.slice(0, 200)),
})
"""


@dataclass
class Chromium:
    """A browser that writes down whatever a page does that no page of a report may do."""

    driven: Any
    bad: list[str] = field(default_factory=list)

    def opened(self, page: Path) -> Any:
        """A page in a context of its own, which has been loaded; others may be loaded in its place."""
        context = self.driven.new_context()
        context.add_init_script(WATCH)
        shown = context.new_page()
        shown.on("console", lambda message: self.bad.append(f"{shown.url}: console: {message.text}"))
        shown.on("pageerror", lambda error: self.bad.append(f"{shown.url}: error: {error}"))
        shown.on("dialog", lambda dialog: (self.bad.append(f"{shown.url}: dialog: {dialog.message}"), dialog.dismiss()))
        shown.on("popup", lambda other: self.bad.append(f"{shown.url}: opened {other.url}"))
        shown.on("request", lambda request: self._request(shown.url, request.url))
        shown.goto(page.as_uri())
        return shown

    def _request(self, page: str, url: str) -> None:
        if not url.startswith(("file:", "data:,", "blob:")):
            self.bad.append(f"{page}: asked for {url}")


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with playwright_chromium() as driven:
        yield driven


@pytest.fixture
def chromium(started) -> Iterator[Chromium]:
    watched = Chromium(started)
    yield watched
    assert watched.bad == []


CHANGES = {
    "appended": lambda text: text + HOSTILE,
    "address": lambda text: f"javascript:alert(1)//{text}",
    "alone": lambda text: HOSTILE if text else "",
}  # fmt: skip


def written(target: Path, name: str) -> list[Path]:
    """All pages of a hostile report: of its folder, as one file (with shorter texts), and beside one that is not hostile."""
    report = as_json.load(hostile_json(CHANGES[name]))
    writer.write(report, target, ["html"])
    writer.write(as_json.load(hostile_json(lambda text: text + MARKUP[2])), target / "one", ["one-file"])
    plain = as_json.load(hostile_json(lambda text: text))
    (target / "compare.html").write_text(compared_page.render(compare(plain, report)), encoding="utf-8")
    (target / "compare-back.html").write_text(compared_page.render(compare(report, plain)), encoding="utf-8")
    pages = sorted(target.rglob("*.html"))
    assert {"index.html", "decisions.html", "findings.html", "files.html", "apis.html", "rules.html", "runs.html", "scripts.html",
            "report.html", "compare.html"} <= {page.name for page in pages}  # fmt: skip
    return pages


def test_the_texts_are_where_a_report_may_hold_any():
    text = hostile_json()
    VALIDATOR.validate(json.loads(text))
    assert text.count(json.dumps(HOSTILE)[1:-1]) > 300 and SCHEMA["$defs"]["run"]


@pytest.mark.whole(but=("alone",))
@pytest.mark.parametrize("name", CHANGES)
def test_no_page_obeys_a_text(chromium, tmp_path, name):
    words, pages = json.dumps(HOSTILE), written(tmp_path, name)
    shown = chromium.opened(pages[0])
    for page in pages:
        shown.goto(page.as_uri())
        shown.evaluate(USE % (words, words))
        assert shown.url.partition("#")[0].partition("?")[0] == page.as_uri()
        found = shown.evaluate(FOUND)
        assert "owned" not in found.pop("title").split()
        assert found == {"seen": [], "outside": [], "handlers": [], "foreign": []}, page.name
    shown.goto((tmp_path / "index.html").as_uri())
    shown.locator("svg rect").first.dispatch_event("click")  # leads to a file or a folder of the picture
    shown.wait_for_load_state()
    assert shown.url.startswith(tmp_path.as_uri())
    shown.context.close()


@pytest.mark.whole
def test_every_text_is_seen_whole_or_its_cut_is_told(chromium, tmp_path):
    """Of texts of a usual length nothing is cut; what would reorder or hide others stands there as its code point."""
    written(tmp_path, "appended")
    for name in ("decisions", "findings", "apis", "runs"):
        text = chromium.opened(tmp_path / f"{name}.html").evaluate("document.querySelector('main').textContent")
        assert without_spaces(HOSTILE) in without_spaces(text), name


def without_spaces(text: str) -> str:
    """A text as pages show it, without blanks, line ends, backquotes (they make code), and brackets around code points."""
    return re.sub(r"U\+000[AD]", "", re.sub(r"<?(U\+[0-9A-F]{4,5})>?", r"\1", "".join(visible(text).replace("`", "").split())))


LONG_LINE = "x = '" + "0123456789" * 1_000_000 + "'"
MANY = 5_000


def large() -> Report:
    """A file with a line of 10 MB, and one with 5,000 findings, which all say something else, or all the same."""
    line = Finding("NPU912", Level.MANUAL, Span(1, 1, 1, 2), "Look.", before=LONG_LINE, after=LONG_LINE[:-1] + "9'")
    data = f"{LONG_LINE}\nimport os\n".encode()
    results = [FileResult("long.py", Status.UNCHANGED, [line], [], data, data)]
    source = b"f(x)\n" * MANY
    for name in ("each", "same"):
        found = [
            Finding("NPU912", Level.MANUAL, Span(n, 1, n, 5), f"Look at {n if name == 'each' else 'it'}.", before="f(x)")
            for n in range(1, MANY + 1)
        ]
        results.append(FileResult(f"{name}.py", Status.UNCHANGED, found, [], source, source))
    return build(results)


@pytest.mark.whole
def test_large_input_makes_bounded_pages_that_say_what_they_leave_out(chromium, tmp_path):
    writer.write(large(), tmp_path, ["html"])
    assert max(page.stat().st_size for page in tmp_path.rglob("*") if page.is_file()) <= 1_000_000
    lists = [page for page in tmp_path.glob("*.html") if not re.search(r"-(?!2\.)\d+\.html", page.name)]
    anchors: dict[str, set[str]] = {}
    shown = chromium.opened(lists[0])
    for page in [*sorted(lists), *sorted((tmp_path / "files").iterdir())]:
        text = page.read_text(encoding="utf-8")
        if page.parent.name == "files":
            anchors.setdefault(page.name[:4], set()).update(re.findall(r' id="(f-[0-9a-f]+)" role="note"', text))
        if page.parent.name == "files" and page.name.count("-") > 1 and not page.stem.endswith("-2"):
            continue  # those after the second are as that
        shown.goto(page.as_uri())
        assert shown.evaluate("document.querySelectorAll('*').length") <= 10_000, page.name
        if page.name.startswith("long"):
            told = shown.evaluate("[...document.querySelectorAll('.rest')].map((e) => e.textContent)")
            assert told and all(any(char.isdigit() for char in text) for text in told)
    shown.context.close()
    assert {name: len(found) for name, found in anchors.items()} == {"long": 1, "each": MANY, "same": MANY}
    assert chromium.bad == []


REFUSING = {"profile": {"default_content_setting_values": {"cookies": 2}}}  # what "block all cookies" writes
CHOOSE = "document.querySelector('[data-decision] input[value=accept]').click()"
KEPT = "document.getElementById('kept').textContent"


def test_a_browser_that_may_keep_nothing_shows_every_page_and_says_so(chromium, tmp_path):
    writer.write(as_json.load(hostile_json(lambda text: text)), tmp_path / "report", ["html"])
    (tmp_path / "profile" / "Default").mkdir(parents=True)
    (tmp_path / "profile" / "Default" / "Preferences").write_text(json.dumps(REFUSING))
    options = {"executable_path": chromium_path(), "args": ["--no-sandbox"]}
    context = chromium.driven.browser_type.launch_persistent_context(tmp_path / "profile", **options)
    context.add_init_script(WATCH)
    for page in sorted((tmp_path / "report").rglob("*.html")):
        shown = context.new_page()
        shown.goto(page.as_uri())
        shown.evaluate("document.querySelector('[data-switch-theme]').click()")
        assert shown.evaluate("seen") == [] and "dark" in shown.evaluate("document.documentElement.dataset.theme")
        if page.name == "decisions.html":
            assert shown.evaluate("(() => { try { return localStorage; } catch { return 'refused'; } })()") == "refused"
            assert "This browser keeps nothing" in shown.evaluate(KEPT)
            shown.evaluate(CHOOSE)
            assert "1 of" in shown.evaluate(KEPT)
        shown.close()
    context.close()


def test_a_full_store_is_told_and_the_page_works(chromium, tmp_path):
    from playwright.sync_api import expect  # where only the converter is installed, this module is still imported

    writer.write(as_json.load(hostile_json(lambda text: text)), tmp_path, ["html"])
    shown = chromium.opened(tmp_path / "decisions.html")
    shown.evaluate("""() => {
      let piece = "x".repeat(1 << 20), n = 0;
      while (piece) { try { localStorage.setItem("full" + n++, piece); } catch { piece = piece.slice(0, piece.length >> 1); } }
    }""")
    shown.evaluate(CHOOSE)
    assert "This browser keeps nothing" in shown.evaluate(KEPT) and "1 of" in shown.evaluate(KEPT)
    shown.evaluate("document.querySelector('[data-export=toml]').click()")
    # Not wait_for_function: its later looks evaluate a text, which the policy of the page refuses.
    expect(shown.locator("#exported textarea")).to_have_value(re.compile("accept"))
    shown.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('full')).forEach((key) => localStorage.removeItem(key))"
    )
    shown.evaluate("document.querySelector('[data-decision] input[name=done]').click()")
    assert "This browser keeps nothing" not in shown.evaluate(KEPT), "now there is room"
    shown.context.close()
