"""CSV and XLSX cell by cell: every column of every sheet says what JSON, SARIF and the text say, and none is ever computed."""

from __future__ import annotations

import csv
import io
import json
import unittest
from collections import defaultdict
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest

from npu_formats.escape import visible_lines
from tests.report.hostile import hostile_json
from tests.report.test_marks import SOURCE, report_of
from tf2npu import convert_source
from tf2npu.findings import Answer, Level
from tf2npu.report.formats import as_csv, as_json, as_sarif, as_text, as_xlsx
from tf2npu.report.formats.tables import tables
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report

STARTS = {
    "equals": "=cmd|' /C calc'!A0", "plus": "+1+1", "minus": "-2+3", "at": "@SUM(1)", "tab": "\t=1", "return": "\r=1",
    "line": "\n=1", "both": "\r\n=1",
    "wide": "\uff1d1", "apostrophe": "'=1", "quote": '"=1', "blank": " =1", "semicolon": ";=1",
}  # fmt: skip
COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters of a field that a spreadsheet takes for a formula (OWASP, "CSV Injection")."""
SHEETS = ["summary", "decisions", "findings", "APIs", "API analysis", "files", "runs"]


@pytest.fixture
def openpyxl() -> Any:
    if find_spec("openpyxl") is None:
        raise unittest.SkipTest("needs openpyxl, of the extra xlsx")
    import openpyxl

    return openpyxl


def everything() -> Report:
    """A report with runs, marks, an answer, a known finding and work in several files."""
    report = report_of()
    code = SOURCE.replace("g, [x]", "h, [x]")
    report.files += build([convert_source(code, f"other/{name}.py") for name in "ab"]).files
    first = report.files[1].findings
    first[0] = replace(first[0], level=Level.INFO, answer=Answer("0" * 16, "accept", Level.MANUAL, "=Ann", "=note"))
    report.files[2].known = {0}
    return replace(report, earlier_runs=[{**report.runs[0], "script": "later.py", "changed_files": ["train.py"]}])


def book_of(openpyxl: Any, report: Report) -> Any:
    return openpyxl.load_workbook(io.BytesIO(b"".join(as_xlsx.pieces(report))))


def rows_of(sheet: Any) -> list[dict[str, Any]]:
    head, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


def csv_rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv.render(report).removeprefix("\ufeff"), newline="")))


def expected_findings(report: Report) -> list[dict[str, Any]]:
    """Contents of each row of findings, by JSON and, where JSON does not have it, by SARIF."""
    document, log = json.loads(as_json.render(report)), json.loads(as_sarif.render(report))["runs"][0]
    titles = [rule.get("shortDescription", {}).get("text", "") for rule in log["tool"]["driver"]["rules"]]
    pairs = [(file, finding) for file in document["files"] for finding in file["findings"]]
    keys = ("line", "column", "end_line", "end_column", "level", "rule", "api", "message", "before", "after")
    rows = []
    for (file, finding), result in zip(pairs, log["results"], strict=True):
        of_sarif = result["properties"]
        row = {"path": file["path"], "cell": finding.get("cell"), **{key: finding[key] for key in keys}}
        row |= {"part": finding.get("part", ""), "known": "yes" if finding.get("known") else ""}
        row |= {"title": titles[result["ruleIndex"]], "why": of_sarif["tf2npu/why"]}
        row |= {key: of_sarif.get(f"tf2npu/{key}", "") for key in ("mark", "evidence", "run")}
        rows.append({**row, "fingerprint": result["partialFingerprints"]["tf2npu/v1"]})
    return rows


def test_each_cell_of_the_findings(openpyxl):
    report = everything()
    expected, sheet = expected_findings(report), rows_of(book_of(openpyxl, report)["findings"])
    assert len(expected) == 9 and {row["mark"] for row in expected} >= {"confirmed", "contradicted", "not reached", ""}
    told = [{key: shown(value) for key, value in row.items()} for row in expected]
    assert [{key: value or "" for key, value in row.items()} for row in sheet] == told
    in_text = [{key: str(value) for key, value in row.items()} for row in told]
    assert [{key: value.removeprefix("'") for key, value in row.items()} for row in csv_rows(report)] == in_text


def shown(value: Any) -> Any:
    return visible_lines(value.replace("\r\n", "\n")) if isinstance(value, str) else value or ""


def test_each_cell_of_the_other_sheets(openpyxl):
    report = everything()
    book, document = book_of(openpyxl, report), json.loads(as_json.render(report))
    assert book.sheetnames == SHEETS
    files = [
        {"path": file["path"], "status": file["status"], "findings": len(file["findings"]),
         **{level.value: sum(f["level"] == level.value for f in file["findings"]) for level in Level},
         "known": sum(bool(f.get("known")) for f in file["findings"])}
        for file in document["files"]
    ]  # fmt: skip
    assert rows_of(book["files"]) == files
    apis = [{**api, "places": "\n".join(api["places"])} for api in document["apis"]]
    assert [{key: value or "" for key, value in row.items()} for row in rows_of(book["APIs"])] == apis
    places = [(*where.rsplit(":", 1), api) for api in document["apis"] for where in api["places"]]
    analysis = [
        {"No.": number, "Script file": path, "Line": int(line), "Module": api["name"].rpartition(".")[0],
         "API name": api["name"].rpartition(".")[2], "Support": api["verdict"],
         "Advice": " ".join(filter(None, (api["rule"], api["note"])))}
        for number, (path, line, api) in enumerate(places, 1)
    ]  # fmt: skip
    assert [{key: value or "" for key, value in row.items()} for row in rows_of(book["API analysis"])] == analysis
    assert {name for row in rows_of(book["decisions"]) for name, value in row.items() if value is None} <= {"after", "why"}


def test_each_cell_of_the_runs(openpyxl):
    report = everything()
    document, text = json.loads(as_json.render(report)), as_text.render(report)
    rows, runs = rows_of(book_of(openpyxl, report)["runs"]), [document["run"], *document["earlier_runs"]]
    same = ("script", "exit_code", "device", "steps", "device_share", "uncounted_nodes", "recompilations")
    for row, run in zip(rows, runs, strict=True):
        words = row.pop("in words")
        assert row == {
            **{key: run[key] for key in same}, "sessions": len(run["sessions"]),
            "host nodes": sum(node["count"] for node in run["host_nodes"]), "failure": None,
            "changed_files": "\n".join(run.get("changed_files", ())) or None,
        }  # fmt: skip
        assert words and all(f"{line}\n" in text for line in words.split("\n"))


def test_each_cell_of_the_summary(openpyxl):
    report = everything()
    summary, rows = json.loads(as_json.render(report))["summary"], rows_of(book_of(openpyxl, report)["summary"])
    found = {row["name"]: row["value"] for row in rows}
    assert len(found) == len(rows)
    expected = {"headline": summary["headline"], "command": summary["command"], "mode": summary["distributed"]["mode"]}
    expected |= {f"files {name}": number for name, number in summary["files"].items()}
    expected |= {f"findings {name}": number for name, number in summary["findings"].items()}
    expected |= {f"places {name}": number for name, number in summary["places"].items()}
    expected |= {f"references {name}": number for name, number in summary["api"].items()}
    expected |= {"baseline known": 1, "baseline stale": 0, "left out": None, "tool version": report.tool_version}
    assert found == expected


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", STARTS)
def test_no_text_of_any_column_is_computed(openpyxl, name, language):
    """Every text that is free begins as a formula does, in each column that can hold such a text."""
    start = STARTS[name]
    report = replace(as_json.load(hostile_json(lambda text: start + text)), language=language)
    for row in csv_rows(report):
        for column, value in row.items():
            assert not value.startswith(COMPUTED), (column, value)
    met: dict[str, set[str]] = defaultdict(set)
    names = {"summary": ("name", "value"), **{table.name: table.columns for table in tables(report)}}
    for sheet in book_of(openpyxl, report):
        rows = list(sheet.iter_rows())
        assert sheet.title == "API analysis" or [cell.value for cell in rows[0]] == list(names[sheet.title])
        for cell in (cell for row in rows for cell in row):
            assert cell.data_type != "f", (sheet.title, cell.coordinate)
            if isinstance(cell.value, str):
                assert cell.quotePrefix and cell.data_type in ("s", "inlineStr"), (sheet.title, cell.coordinate)
        for row in rows[1:]:
            for title, cell in zip(names[sheet.title], row, strict=True):
                if isinstance(cell.value, str) and start.strip() in cell.value:
                    met[sheet.title].add(title)
    assert {"path", "rule", "part", "api", "message", "before", "after"} <= met["findings"]
    assert {"script", "device", "changed_files", "in words"} <= met["runs"]
    assert (
        {"name", "rule", "note", "places"} <= met["APIs"] and "path" in met["files"] and {"message", "rule"} <= met["decisions"]
    )
