"""Pages of long files: bounded, without a line or a finding lost, and links that lead to the right part."""

import re

import pytest

from tests.report.test_html import Page, check_links, code_of_page, html_of
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.model.report import FileReport, Report

MOST_BYTES = 1_000_000
MOST_ELEMENTS = 10_000


def report_of(source: str, lines: list[int]) -> Report:
    """A file with a finding at each of these lines."""
    found = [Finding("NPU101", Level.MANUAL, Span(n, 1, n, 2), f"Look at number {i}.") for i, n in enumerate(lines)]
    return Report([FileReport("long.py", Status.UNCHANGED, found, source=source)])


REPORTS = {
    "many lines": report_of("".join(f"x{n} = {n}\n" for n in range(1, 1_501)), [1, 5, 999, 1_000, 1_001, 1_500]),
    "many findings on a line": report_of("x = f(1)\ny = 2\nz = 3\n", [2] * 450 + [3]),
    "a line of three megabytes": report_of("import os\nx = '" + "0123456789" * 300_000 + "'\ny = 1\n", [1, 2, 3]),
}


@pytest.fixture(scope="module", params=REPORTS)
def long(request) -> tuple[Report, dict[str, str]]:
    return REPORTS[request.param], html_of(REPORTS[request.param])


def parts(texts: dict[str, str]) -> list[str]:
    return [text for name, text in texts.items() if name.startswith("files/")]


def test_each_page_is_bounded(long):
    for name, text in long[1].items():
        assert len(text.encode()) < MOST_BYTES, name
        page = Page(text)
        assert len(page.tags) < MOST_ELEMENTS, name
        assert len(page.all("id")) == len(set(page.all("id"))), name


def test_links_lead_to_the_part_that_has_the_finding(long):
    report, texts = long
    check_links(
        texts, set(texts) | set(re.findall(r'(?:href|src)="((?:assets|data)/[^"]+)"', texts["findings.html"])) | assets(texts)
    )
    file, view = report.files[0], View(report)
    ways = [view.page_of_finding(file, number) for number in range(1, 1 + len(file.findings))]
    listed = [
        way
        for name, text in texts.items()
        if name.startswith("findings")
        for way in re.findall(r'<th scope="row"><a class="path" href="([^"]+)"', text)
    ]
    assert listed == ways and len(set(ways)) == len(ways)
    for finding, way in zip(file.findings, ways, strict=True):
        name, _, anchor = way.partition("#")
        note = texts[name][texts[name].index(f'id="{anchor}" role="note"') :]
        assert finding.message in note[: note.index("</div>")]


def assets(texts: dict[str, str]) -> set[str]:
    found = {link for text in texts.values() for link in re.findall(r'"(?:\.\./)?((?:assets|data)/[a-z0-9.-]+)"', text)}
    assert found
    return found


def test_every_line_stands_on_a_page():
    report, texts = REPORTS["many lines"], html_of(REPORTS["many lines"])
    seen: dict[int, str] = {}
    for text in parts(texts):
        lines = code_of_page(text)["before"]
        assert not lines.keys() & seen.keys()
        seen |= lines
    assert [seen[n] for n in sorted(seen)] == report.files[0].source.splitlines()
    assert len(parts(texts)) == 2
    assert re.findall(r">(\d+ to \d+)</a>", texts[page_name("long.py")]) == ["1 to 1000", "1001 to 1500"]


def test_a_line_with_many_findings_is_shown_on_several_pages():
    pages = parts(html_of(REPORTS["many findings on a line"]))
    assert len(pages) == 3
    assert sum(page.count('role="note"') for page in pages) == 451


def test_what_is_cut_of_a_long_line_is_counted():
    pages = parts(html_of(REPORTS["a line of three megabytes"]))
    text = "".join(pages)
    left_out = re.findall(r'<span class="rest">([^<]*)</span>', text)
    assert len(left_out) == 1 and "y = " in text
    (number,) = re.findall(r"\d+", left_out[0])
    shown = max(len(run) for run in re.findall(r"[0-9]{100,}", text))
    assert 1_000 < shown < 10_000 and int(number) + shown == pytest.approx(3_000_000, abs=100)
