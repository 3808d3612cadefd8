"""Legs are listed in a table; one whose packages cannot be had is left out and told with the reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LEGS = run_path(str(ROOT / ".ci" / "legs.py"))
ABSENT = "torch_npu @ file:///nowhere/torch_npu-2.1.0-py3-none-any.whl"


def test_each_leg_of_the_table_has_its_folder_and_each_folder_its_leg() -> None:
    folders = {path.name for path in (ROOT / "tests" / "legs").glob("*/")}
    assert folders == LEGS["legs"]().keys() - {"core"}


def test_a_leg_whose_packages_cannot_be_installed_is_left_out_in_one_line(tmp_path: Path) -> None:
    table = tmp_path / "legs.toml"
    table.write_text(f"[core]\nrequires = []\n[torch]\nrequires = ['{ABSENT}']\n", encoding="utf-8")
    names, left_out = LEGS["installable"](LEGS["legs"](table))
    assert names == ["core"]
    assert left_out.startswith("left out: torch (") and "nowhere" in left_out and "\n" not in left_out


def test_what_is_no_leg_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert LEGS["main"](["run", "jax"]) == 2
    assert "these legs: core" in capsys.readouterr().err


def test_a_leg_without_packages_of_its_own_runs_in_the_environment_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    finished = subprocess.CompletedProcess([], 3)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: (called.append(list(map(str, words))), finished)[1])
    assert LEGS["run"]("tf2", []) == 3
    assert [(words[0], words[-1]) for words in called] == [(sys.executable, str(ROOT / "tests" / "legs" / "tf2"))]
    assert LEGS["run"]("torch", ["torch>=2.1"]) == 3
    assert called[-1][0] == str(ROOT / ".venv-torch" / "bin" / "python") and any("torch>=2.1" in words for words in called)


@pytest.mark.parametrize(
    ("words", "command"), [(("test",), "shim"), (("test",), "legs.py run tf2"), (("test-jax",), "legs.py run jax")]
)
def test_make_knows_the_legs(words: tuple[str, ...], command: str) -> None:
    told = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert command in told


@pytest.fixture
def torch_releases(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    return run_path(str(ROOT / ".ci" / "torch_releases.py"))


def test_both_ends_of_the_extra_torch_are_asked_for(torch_releases: dict[str, Any], tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[project.optional-dependencies]\ntorch = ["torch>=2.10,<2.15"]\n', encoding="utf-8")
    assert torch_releases["releases"](project) == {"oldest": "torch==2.10.*", "newest": "torch>=2.10,<2.15"}
    project.write_text('[project.optional-dependencies]\ntorch = ["torch"]\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"wanted torch>=X\.Y,<X\.Z"):
        torch_releases["releases"](project)
    assert set(torch_releases["releases"]()) == {"oldest", "newest"}


def test_a_release_that_cannot_be_installed_is_named(torch_releases: dict[str, Any]) -> None:
    code, line = torch_releases["tried"]("oldest", ABSENT)
    assert code == 77 and line.startswith(f"oldest: {ABSENT} cannot be installed here: ") and "\n" not in line


@pytest.mark.parametrize(("codes", "expected"), [((0, 0), 0), ((0, 77), 77), ((77, 1), 1)])
def test_a_failure_counts_more_than_a_release_that_is_not_there(
    codes: tuple[int, int], expected: int, torch_releases: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    given = dict(zip(("oldest", "newest"), codes, strict=True))
    assert torch_releases["main"](lambda which, requirement: (given[which], f"{which}: {requirement}")) == expected
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == ["oldest", "newest"]
