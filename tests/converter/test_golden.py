"""Whole folders converted: tests/fixtures/convert/<case>/{src,out,findings.json}, settings in config.json.

`pytest --regen` rewrites what differs and then fails, listing the files: read the difference before it is committed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import FileResult, Finding

pytestmark = pytest.mark.each_python

FIXTURES = Path(__file__).parents[1] / "fixtures" / "convert"
CASES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())


def settings(case: Path) -> Config:
    path = case / "config.json"
    return Config(**json.loads(path.read_text())) if path.exists() else Config()


def convert_folder(folder: dict[str, bytes], config: Config) -> dict[str, FileResult]:
    project = ProjectFacts.merge(gather_facts(path, data) for path, data in folder.items())
    return {path: convert_file(path, data, config, project) for path, data in sorted(folder.items())}


def read_folder(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def described(path: str, finding: Finding) -> dict[str, object]:
    cell = {} if finding.cell is None else {"cell": finding.cell}
    place = f"{finding.span.line}:{finding.span.column}-{finding.span.end_line}:{finding.span.end_column}"
    return {
        "file": path, **cell, "place": place, "rule": finding.rule, "level": finding.level.value,
        "api": finding.api, "message": finding.message, "after": finding.after,
    }  # fmt: skip


def expected_files(case: Path) -> dict[Path, bytes]:
    """Every file a conversion of the case is to give, by where the golden one lies."""
    results = convert_folder(read_folder(case / "src"), settings(case))
    findings = [described(path, f) for path, result in results.items() for f in result.findings]
    report = {"status": {p: r.status.value for p, r in results.items()}, "findings": findings}
    files = {case / "out" / path: result.after for path, result in results.items()}
    files[case / "findings.json"] = (json.dumps(report, indent=1, ensure_ascii=False) + "\n").encode()
    return files


@pytest.mark.parametrize("name", CASES)
def test_case_converts_as_recorded(name: str, request: pytest.FixtureRequest) -> None:
    case = FIXTURES / name
    files = expected_files(case)
    differing = [path for path, data in files.items() if not path.exists() or path.read_bytes() != data]
    if request.config.getoption("--regen"):
        for path in differing:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[path])
        assert not differing, f"rewritten: {[str(p.relative_to(FIXTURES)) for p in differing]}"
    for path in differing:
        assert path.exists(), f"{path} is missing; run pytest --regen and read what it writes"
        assert files[path].decode("latin-1") == path.read_bytes().decode("latin-1")
    recorded = {path for path in (case / "out").rglob("*") if path.is_file()}
    assert recorded == {path for path in files if path.name != "findings.json"}


@pytest.mark.parametrize("name", CASES)
def test_case_converted_twice_changes_nothing_more(name: str) -> None:
    case = FIXTURES / name
    once = {path: r.after for path, r in convert_folder(read_folder(case / "src"), settings(case)).items()}
    twice = {path: r.after for path, r in convert_folder(once, settings(case)).items()}
    assert twice == once
