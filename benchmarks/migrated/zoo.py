"""Takes a script's folder out of the model zoo, a checkout or a bare git directory."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

BELOW = "TensorFlow"


def find(model_zoo: Path) -> str | None:
    """The source of the scripts: "tree", "git", or None when the model zoo is not there."""
    if (model_zoo / BELOW).is_dir():
        return "tree"
    if (model_zoo / "HEAD").is_file() and (model_zoo / "objects").is_dir():
        return "git"
    return None


def extract(model_zoo: Path, folder: str, out: Path) -> Path:
    """Copy ``TensorFlow/<folder>`` below ``out``, untouched, and give its path.

    Raises: subprocess.CalledProcessError or FileNotFoundError when the model zoo does not have it.
    """
    if find(model_zoo) == "tree":
        shutil.copytree(model_zoo / BELOW / folder, out / folder, symlinks=True)
        return out / folder
    command = ["git", f"--git-dir={model_zoo}", "archive", "HEAD", f"{BELOW}/{folder}"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(out, filter="data")
    return out / BELOW / folder


def commit(model_zoo: Path) -> str:
    """The commit that the scripts are of, "unknown" outside git."""
    git_dir = model_zoo if find(model_zoo) == "git" else model_zoo / ".git"
    done = subprocess.run(["git", f"--git-dir={git_dir}", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
