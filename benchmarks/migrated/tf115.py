"""Genuine TensorFlow 1.15 in an environment of its own, which needs a Python 3.7."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.acceptance.checkouts import Absent

PACKAGES = ("tensorflow-cpu==1.15.0", "protobuf<3.21", "numpy<1.19")


def python37() -> Path | None:
    """A Python 3.7 that runs: one on the path, else the newest that pyenv has."""
    roots = (os.environ.get("PYENV_ROOT"), Path.home() / ".pyenv")
    versions = [path for root in roots if root for path in sorted(Path(root).glob("versions/3.7.*/bin/python"), reverse=True)]
    on_path = shutil.which("python3.7")
    return next((path for path in [*([Path(on_path)] if on_path else []), *versions] if _runs(path)), None)


def _runs(python: Path) -> bool:
    """Whether it starts; pyenv puts a file for every version on the path that refuses to."""
    return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0


def make(folder: Path, base: Path) -> Path:
    """A virtual environment of ``base`` with TensorFlow 1.15. Returns: its interpreter."""
    subprocess.run([base, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    return python


def bring(given: Path | None, folder: Path) -> Path:
    """The interpreter that was given, else one in a new environment.  Raises: Absent without a Python 3.7 to make it of."""
    if given is not None:
        return given.absolute()
    base = python37()
    if base is None:
        raise Absent("no Python 3.7 on the path or in pyenv; name a python with TensorFlow 1.15 by --tf115")
    return make(folder / "tf115", base)
