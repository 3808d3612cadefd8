"""Recorded runs of PyTorch scripts as findings of a report: made, renewed, decided about and kept. PyTorch is not needed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import tf2npu
from npu_formats.pytorch.call_limits import limits_of_call
from tests.decisions.made import decided_of
from tf2npu.report.formats import as_json
from tf2npu.runs.stale_files import digest

SCRIPT = """import torch
import helper
x = torch.rand(4, 4).cuda()
for step in range(9):
    y = helper.grow(x)
    torch.lgamma(y)
    print(torch.frac(y.double()).sum().item())
torch.ones(2, device="npu:8")
"""
HELPER = "def grow(x):\n    return x.lgamma()\n"
"""A file of the project that a conversion has nothing to say of."""
VALIDATOR = jsonschema.Draft202012Validator(json.loads(as_json.SCHEMA_FILE.read_text(encoding="utf-8")))


def limit(place: str, operator: str, count: int, dtype: str = "float32", chip: str = "910B2") -> dict[str, Any]:
    """A row of evidence, with the words of the vendor's lists."""
    (found,) = limits_of_call(operator, [dtype], [(4, 4)], chip)
    return {
        "place": place, "operator": operator, "kind": found.kind, "message": found.message, "is_certain": found.certain,
        "count": count,
    }  # fmt: skip


LGAMMA, FRAC = limit("train.py:6", "aten::lgamma", 9), limit("train.py:7", "aten::frac", 9, "float64")
IN_HELPER = limit("helper.py:2", "aten::lgamma", 9)
ITEM = {"place": "train.py:7", "direction": "number to Python", "count": 9, "bytes": 72}


def recorded(*limits: dict, copies: tuple = (), error: tuple[str, str] | None = None, script: str = "train.py") -> dict[str, Any]:
    """A run as run.json holds it."""
    failure = (
        {"type": error[0], "message": error[1], "place": f"{script}:8", "node": "", "op": "", "node_place": ""} if error else {}
    )
    run = {
        "script": script, "exit_code": int(bool(error)), "device": "Ascend910B2", "steps": 0, "device_share": 0.5,
        "recompilations": 0, "host_nodes": [], "sessions": [], "options_without_effect": [], "sessions_left_open": [],
        "eager_operators": {"count": 90, "kinds": 9, "release": "2.13.0"},
        "files": {name: digest(str(Path.cwd()), name) for name in ("train.py", "helper.py")},
        **({"failure": {**failure, "finding": None}} if failure else {}),
    }  # fmt: skip
    evidence = {
        "device_lines": [], "host_lines": [], "input_lines": [], "session_lines": [], "reached_files": [],
        "failed_at": [f"{script}:8"] if failure else [], "limit_lines": [*limits], "copy_lines": [*copies],
    }  # fmt: skip
    return {"schema_version": "1.0", "tool": {"name": "tf2npu", "version": tf2npu.__version__}, "run": run, "evidence": evidence}


@pytest.fixture
def project(tmp_path, monkeypatch, tool):
    """A folder with a script, a file that it imports, and the report of a scan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text(HELPER)
    tool("scan", ".", "--report", "report", "--format", "json")
    return tmp_path


@pytest.fixture
def put(tool):
    """Put a run into the report, as `tf2npu report --run` does."""

    def with_run(run: dict[str, Any], *words: str) -> list[dict[str, Any]]:
        Path("run.json").write_text(json.dumps(run))
        done = tool("report", "report/report.json", "--run", "run.json", "--format", "json", "--report", "report", *words)
        assert done.code == 0, done.err
        return findings()

    return with_run


def findings() -> list[dict[str, Any]]:
    """The findings of runs in the report."""
    document = json.loads(Path("report/report.json").read_text())
    VALIDATOR.validate(document)
    return [
        {**one, "path": file["path"]} for file in document["files"] for one in file["findings"] if one["rule"].startswith("NPT9")
    ]


def shown(found: list[dict[str, Any]]) -> list[tuple]:
    return [(one["rule"], one["level"], one["path"], one["line"]) for one in found]


def test_each_limit_is_a_finding_at_its_line_with_its_count(project, put):
    found = put(recorded(LGAMMA, FRAC, IN_HELPER, copies=(ITEM,)))
    assert shown(found) == [
        ("NPT902", "manual", "helper.py", 2), ("NPT902", "manual", "train.py", 6), ("NPT903", "manual", "train.py", 7),
        ("NPT906", "info", "train.py", 7),
    ]  # fmt: skip
    assert LGAMMA["message"] in found[1]["message"] and "9 times" in found[1]["message"]
    assert found[1]["before"] == "torch.lgamma(y)" and found[1]["column"] == 5
    run = json.loads(Path("report/report.json").read_text())["run"]
    assert [one["finding"]["rule"] for one in run["limit_lines"]] == ["NPT902", "NPT903", "NPT902"]


@pytest.mark.parametrize(
    ("kind", "certain", "rule", "level"),
    [
        ("refused", True, "NPT901", "unsupported"),
        ("refused", False, "NPT901", "info"),
        ("falls_back", False, "NPT902", "info"),
        ("type_refused", True, "NPT903", "manual"),
        ("shape_limit", True, "NPT904", "manual"),
        ("limited", True, "NPT905", "info"),
        ("unverified", False, "NPT905", "info"),
    ],
)
def test_the_kind_tells_the_rule_and_what_is_not_certain_is_no_work(kind, certain, rule, level, project, put):
    (found,) = put(recorded({**LGAMMA, "kind": kind, "is_certain": certain}))
    assert (found["rule"], found["level"]) == (rule, level)


@pytest.mark.parametrize(
    ("error", "rule"),
    [
        (("RuntimeError", "Invalid NPU device ID 8: this simulated host has 8 devices"), "NPT907"),
        (("OutOfMemoryError", "NPU out of memory. Tried to allocate 4.00 TiB"), "NPT908"),
        (("FileNotFoundError", "No such file or directory: 'data.csv'"), ""),
    ],
)
def test_what_the_device_ended_is_told_and_what_the_script_ended_is_not(error, rule, project, put):
    found = put(recorded(error=error))
    assert shown(found) == ([(rule, "unsupported", "train.py", 8)] if rule else [])
    assert not rule or error[1] in found[0]["message"]
    failure = json.loads(Path("report/report.json").read_text())["run"]["failure"]
    told = (failure["finding"] or {}).get("rule", "")
    assert told == rule if rule else not told.startswith("NPT9")


def test_a_single_copy_and_what_no_line_made_are_none(project, put):
    once, nowhere = {**ITEM, "count": 1}, {**LGAMMA, "place": ""}
    assert put(recorded(nowhere, copies=(once, {**ITEM, "direction": "host to device"}))) == []


def test_a_later_run_of_the_script_replaces_them_and_one_of_another_script_adds(project, put):
    put(recorded(LGAMMA, FRAC))
    found = put(recorded({**LGAMMA, "count": 2}))
    assert shown(found) == [("NPT902", "manual", "train.py", 6)] and "2 times" in found[0]["message"]
    found = put(recorded(LGAMMA, FRAC, script="eval.py"))
    assert [one["rule"] for one in found] == ["NPT902", "NPT903"] and "11 times" in found[0]["message"]
    assert [one["rule"] for one in put(recorded(script="eval.py"))] == ["NPT902"]


def test_a_conversion_keeps_them_until_their_file_changes(project, put, tool):
    before = put(recorded(LGAMMA, IN_HELPER))
    assert tool("scan", ".", "--report", "report", "--format", "json").code == 1, "they are work"
    assert shown(findings()) == shown(before) and findings()[1] == before[1]
    assert findings()[0]["before"] == "return x.lgamma()", "the text of a file that has no other finding"
    (project / "train.py").write_text("# new\n" + SCRIPT)
    tool("scan", ".", "--report", "report", "--format", "json")
    assert shown(findings()) == [("NPT902", "manual", "helper.py", 2)], "of the line that it was, nobody knows"


def test_lines_of_a_converted_script_are_those_of_the_original_and_of_the_original_its_own(project, tool, monkeypatch):
    """The conversion puts a line in at the top."""
    assert tool("convert", "train.py", "out", "--report", "report", "--format", "json").code == 1
    converted = (project / "out" / "train.py").read_text().splitlines()
    moved = converted.index("    torch.lgamma(y)") + 1
    assert moved > 6
    for folder, line in ((project / "out", moved), (project, 6)):
        monkeypatch.chdir(folder)
        run = recorded({**LGAMMA, "place": f"train.py:{line}"})
        run["run"]["files"].pop("helper.py", None)
        monkeypatch.chdir(project)
        Path("run.json").write_text(json.dumps(run))
        assert tool("report", "report/report.json", "--run", "run.json", "--format", "json", "--report", "report").code == 0
        assert shown(findings()) == [("NPT902", "manual", "train.py", 6)], folder


def test_a_decision_survives_a_second_run_with_another_count(project, put, tool):
    put(recorded(LGAMMA, FRAC))
    Path("d.toml").write_text(decided_of(project / "report", {"NPT902": "accept"}, who="Ann", note="once an epoch"))
    tool("scan", ".", "--report", "report", "--format", "json", "--decisions", "d.toml")
    for found in (findings(), put(recorded({**LGAMMA, "count": 30}, FRAC))):
        (decided, left) = found
        assert (decided["level"], decided["answer"]["who"], decided["answer"]["level"]) == ("info", "Ann", "manual")
        assert left["level"] == "manual" and "answer" not in left
    assert "30 times" in decided["message"]
    tool("scan", ".", "--report", "report", "--format", "json", "--decisions", "d.toml")
    assert findings() == found, "the file of decisions fits still"
    assert not [one for one in json.loads(Path("report/report.json").read_text())["files"] if "NPU011" in json.dumps(one)]


def test_a_baseline_knows_them(project, put, tool):
    put(recorded(LGAMMA))
    words = ("scan", ".", "--report", "report", "--format", "json", "--baseline", "known.json")
    tool(*words, "--write-baseline")
    assert tool(*words).code == 0
    assert [one.get("known") for one in put(recorded({**LGAMMA, "count": 3}))] == [True]


def test_settings_say_which_are_wanted_and_how_bad_they_are(project, put, tool):
    settings = '[tool.tf2npu]\nignore = ["NPT906"]\n[tool.tf2npu.severity]\nNPT902 = "info"\nNPT9 = "unsupported"\n'
    (project / "pyproject.toml").write_text(settings)
    found = put(recorded(LGAMMA, FRAC, copies=(ITEM,)))
    assert shown(found) == [("NPT902", "info", "train.py", 6), ("NPT903", "unsupported", "train.py", 7)]
    tool("scan", ".", "--report", "report", "--format", "json", "--select", "NPT903")
    assert [one["rule"] for one in findings()] == ["NPT903"]
    (project / "pyproject.toml").write_text("[tool.tf2npu]\nignore = 3\n")
    Path("run.json").write_text(json.dumps(recorded(LGAMMA)))
    done = tool("report", "report/report.json", "--run", "run.json", "--format", "json", "--report", "report")
    assert "without the project's settings" in done.err and "ignore" in done.err and shown(findings())


def test_a_comment_switches_them_off_and_counts_as_used(project, put, tool):
    (project / "train.py").write_text(SCRIPT.replace("torch.lgamma(y)", "torch.lgamma(y)  # tf2npu: ignore[NPT902]"))
    tool("scan", ".", "--report", "report", "--format", "json")
    assert "NPU904" not in Path("report/report.json").read_text()
    assert shown(put(recorded(LGAMMA))) == [("NPT902", "skipped", "train.py", 6)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_format_has_them_in_the_readers_language(language, project, put, tool):
    put(recorded(LGAMMA, FRAC, copies=(ITEM,), error=("RuntimeError", "Invalid NPU device ID 8")))
    formats = "html,sarif,csv,md,text,gitlab,junit"
    assert tool("report", "report/report.json", "--format", formats, "--report", language, "--lang", language).code == 0
    results = json.loads(Path(language, "report.sarif").read_text())["runs"][0]["results"]
    places = {one["ruleId"]: one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in results}
    assert {"NPT902": 6, "NPT903": 7, "NPT906": 7, "NPT907": 8}.items() <= places.items()
    rows = [*csv.DictReader(io.StringIO(Path(language, "findings.csv").read_text(encoding="utf-8-sig"), newline=""))]
    of_runs = {row["rule"]: row for row in rows if row["rule"].startswith("NPT9")}
    assert len(of_runs) == 4 and all(row["run"] == "train.py" for row in of_runs.values())
    words = {"en": ("9 times", "the CPU computes it"), "zh": ("9 次", "由 CPU 计算")}[language]
    assert all(word in of_runs["NPT902"]["message"] for word in words)
    pages = "".join(page.read_text() for page in Path(language).rglob("*.html"))
    assert language == "en" or not {"the vendor's list", "take it out of", "number to Python"} & {
        text for text in ("the vendor's list", "take it out of", "number to Python") if text in pages
    }
