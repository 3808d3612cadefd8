"""The tests of PyTorch's leg under the oldest and the newest release that the extra `torch` allows:

    python .ci/torch_releases.py

Each release gets an environment of its own, .venv-torch-oldest and .venv-torch-newest, and a line that says what was seen. On
Linux the index has builds for CUDA of several gigabytes each. Exit codes: 0 all passed, 1 a test failed, 77 a release cannot be
installed here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import legs
from legs import tomllib

PROJECT = legs.ROOT / "pyproject.toml"
BOUND = re.compile(r"torch>=(?P<oldest>\d+\.\d+),<\d+\.\d+")
FAILED, ABSENT = 1, 77


def releases(project: Path = PROJECT) -> dict[str, str]:
    """The requirement for the oldest and for the newest release that the extra `torch` allows."""
    (bound,) = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["torch"]
    found = BOUND.fullmatch(bound)
    if found is None:
        raise SystemExit(f"{project}: the extra torch is {bound!r}; wanted torch>=X.Y,<X.Z, of which both ends are tested")
    return {"oldest": f"torch=={found['oldest']}.*", "newest": bound}


def tried(which: str, requirement: str) -> tuple[int, str]:
    """Runs the leg under a release.  Returns: an exit code, and a line that says what was seen."""
    why = legs.why_not_installable([requirement])
    if why:
        return ABSENT, f"{which}: {requirement} cannot be installed here: {why}"
    try:
        python = legs.environment(f"torch-{which}", [requirement])
        asked = subprocess.run(
            [python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=False
        )
    except subprocess.CalledProcessError as error:
        return ABSENT, f"{which}: {requirement} could not be installed: pip ended with {error.returncode}"
    if asked.returncode:
        last = (asked.stderr.strip().splitlines() or ["no reason"])[-1]
        return ABSENT, f"{which}: {requirement} is installed and cannot be imported: {last}"
    code = legs.tests(python, "torch")
    return (FAILED if code else 0), f"{which}: PyTorch {asked.stdout.strip()}: " + (
        f"pytest ended with {code}" if code else "all passed"
    )


def main(try_release: Callable[[str, str], tuple[int, str]] = tried) -> int:
    """Tries both ends.  Returns: the exit code."""
    seen = [try_release(which, requirement) for which, requirement in releases().items()]
    for _, line in seen:
        print(line)
    codes = {code for code, _ in seen}
    return FAILED if FAILED in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())
