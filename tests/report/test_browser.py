"""The report in real Chromium, without a network: what a person would see and click."""

import html
import json
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.report import samples
from tests.report.browser import chromium_path
from tf2npu.findings import FileResult, Finding, Level, Span, Status
from tf2npu.report import writer
from tf2npu.report.formats.render_context import page_name
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Distribution

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps",
    "--enable-logging=stderr", "--v=0", "--proxy-server=127.0.0.1:9", "--virtual-time-budget=3000",
)  # fmt: skip

# Runs inside a copy of a page: drives it as a person would and leaves what it found in the document.
PROBE = """
const answers = {};
const count = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility()).length;
addEventListener("securitypolicyviolation", (event) => { answers.violation = event.violatedDirective + " " + event.blockedURI; });
setTimeout(() => {
  try { %s } catch (error) { answers.error = String(error); }
  document.body.textContent = "ANSWERS" + JSON.stringify(answers) + "ANSWERS";
}, 300);
"""


@pytest.fixture(scope="module")
def chromium() -> str:
    return chromium_path()


@pytest.fixture(scope="module")
def report_folder(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("report")
    writer.write(samples.sample(), target, ["html"])
    return target


def browse(chromium: str, url: str, profile: Path, *flags: str) -> tuple[str, str]:
    """The document after its scripts ran, and what Chromium logged."""
    command = [chromium, *FLAGS, *flags, f"--user-data-dir={profile}", "--dump-dom", url]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def probe(chromium: str, page: Path, code: str, profile: Path, fragment: str = "", flags: tuple[str, ...] = ()) -> dict:
    """Answers of `code`, which fills the object `answers`, run in a copy of the page with one script more beside it."""
    script = PROBE % code
    text = page.read_text(encoding="utf-8")
    copy, beside = page.with_name(f"probe-{page.name}"), page.with_name(f"probe-{page.stem}.js")
    beside.write_text(script, encoding="utf-8")
    assert text.count("</body>") == 1
    copy.write_text(text.replace("</body>", f'<script src="{quote(beside.name)}"></script></body>'), encoding="utf-8")
    document, log = browse(chromium, copy.as_uri() + fragment, profile, *flags)
    found = re.search(r"ANSWERS(\{.*\})ANSWERS", document, re.DOTALL)
    assert found, document[-2000:] + log
    answers = json.loads(html.unescape(found.group(1)))
    assert not answers.keys() & {"error", "violation"}, answers
    assert "CONSOLE" not in log, log
    return answers


@pytest.mark.whole
def test_no_page_runs_foreign_code_or_complains(chromium, report_folder, tmp_path):
    for number, page in enumerate([*sorted(report_folder.glob("*.html")), *sorted((report_folder / "files").glob("*.html"))]):
        document, log = browse(chromium, page.as_uri(), tmp_path / str(number))
        assert 'class="js"' in document  # our own script ran
        assert "<title>owned" not in document and "<title>" in document
        assert "CONSOLE" not in log, log  # neither errors nor refusals of the content security policy


def test_lists_filter_and_sort(chromium, report_folder, tmp_path):
    code = """
    const tools = document.querySelector('[data-for="files"]');
    answers.all = count("#files tbody tr");
    const field = tools.querySelector("input");
    field.value = "plain"; field.dispatchEvent(new Event("input"));
    answers.found = count("#files tbody tr");
    answers.said = tools.querySelector("[role=status]").textContent;
    """
    total = 5 + len(samples.HOSTILE_NAMES)
    answers = probe(chromium, report_folder / "files.html", code, tmp_path / "1")
    assert answers == {"all": total, "found": 1, "said": f"1 of {total} files shown"}
    code = """
    const level = document.querySelector('[data-for="decisions"] select');
    level.value = "unsupported"; level.dispatchEvent(new Event("change"));
    answers.cards = count("#decisions .decision");
    """
    assert probe(chromium, report_folder / "decisions.html", code, tmp_path / "2") == {"cards": 1}
    code = """
    const head = document.querySelector("#apis th");
    const first = () => document.querySelector("#apis tbody th").textContent;
    head.querySelector("button").click();
    answers.up = [first(), head.getAttribute("aria-sort")];
    head.querySelector("button").click();
    answers.down = [first(), head.getAttribute("aria-sort")];
    """
    answers = probe(chromium, report_folder / "apis.html", code, tmp_path / "3")
    assert answers == {"up": ["tensorflow.Session", "ascending"], "down": ["tensorflow.x", "descending"]}


def test_a_page_folds_and_unfolds_and_stands_side_by_side(chromium, report_folder, tmp_path):
    code = """
    const fold = document.querySelector("details.fold").querySelector("pre");
    const seen = () => [document.getElementById("L35").checkVisibility(), fold.checkVisibility()];
    answers.folded = seen();
    document.querySelector("[data-unfold]").click();
    answers.open = seen();
    const cells = document.getElementById("L35").querySelectorAll("td:not(.n)");
    const [left, right] = [...cells].map((cell) => cell.getBoundingClientRect());
    answers.aligned = left.top === right.top && left.right <= right.left + 60;
    answers.inserted = document.querySelector("ins").textContent;
    answers.wide = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
    """
    page = report_folder / page_name("train.py")
    answers = probe(chromium, page, code, tmp_path)
    assert answers["folded"] == [True, False]
    assert answers["open"] == [True, True]
    assert answers["aligned"]
    assert answers["inserted"] == "from"  # the first coloured piece of the inserted import
    assert answers["wide"]  # nothing sticks out of the page sideways


def test_a_link_to_a_folded_line_opens_it(chromium, report_folder, tmp_path):
    code = """
    const folded = [...document.querySelectorAll("details.fold pre")].find((e) => /^15$/m.test(e.textContent));
    answers.seen = folded.checkVisibility();
    """
    page = report_folder / page_name("train.py")
    assert probe(chromium, page, code, tmp_path, "#L15") == {"seen": True}


def test_nothing_is_cut_off_in_a_narrow_window(chromium, tmp_path):
    findings = [
        Finding("NPU404", Level.MANUAL, Span(2, 1, 2, 4), "a sentence of some length that has to be read to its end " * 3)
    ]
    data = b"import os\nx = 1\n" + b"y = 2  # " + b"long " * 40 + b"\n"
    files = [FileResult("train.py", Status.UNCHANGED, findings, [], data, data)]
    found = Distribution("horovod", (f"{'a_long_name_of_a_folder_' * 4}/train.py:7",))
    writer.write(build(files, distributions=[found]), tmp_path, ["html"])
    index = "answers.index = document.documentElement.scrollWidth <= innerWidth;"
    page = "answers.page = [...document.querySelectorAll('.note')].every((e) => e.getBoundingClientRect().right <= innerWidth);"
    narrow = ("--window-size=500,900",)
    assert probe(chromium, tmp_path / "index.html", index, tmp_path / "1", flags=narrow) == {"index": True}
    assert probe(chromium, tmp_path / page_name("train.py"), page, tmp_path / "2", flags=narrow) == {"page": True}


def test_places_that_share_a_row_are_counted(chromium, tmp_path):
    findings = [Finding("NPU404", Level.MANUAL, Span(n, 1, n, 2), "the same") for n in range(1, 8)]
    data = b"x = 1\n" * 8
    writer.write(build([FileResult("m.py", Status.UNCHANGED, findings, [], data, data)]), tmp_path, ["html"])
    for name in ("decisions", "findings"):
        code = f"answers.said = document.querySelector('[data-for={name}] [role=status]').textContent;"
        assert probe(chromium, tmp_path / f"{name}.html", code, tmp_path / name) == {"said": "7 of 7 findings shown"}


def on_paper(page: Path) -> Path:
    """A copy of a page whose rules for print hold on the screen."""
    text, sheets = page.read_text(encoding="utf-8"), ""
    for name in re.findall(r'<link rel="stylesheet" href="([^"]+)">', text):
        css = (page.parent / name).read_text(encoding="utf-8")
        sheets += css.replace("@media print", "@media all")
    lines = text.replace("</head>", f"<style>{sheets}</style></head>").splitlines(keepends=True)
    copy = page.with_name(f"paper-{page.name}")
    copy.write_text("".join(line for line in lines if "Content-Security-Policy" not in line), encoding="utf-8")
    return copy


def test_a_printed_page_has_both_sides_and_their_colours(chromium, report_folder, tmp_path):
    code = """
    const cells = [...document.querySelectorAll("table.diff td, table.diff th")].filter((e) => e.checkVisibility());
    answers.cut = cells.filter((cell) => cell.getBoundingClientRect().right > innerWidth).length;
    answers.some = cells.length > 20;
    answers.marks = getComputedStyle(document.querySelector("ins")).printColorAdjust;
    answers.field = count(".tools input, .tools select, .tools button");
    """
    page = on_paper(report_folder / page_name("train.py"))
    answers = probe(chromium, page, code, tmp_path, flags=("--window-size=718,1000",))  # A4 with Chromium's margins
    assert answers == {"cut": 0, "some": True, "marks": "exact", "field": 0}


def test_printing_shows_closed_groups_and_says_what_is_filtered(chromium, report_folder, tmp_path):
    code = """
    const groups = [...document.querySelectorAll("#decisions details")];
    for (const group of groups) group.open = false;
    dispatchEvent(new Event("beforeprint"));
    answers.open = groups.length > 0 && groups.every((e) => e.open);
    const level = document.querySelector('[data-for="decisions"] select');
    level.value = "unsupported"; level.dispatchEvent(new Event("change"));
    answers.said = count('[data-for="decisions"] [role=status]');
    dispatchEvent(new Event("afterprint"));
    answers.closed = groups.every((e) => !e.open);
    """
    answers = probe(chromium, on_paper(report_folder / "decisions.html"), code, tmp_path)
    assert answers == {"open": True, "said": 1, "closed": True}


def test_what_a_search_finds_is_seen(chromium, report_folder, tmp_path):
    code = """
    const field = document.querySelector('[data-for="decisions"] input');
    const card = document.querySelector("#decisions [data-row]");
    field.value = card.querySelector("a.path").textContent; field.dispatchEvent(new Event("input"));
    answers.seen = card.checkVisibility();
    answers.cards = count("#decisions .decision");
    """
    assert probe(chromium, report_folder / "decisions.html", code, tmp_path) == {"seen": True, "cards": 1}


def test_a_damaged_link_is_no_error(chromium, report_folder, tmp_path):
    code = 'answers.folds = document.querySelectorAll("details.fold").length > 0;'
    page = report_folder / page_name("train.py")
    assert probe(chromium, page, code, tmp_path, "#%E0%A4%A") == {"folds": True}


def test_text_has_contrast_in_light_and_in_dark(report_folder):
    css = (report_folder / "assets" / "report.css").read_text(encoding="utf-8")
    light, dark, chosen = re.findall(r":root[^{]*\{([^}]*--paper[^}]*)\}", css)
    assert chosen.split() == dark.split()
    for scheme in (light, dark):
        colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", scheme))
        for ink in ("ink", "soft", "link", "fixed", "manual", "unsupported", "info", "k", "s", "c", "m", "b", "d", "f"):
            assert contrast(colour[ink], colour["paper"]) >= 4.5, (ink, colour[ink])
        for level in ("fixed", "manual", "unsupported", "skipped", "info"):
            assert contrast(colour[level], colour[f"{level}-bg"]) >= 4.5, level
        for side in ("old", "new", "old-mark", "new-mark"):
            assert contrast(colour["ink"], colour[side]) >= 4.5, side


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.1; 4.5 is what it asks for text."""

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
