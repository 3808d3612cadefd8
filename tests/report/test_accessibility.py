"""axe-core over every kind of page, in light and in dark, on a screen and on a telephone; keys, motion and zoom."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.how_many import some
from tests.report import samples
from tests.report.browser import playwright_chromium
from tests.report.test_json import RUN
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report import writer
from tf2npu.report.model.report import FileReport, Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = Path(__file__).parent.parent / "fixtures" / "axe" / "axe.min.js"
SIZES = {"screen": {"width": 1280, "height": 800}, "telephone": {"width": 390, "height": 800}}
SIGHTS = [(theme, size) for size in SIZES for theme in ("light", "dark")]
FOCUS = """
(() => {
  const at = document.activeElement, style = getComputedStyle(at);
  const all = [...document.querySelectorAll("a[href], button, input, select, summary, textarea, [tabindex='0']")];
  return [all.indexOf(at), style.outlineStyle,
          parseFloat(style.outlineWidth)];
})()
"""
FOCUSABLE = "a[href], button, input, select, summary, textarea, [tabindex='0']"


def large() -> Report:
    """The hostile sample, a run, and a file with findings enough for several pages of its own and of the list."""
    report = samples.sample()
    report.run = RUN
    source = "".join(f"x{n} = tf.Session()  # {'long ' * (n % 7)}\n" for n in range(1_200))
    levels = (Level.MANUAL, Level.UNSUPPORTED, Level.INFO, Level.FIXED)
    found = [
        Finding("NPU101", levels[n % 4], Span(n + 1, 1, n + 1, 3), f"Look at `x{n}` once.", api="tensorflow.Session")
        for n in range(450)
    ]
    report.files.append(FileReport("zz/many.py", Status.CONVERTED, found, source=source))
    return report


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> list[Path]:
    """One page of each kind."""
    target = tmp_path_factory.mktemp("report")
    writer.write(large(), target, ["html", "one-file"])
    parts = sorted((target / "files").glob("zz-many*"))
    assert len(parts) > 2
    first = [path for path in sorted(target.glob("*.html")) if not path.stem[-1].isdigit()]
    return [*first, target / "findings-2.html", parts[0], parts[1], next((target / "files").glob("train.py-*"))]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with playwright_chromium() as browser:
        yield browser


def opened(chromium: Browser, path: Path, **how: Any) -> Page:
    page = chromium.new_context(bypass_csp=True, **how).new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize(("theme", "size"), some(SIGHTS))
def test_axe_finds_nothing_on_any_page(chromium, pages, theme, size):
    told = []
    for path in some(pages):
        page = opened(chromium, path, color_scheme=theme, viewport=SIZES[size])
        page.add_script_tag(path=str(AXE))
        found = page.evaluate("axe.run({resultTypes: ['violations']}).then((result) => result.violations)")
        told += [
            f"{path.name}: {one['id']} ({one['impact']}), {len(one['nodes'])}: {one['nodes'][0]['html'][:200]}" for one in found
        ]
        page.context.close()
    assert not told, "\n".join(told)


@pytest.mark.whole
def test_each_control_is_reached_by_keyboard_with_a_focus_that_is_seen(chromium, pages):
    for path in pages:
        if path.name not in ("index.html", "decisions.html", "findings.html", "runs.html"):
            continue
        page = opened(chromium, path, viewport=SIZES["screen"])
        n_visible = page.evaluate(
            f"""[...document.querySelectorAll("{FOCUSABLE}")].filter((e) => e.checkVisibility() && e.tabIndex >= 0).length"""
        )
        reached = set()
        for _ in range(min(n_visible, 60)):
            page.keyboard.press("Tab")
            shown = page.evaluate(FOCUS)
            assert shown[0] >= 0 and shown[1] != "none" and shown[2] >= 1, (path.name, shown)
            reached.add(shown[0])
        assert len(reached) == min(n_visible, 60), path.name
        page.context.close()


def test_nothing_moves_for_who_wants_no_motion(chromium, pages):
    for path in some(pages):
        page = opened(chromium, path, reduced_motion="reduce", viewport=SIZES["screen"])
        assert page.evaluate("document.getAnimations().length") == 0
        page.context.close()


@pytest.mark.whole
def test_at_twice_the_size_nothing_is_lost(chromium, pages):
    for path in pages:
        page = opened(chromium, path, viewport={"width": 640, "height": 400}, device_scale_factor=2)
        widths = json.loads(
            page.evaluate("JSON.stringify([document.documentElement.scrollWidth, document.documentElement.clientWidth])")
        )
        assert widths[0] <= widths[1], (path.name, widths)
        page.context.close()
