"""Converted files compile on the Python of the target, where one is found; else their syntax is held against its grammar."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "convert"
COMPILE_ALL = """
import json, sys, tokenize
wrong = []
for name in json.load(sys.stdin):
    try:
        with open(name, "rb") as file:
            compile(file.read(), name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        wrong.append([name, str(error)])
json.dump([list(sys.version_info[:2]), wrong], sys.stdout)
"""


def python_3_7() -> str | None:
    """A Python 3.7 that runs: on PATH, or one of pyenv's."""
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = [str(p) for root in roots if root for p in sorted(Path(root).glob("versions/3.7.*/bin/python3.7"))]
    for candidate in [*found, shutil.which("python3.7")]:
        if candidate is None:
            continue
        asked = subprocess.run(
            [candidate, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and asked.stdout.strip() == "(3, 7)":
            return candidate
    return None


def pairs() -> list[tuple[Path, Path]]:
    """Source and result of every golden Python file that the conversion changed."""
    found = []
    for after in sorted(FIXTURES.glob("*/out/**/*.py")):
        before = Path(str(after).replace("/out/", "/src/", 1))
        if before.exists() and before.read_bytes() != after.read_bytes():
            found.append((before, after))
    return found


def refused_by_python(python: str, files: list[Path]) -> dict[str, str]:
    done = subprocess.run(
        [python, "-c", COMPILE_ALL], input=json.dumps([str(f) for f in files]), capture_output=True, text=True, check=True
    )
    version, wrong = json.loads(done.stdout)
    assert version == [3, 7]
    return dict(wrong)


def refused_by_grammar(files: list[Path]) -> dict[str, str]:
    wrong = {}
    for path in files:
        try:
            ast.parse(path.read_bytes(), feature_version=(3, 7))
        except (SyntaxError, ValueError) as error:
            wrong[str(path)] = str(error)
    return wrong


def test_what_was_inserted_is_valid_for_the_target() -> None:
    files = pairs()
    assert len(files) > 100
    python = python_3_7()
    every = [path for pair in files for path in pair]
    wrong = refused_by_python(python, every) if python else refused_by_grammar(every)
    spoilt = [str(after) for before, after in files if str(after) in wrong and str(before) not in wrong]
    assert spoilt == []
