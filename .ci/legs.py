"""The legs of the tests, which tests/legs.toml lists.

python .ci/legs.py installable   prints the legs whose packages can be installed; a line on stderr says what is left out, and why
python .ci/legs.py set-up LEG    makes the leg's environment, where it has packages of its own
python .ci/legs.py run LEG       runs the leg's tests in its environment .venv-LEG, which it makes where it is not there; a leg
                                 without packages of its own has that of the project
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib  # Python 3.10

ROOT = Path(__file__).parents[1]
CORE = "core"
PYTEST = ("-n", "2", "--dist", "worksteal")
PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")


def legs(table: Path = ROOT / "tests" / "legs.toml") -> dict[str, list[str]]:
    """The requirements of each leg."""
    return {name: list(leg["requires"]) for name, leg in tomllib.loads(table.read_text(encoding="utf-8")).items()}


def why_not_installable(requires: Sequence[str]) -> str:
    """The words of pip about requirements that it cannot install, "" where it can."""
    if not requires:
        return ""
    tried = subprocess.run([sys.executable, *PIP, "--dry-run", *requires], capture_output=True, text=True, check=False)
    said = [line for line in tried.stderr.splitlines() if line.startswith("ERROR:")]
    return "" if tried.returncode == 0 else said[-1].removeprefix("ERROR: ") if said else f"pip ended with {tried.returncode}"


def installable(table: Mapping[str, Sequence[str]]) -> tuple[list[str], str]:
    """The legs that can be run here, and a line about the others, "" where there are none."""
    reasons = {name: why_not_installable(requires) for name, requires in table.items()}
    left_out = "; ".join(f"{name} ({reason})" for name, reason in reasons.items() if reason)
    return [name for name, reason in reasons.items() if not reason], f"left out: {left_out}" if left_out else ""


def run(name: str, requires: Sequence[str]) -> int:
    """Runs the tests of a leg, in a process of their own.  Returns: pytest's exit code."""
    return tests(environment(name, requires) if requires else Path(sys.executable), name)


def tests(python: Path, name: str) -> int:
    """Runs the tests of a leg with this Python.  Returns: pytest's exit code."""
    words = [python, "-m", "pytest", *PYTEST, ROOT / "tests" / "legs" / name]
    return subprocess.run(words, cwd=ROOT, check=False).returncode


def environment(name: str, requires: Sequence[str]) -> Path:
    """Brings the leg's environment up to date.  Returns: its python."""
    python = ROOT / f".venv-{name}" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    subprocess.run([python, *PIP, "--editable", f"{ROOT}[test]", *requires], check=True)
    return python


def main(words: Sequence[str]) -> int:
    """Does what the words say.  Returns: an exit code."""
    table = legs()
    if list(words) == ["installable"]:
        names, left_out = installable(table)
        print(*names)
        if left_out:
            print(left_out, file=sys.stderr)
        return 0
    if len(words) == 2 and words[0] == "run" and words[1] in table.keys() - {CORE}:
        return run(words[1], table[words[1]])
    if len(words) == 2 and words[0] == "set-up" and words[1] in table:
        if table[words[1]]:
            environment(words[1], table[words[1]])
        return 0
    print(f"tests/legs.toml has these legs: {', '.join(table)}; `make test` runs core", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
