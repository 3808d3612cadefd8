"""CSV and XLSX, read back by programs that are not ours and compared, field by field, with report.json."""

import csv
import io
import json
import unittest
import zipfile
from dataclasses import replace
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, given, settings

from npu_formats.escape import visible_lines
from tests.how_many import drawn
from tests.report import samples
from tests.report.test_html import Page, shows
from tests.report.test_json import RUN
from tf2npu import convert_source
from tf2npu.findings import Finding, Level, Span, Status
from tf2npu.report.formats import as_csv, as_json, as_xlsx
from tf2npu.report.formats.tables import tables
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build
from tf2npu.report.model.report import FileReport, Report

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "'=1", '=HYPERLINK("https://example.org")', "#N/A", "1", "TRUE")
KEYS = ("path", "cell", "line", "column", "end_line", "end_column", "level", "rule", "api", "message", "before", "after")


@pytest.fixture
def openpyxl():
    if find_spec("openpyxl") is None:
        raise unittest.SkipTest("needs openpyxl, of the extra xlsx")
    import openpyxl

    return openpyxl


def full_report() -> Report:
    code = "import tensorflow as tf\nd = tf.data.Dataset.range(10).batch(3)\ns = tf.Session()\n"
    made = [convert_source(code, name) for name in ("a/train.py", "b/train.py", *samples.NAMES_BELOW_SRC)]
    return replace(build([*made, samples.result()]), run=RUN, earlier_runs=[{**RUN, "script": "=evil.py"}])


def of_json(report: Report) -> list[dict]:
    """Findings as report.json has them, each with the path of its file."""
    document = json.loads(as_json.render(report))
    return [{"cell": None, **finding, "path": file["path"]} for file in document["files"] for finding in file["findings"]]


def shown(value):
    return visible_lines(value.replace("\r\n", "\n")) if isinstance(value, str) else value


def read_csv(report: Report) -> list[dict[str, str]]:
    text = as_csv.render(report).encode("utf-8").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def sheets(openpyxl, report: Report):
    return openpyxl.load_workbook(io.BytesIO(b"".join(as_xlsx.pieces(report))))


def rows_of(sheet) -> list[dict]:
    head, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


def hostile(text: str) -> Report:
    return Report(
        [FileReport(f"{text.strip()}x", Status.CONVERTED, [Finding("NPU1", Level.MANUAL, Span(1, 1, 1, 2), text, text)])]
    )


def test_csv_has_every_finding_of_the_json():
    report = full_report()
    read, expected = read_csv(report), of_json(report)
    assert len(read) == len(expected) > 10
    for row, finding in zip(read, expected, strict=True):
        for key in KEYS:
            value = "" if finding[key] is None else str(shown(finding[key]))
            assert row[key].removeprefix("'") == value.removeprefix("'"), key


@pytest.mark.parametrize("text", FORMULAS)
def test_no_field_of_csv_begins_as_a_formula_does(text):
    (row,) = read_csv(hostile(text))
    assert not row["message"].startswith(("=", "+", "-", "@", "\t", "＝"))
    if row["message"].startswith("'"):
        assert row["message"][1:] == text  # one apostrophe less is the text again
    else:
        assert row["message"] == text


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(samples.reports)
def test_any_report_is_csv_with_a_line_for_each_finding(report):
    assert len(read_csv(report)) == len(of_json(report))


def test_the_workbook_has_every_finding_of_the_json(openpyxl):
    report = full_report()
    read, expected = rows_of(sheets(openpyxl, report)["findings"]), of_json(report)
    assert len(read) == len(expected) > 10
    for row, finding in zip(read, expected, strict=True):
        for key in KEYS:
            assert (row[key] or "") == (shown(finding[key]) or ""), key


def test_the_other_sheets_have_what_the_json_has(openpyxl):
    report = full_report()
    book, document = sheets(openpyxl, report), json.loads(as_json.render(report))
    assert book.sheetnames == ["summary", "decisions", "findings", "APIs", "API analysis", "files", "runs"]
    for row, api in zip(rows_of(book["APIs"]), document["apis"], strict=True):
        expected = {**api, "places": "\n".join(api["places"])}
        assert {key: value or "" for key, value in row.items()} == {key: shown(value) or "" for key, value in expected.items()}
    for row, file in zip(rows_of(book["files"]), document["files"], strict=True):
        assert (row["path"], row["status"], row["findings"]) == (shown(file["path"]), file["status"], len(file["findings"]))
        assert row["manual"] == sum(1 for finding in file["findings"] if finding["level"] == "manual")
    for row, run in zip(rows_of(book["runs"]), [document["run"], *document["earlier_runs"]], strict=True):
        same = ("script", "exit_code", "device", "steps", "device_share", "uncounted_nodes", "recompilations")
        assert {key: row[key] for key in same} == {key: run[key] for key in same}
        assert row["failure"] == "ValueError: no <row>" and row["host nodes"] == 2
    values = {row["name"]: row["value"] for row in rows_of(book["summary"])}
    assert values["headline"] == document["summary"]["headline"]
    assert values["references seen"] == document["summary"]["api"]["seen"]
    for level, number in document["summary"]["findings"].items():
        assert values[f"findings {level}"] == number
        assert values[f"places {level}"] == document["summary"]["places"][level]


def test_a_decision_stands_for_its_findings(openpyxl):
    report = full_report()
    report.files += [replace(file, path=f"copy/{number}.py") for number, file in enumerate(report.files)]
    rows, work = (
        rows_of(sheets(openpyxl, report)["decisions"]),
        [f for f in of_json(report) if f["level"] in ("manual", "unsupported")],
    )
    assert sum(row["findings"] for row in rows) == len(work)
    assert len({(row["rule"], row["message"]) for row in rows}) == len(rows) < len(work)


def test_the_sheet_of_the_vendor_has_its_columns_with_whole_paths(openpyxl):
    head, *rows = sheets(openpyxl, full_report())["API analysis"].iter_rows(values_only=True)
    assert head == ("No.", "Script file", "Line", "Module", "API name", "Support", "Advice")
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert ("a/train.py", 3, "tensorflow", "Session", "converted") in {row[1:6] for row in rows}
    chinese = sheets(openpyxl, replace(full_report(), language="zh"))["API analysis"]
    assert [cell.value for cell in chinese[1]] == ["序号", "脚本文件名", "代码行", "模块名", "API名", "工具迁移API支持度", "说明"]


@pytest.mark.parametrize("text", FORMULAS)
def test_every_text_of_the_workbook_is_a_text(openpyxl, text):
    for sheet in sheets(openpyxl, hostile(text)):
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                if isinstance(cell.value, str):
                    assert cell.data_type in ("s", "inlineStr") and cell.quotePrefix
    (row,) = rows_of(sheets(openpyxl, hostile(text))["findings"])
    assert row["message"] == text


def test_filters_heads_and_links(openpyxl):
    report = full_report()
    book, pages = sheets(openpyxl, report), dict(as_html.Pages(report).texts())
    for sheet in book:
        assert sheet.freeze_panes == "A2"
        assert sheet.auto_filter.ref == f"A1:{sheet.cell(1, sheet.max_column).column_letter}{sheet.max_row}"
    for name in ("decisions", "findings", "API analysis", "files"):
        links = [cell.hyperlink for row in book[name].iter_rows() for cell in row if cell.hyperlink]
        assert links and (name == "files" or all(link.location for link in links)), name
        for link in links:
            assert link.target in pages
            text = pages[link.target]
            assert not link.location or shows(Page(text), text, link.location), (name, link.location)


def test_every_text_that_is_longer_than_its_column_takes_several_lines(openpyxl):
    report = full_report()
    failure = {**RUN["failure"], "message": "no row " * 20}
    book = sheets(openpyxl, replace(report, run={**RUN, "failure": failure, "changed_files": ["a.py", "b.py"]}))
    wrapped = set()
    for sheet in book:
        heads = [cell.value for cell in sheet[1]]
        for cell in (cell for row in sheet.iter_rows(min_row=2) for cell in row if isinstance(cell.value, str)):
            width = sheet.column_dimensions[cell.column_letter].width
            if len(cell.value) > width or "\n" in cell.value:
                assert cell.alignment.wrap_text and cell.alignment.vertical == "top", (sheet.title, cell.coordinate)
                wrapped.add((sheet.title, heads[cell.column - 1]))
    assert {("runs", "failure"), ("runs", "changed_files"), ("runs", "in words")} <= wrapped
    assert ("API analysis", "Advice") in wrapped and ("decisions", "why") in wrapped


def test_the_bytes_are_the_same_whenever_they_are_made():
    if not as_xlsx.is_possible():
        raise unittest.SkipTest("needs openpyxl, of the extra xlsx")
    one, two = (b"".join(as_xlsx.pieces(full_report())) for _ in range(2))
    assert one == two
    archive = zipfile.ZipFile(io.BytesIO(one))
    assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert b"dcterms" not in archive.read("docProps/core.xml").replace(b"xmlns:dcterms", b"")


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=drawn(25))
@given(samples.reports)
def test_any_report_is_a_workbook(openpyxl, report):
    book = sheets(openpyxl, report)
    for table in tables(report):
        assert len(rows_of(book[table.name])) == sum(1 for _ in table.rows())


def test_what_a_cell_or_a_sheet_cannot_hold_is_cut_and_told(openpyxl, monkeypatch):
    long = "x" * 40_000
    (row,) = rows_of(sheets(openpyxl, hostile(long))["findings"])
    assert len(row["message"]) <= 32_767 and row["message"].endswith("(7300 characters more in report.json)")
    monkeypatch.setattr(as_xlsx, "MOST_ROWS", 30)
    book, n_findings = sheets(openpyxl, full_report()), len(of_json(full_report()))
    assert len(rows_of(book["findings"])) == 30
    told = [row["value"] for row in rows_of(book["summary"]) if row["name"] == "not in this workbook"]
    assert f"findings: {n_findings - 30} rows; report.json has them" in told


def test_a_run_that_excel_reads_as_an_escape_stays(openpyxl):
    from openpyxl.utils.escape import unescape

    (row,) = rows_of(sheets(openpyxl, hostile("a_x0041_b"))["findings"])
    assert row["message"] == "a_x005F_x0041_b" and unescape(row["message"]) == "a_x0041_b"
