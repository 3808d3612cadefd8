"""Completion as docs/cli.md tells it: bash takes the script, and offers what the command has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
OFFERED = 'COMP_WORDS=({words}); COMP_CWORD={place}; _tf2npu_completion tf2npu; echo "${{COMPREPLY[@]}}"'


def bash(text: str, folder: Path) -> str:
    """Run lines with a `tf2npu` of this Python in PATH."""
    command = folder / "tf2npu"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tf2npu "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, check=False, env={"PATH": f"{folder}:/usr/bin:/bin"}
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("words", "place", "expected"),
    [
        ("tf2npu con", 1, {"convert"}),
        ("tf2npu convert --di", 2, {"--diff", "--distributed"}),
        ("tf2npu convert --distributed ''", 3, {"none", "auto", "horovod", "tf"}),
        ("tf2npu bank ''", 2, {"show", "merge", "export"}),
        ("tf2npu dump s", 2, {"show"}),
    ],
)
def test_bash_offers_what_there_is(words: str, place: int, expected: set[str], tmp_path: Path) -> None:
    (line,) = re.findall(r"^eval .*bash_source.*$", PAGE, re.M)
    offered = bash(f"{line}\n{OFFERED.format(words=words, place=place)}", tmp_path)
    assert set(offered.split()) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_given_a_script(shell: str, tmp_path: Path) -> None:
    assert f"_TF2NPU_COMPLETE={shell}_source tf2npu" in PAGE
    assert "_TF2NPU_COMPLETE=" in bash(f"_TF2NPU_COMPLETE={shell}_source tf2npu", tmp_path)
