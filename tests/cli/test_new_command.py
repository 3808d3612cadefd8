"""tools/new_command.py: the file that it writes is a command with a help, and what cannot be is one line."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tf2npu.cli import commands

TOOL = Path(__file__).parents[2] / "tools" / "new_command.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the commands, as it stands."""
    return Path(shutil.copytree(Path(commands.__file__).parent, tmp_path / "commands"))


def new_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *words, "--folder", folder], capture_output=True, text=True, check=False)


def test_a_new_command_runs_and_has_its_place_in_the_help(folder):
    done = new_command(folder, "levels")
    assert done.returncode == 0 and "levels.py is written" in done.stdout, done.stderr
    command = runpy.run_path(str(folder / "levels.py"))["levels"]
    assert (command.topic, command.position) == ("This machine", 3), "doctor and devices stand before it"
    runner = CliRunner()
    assert runner.invoke(command, ["--all"]).output == "levels: all of it\n"
    shown = runner.invoke(command, ["--help"]).output
    assert "--all" in shown and all(example in shown for example in command.examples)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say NAME="),
        (("two-words",), "is no name of a command"),
        (("import",), "is no name of a command"),
        (("../escape",), "is no name of a command"),
        (("levels", "--topic", "Numbers"), "is no topic: say TOPIC=, one of: Migrate"),
        (("convert",), "is there already"),
    ],
)
def test_what_cannot_be_a_command_is_refused_in_one_line_and_writes_nothing(folder, words, said):
    before = sorted(folder.iterdir())
    done = new_command(folder, *words)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("new_command: ") and said in done.stderr and done.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before
