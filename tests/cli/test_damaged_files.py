"""Damaged, truncated, newer and foreign files that a command is given: one line, exit code 2, and nothing is written."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from tests.cli.test_convert import tree
from tests.decisions.made import decided_of
from tests.report.test_json import CHECK, RUN
from tf2npu.report import writer
from tf2npu.report.formats import as_json
from tf2npu.report.model.report import Report
from tf2npu.report.runs import record
from tf2npu.runs import merge

SOURCE = "import tensorflow as tf\ne = tf.estimator.Estimator(**a)\nz = tf.py_func(f, [e], tf.float32)\n"
EVIDENCE = ("device_lines", "host_lines", "input_lines", "session_lines", "reached_files")
N_CUTS = 12


def run_json() -> str:
    """A run as `tf2npu run --report run.json` writes it."""
    run = {key: value for key, value in RUN.items() if key not in EVIDENCE}
    evidence = {**{key: [] for key in EVIDENCE}, "failed_at": []}
    return record.render(
        record.checked_record(
            {"schema_version": "1.0", "tool": {"name": "tf2npu", "version": "0.1.0"}, "run": run, "evidence": evidence}
        )
    )


@pytest.fixture
def good(tool, tmp_path) -> dict[str, Path]:
    """A file of each kind as the tool or a page makes it."""
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "train.py").write_text(SOURCE)
    tool("scan", tmp_path / "s", "--report", tmp_path / "known", "--baseline", tmp_path / "baseline", "--write-baseline")
    tool("scan", tmp_path / "s", "--report", tmp_path / "rep")
    report = as_json.read(tmp_path / "rep" / "report.json")
    report.run, report.check = RUN, CHECK
    merge.write_again(report, tmp_path / "rep")
    (tmp_path / "decisions").write_text(decided_of(tmp_path / "rep", {"NPU201": "accept", "NPU912": "suppress"}))
    (tmp_path / "run").write_text(run_json())
    (tmp_path / "report").write_bytes((tmp_path / "rep" / "report.json").read_bytes())
    return {name: tmp_path / name for name in KINDS}


def commands(kind: str, bad: Path, good: dict[str, Path]) -> list[tuple[object, ...]]:
    """Command lines that take a file of this kind; those that write name a folder that is not there."""
    out, source = bad.parent / "out", bad.parent / "s"
    return {
        "report": [
            ("report", bad), ("report", bad, "--format", "html,json,md,csv,sarif,junit", "--report", out),
            ("report", bad, "--format", "html"),
            ("report", "--compare", bad, good["report"], "--format", "html", "--report", out),
            ("report", "--compare", good["report"], bad), ("report", bad, "--run", good["run"], "--format", "json"),
        ],
        "run": [
            ("report", good["report"], "--run", bad),
            ("report", good["report"], "--run", bad, "--format", "html", "--report", out),
            ("report", good["report"], "--run", good["run"], "--run", bad, "--format", "json"),
        ],
        "decisions": [
            ("convert", source, out, "--decisions", bad), ("scan", source, "--report", out, "--decisions", bad),
            ("convert", source, "--in-place", "--decisions", bad), ("convert", source, "--diff", "--decisions", bad),
        ],
        "baseline": [
            ("convert", source, out, "--baseline", bad), ("scan", source, "--report", out, "--baseline", bad),
            ("convert", source, "--in-place", "--baseline", bad), ("convert", source, "--check", "--baseline", bad),
        ],
    }[kind]  # fmt: skip


KINDS = ("report", "run", "decisions", "baseline")
NEWER = {
    "report": ('"schema_version": "1.1"', '"schema_version": "2.0"'),
    "run": ('"schema_version": "1.0"', '"schema_version": "2.0"'),
    "decisions": ('schema_version = "1.0"', 'schema_version = "2.0"'), "baseline": ('"version": 1', '"version": 2'),
}  # fmt: skip
FOREIGN = {
    "empty": b"", "zeros": bytes(4096), "binary": bytes(range(256)) * 8, "deep": b"[" * 200_000,
    "deep object": b'{"a":' * 100_000,
    "deep TOML": b"a = " + b"[" * 100_000, "null": b"null", "number": b"9" * 5_000, "list": b"[]", "object": b"{}",
    "SARIF": b'{"version": "2.1.0", "runs": []}', "npm": b'{"name": "x", "version": "1.0.0", "dependencies": {}}',
    "pyproject": b'[tool.tf2npu]\nignore = ["NPU101"]\n', "UTF-16": '{"tool": "tf2npu"}'.encode("utf-16"),
    "half a character": b'{"tool": "\\ud800", "version": 1, "findings": [], "schema_version": "1.1"}',
}  # fmt: skip


def damaged(kind: str, good: dict[str, Path]) -> dict[str, bytes]:
    """Files that are none of the kind: cut off anywhere, of a later version, of another kind, or of nobody knows what."""
    data, rnd = good[kind].read_bytes(), random.Random(kind)
    cuts = [1, len(data) // 2, len(data.rstrip()) - 1, *(rnd.randrange(2, len(data.rstrip())) for _ in range(N_CUTS))]
    found = {f"cut at {at}": data[:at] for at in cuts}
    old, new = NEWER[kind]
    assert old.encode() in data
    found["newer"] = data.replace(old.encode(), new.encode(), 1)
    found |= {f"is a {other}": path.read_bytes() for other, path in good.items() if other != kind}
    found["an overwritten middle"] = data[: len(data) // 2] + b"\0\xff" * 8 + data[len(data) // 2 + 16 :]
    return found | FOREIGN


def is_refused(done, name: str) -> bool:
    is_one_line = done.err.count("\n") == 1 and len(done.err) < 600 and done.err.removesuffix("\n").isprintable()
    return (done.code, done.out) == (2, "") and is_one_line and name in done.err and "Traceback" not in done.err


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_its_kind_is_refused_and_nothing_is_written(tool, good, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad"
    for name, data in damaged(kind, good).items():
        bad.write_bytes(data)
        before = tree(tmp_path)
        for words in commands(kind, bad, good):
            done = tool(*words)
            assert is_refused(done, "bad"), (name, words, done)
        assert tree(tmp_path) == before, name


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_at_all_is_refused(tool, good, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad"
    makers = {
        "missing": lambda: None, "a folder": bad.mkdir, "a loop": lambda: bad.symlink_to(bad),
        "a pipe": lambda: os.mkfifo(bad), "a device": lambda: bad.symlink_to("/dev/zero"),
    }  # fmt: skip
    for name, make in makers.items():
        make()
        before = sorted(path.name for path in tmp_path.rglob("*"))
        for words in commands(kind, bad, good):
            assert is_refused(tool(*words), "bad"), (name, words)
        assert sorted(path.name for path in tmp_path.rglob("*")) == before, name
        if bad.is_dir() and not bad.is_symlink():
            bad.rmdir()
        else:
            bad.unlink(missing_ok=True)


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("kind", KINDS)
def test_the_files_themselves_are_taken(tool, good, kind):
    for words in commands(kind, good[kind], good):
        if "--in-place" not in words:
            assert tool(*words).code in (0, 1), words


def test_a_damaged_report_in_the_folder_is_replaced_and_costs_its_runs_only(tool, good, tmp_path):
    """A conversion takes runs over from the report that it replaces; from what is none it takes nothing."""
    reports: dict[str, Report] = {}
    for name, data in {"whole": None, "cut": good["report"].read_bytes()[:900], "deep": FOREIGN["deep"]}.items():
        if data is not None:
            (tmp_path / "rep" / "report.json").write_bytes(data)
        assert tool("scan", tmp_path / "s", "--report", tmp_path / "rep").code == 1
        reports[name] = as_json.read(tmp_path / "rep" / "report.json")
    assert reports["whole"].run is not None and reports["cut"].run is None and reports["deep"].run is None
    assert reports["cut"].files == reports["deep"].files == reports["whole"].files
    assert json.loads((tmp_path / "rep" / "report.json").read_text())["tool"]["name"] == "tf2npu"
    assert (tmp_path / "rep" / writer.MARKER).is_file()
