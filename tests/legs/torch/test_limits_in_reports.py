"""The planted limits once more, as findings of a report: at the right lines, in SARIF, in Chinese, and decided for good."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.decisions.made import decided_of
from tests.legs.torch.test_planted_limits import HEAD, PLANTED, REFUSED
from tf2npu.runs.failure import failure_of
from tf2npu.runs.limit_findings import rule_of_failure

TOOL = Path(sys.executable).with_name("tf2npu")
RULES = {"refused": "NPT901", "falls_back": "NPT902", "type_refused": "NPT903"}
LOOP = "for step in range(3):\n"
LAST = "    x.sum().item()\ntorch.empty(1 << 40, device='npu')\n"
SCRIPT = HEAD + LOOP + "".join(f"    {line}\n" for line in PLANTED) + LAST
FIRST_LINE = SCRIPT.count("\n", 0, SCRIPT.index(LOOP)) + 2


def _tool(*words: str | Path, cwd: Path, code: int = 0) -> None:
    done = subprocess.run([TOOL, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr


def _findings(folder: Path) -> list[dict[str, Any]]:
    (file,) = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))["files"]
    return [one for one in file["findings"] if one["rule"].startswith("NPT9")]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a script with all planted limits, which has run into a report."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted.py").write_text(SCRIPT, encoding="utf-8")
    _tool("scan", "planted.py", "--report", "report", "--format", "html,json,sarif,md", "--lang", "zh", cwd=folder, code=1)
    _tool("run", "--soc", "Ascend910B2", "--report", "report", "planted.py", cwd=folder, code=1)
    return folder


def test_each_planted_limit_is_a_finding_at_its_line(ran: Path) -> None:
    found = {(one["line"], one["rule"], one["before"]) for one in _findings(ran) if one["level"] in ("manual", "unsupported")}
    planted = {(FIRST_LINE + n, RULES[kind], line) for n, (line, (kind, _)) in enumerate(PLANTED.items())}
    last = FIRST_LINE + len(PLANTED)
    assert planted <= found
    assert {line for line, _, _ in found - planted} <= {line for line, _, _ in planted} | {last + 1}
    assert (last + 1, "NPT908", "torch.empty(1 << 40, device='npu')") in found
    (copy,) = [one for one in _findings(ran) if one["rule"] == "NPT906"]
    assert copy["line"] == last and "3 times" in copy["message"]


def test_sarif_has_them_and_the_report_is_chinese(ran: Path) -> None:
    results = json.loads((ran / "report" / "report.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    told = {(one["ruleId"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) for one in results}
    assert {(one["rule"], one["line"]) for one in _findings(ran)} <= told
    page = (ran / "report" / "runs.html").read_text(encoding="utf-8") + (ran / "report" / "report.md").read_text(encoding="utf-8")
    assert "由 CPU 计算" in page and "3 次" in page
    assert not [words for words in ("kernel for it", "vendor's list", "training step", "times") if f" {words}" in page]


def test_a_decision_survives_a_second_run(ran: Path) -> None:
    (ran / "d.toml").write_text(decided_of(ran / "report", {"NPT902": "accept"}, who="Ann"), encoding="utf-8")
    _tool("scan", "planted.py", "--report", "report", "--format", "json", "--decisions", "d.toml", cwd=ran, code=1)
    before = _findings(ran)
    assert {one["answer"]["who"] for one in before if one["rule"] == "NPT902" and "answer" in one} == {"Ann"}
    _tool("run", "--soc", "Ascend910B2", "--report", "report", "planted.py", cwd=ran, code=1)
    assert _findings(ran) == before


def test_another_chip_has_other_findings(ran: Path) -> None:
    _tool("run", "--soc", "Ascend910A", "--report", "report", "planted.py", cwd=ran, code=1)
    assert all("910A" in one["message"] for one in _findings(ran) if one["rule"] in RULES.values())
    refused = {one["level"] for one in _findings(ran) if one["rule"] == "NPT901"}
    assert refused == {"info"}, "no list names this chip"


@pytest.mark.parametrize("expression", REFUSED)
def test_an_error_of_the_device_has_a_rule(expression: str) -> None:
    with pytest.raises(REFUSED[expression][0]) as caught:
        exec(compile(HEAD + expression, "planted.py", "exec"), {"__name__": "__main__"})
    failure = failure_of(caught.value)
    run = {"eager_operators": {"count": 1}, "failure": {"type": failure.type, "message": failure.message}}
    assert rule_of_failure(run) == ("NPT908" if failure.type == "OutOfMemoryError" else "NPT907")
    assert failure.place is not None and failure.place[1] == 3
