"""Programs for MindSpore r1.0 and r1.1: the path on which `import mindspore` finds the package for the simulated device.

It is on the path of a run alone that asks for it by --frontend mindspore, so that a real MindSpore is never hidden.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import MutableMapping
from importlib import metadata
from pathlib import Path

import tf2npu
from tf2npu.frameworks.tensorflow1.adapter_imports import roots_of

FRONTEND = "mindspore"
LIST = "docs/generated/mindspore_names.md"
"""The document with the names that the package has."""
FOLDER = Path(tf2npu.__file__).resolve().parent / "adapters" / "mindspore"
"""The folder that is put on the path."""


def real_version() -> str:
    """The version of a real MindSpore that is installed, "" for none."""
    for package in ("mindspore", "mindspore-ascend", "mindspore-gpu"):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return ""


def is_program(script: Path) -> bool:
    """Whether a script imports MindSpore, and neither TensorFlow nor PyTorch."""
    try:
        roots = roots_of(script.read_bytes())
    except OSError:
        return False
    return FRONTEND in roots and roots.isdisjoint({"tensorflow", "torch"})


def prepare(environment: MutableMapping[str, str] = os.environ) -> None:
    """Put the package on the path of this process and of its children; a line says when it hides a real one."""
    real = real_version()
    if real:
        print(
            f"tf2npu run: the installed MindSpore {real} is left aside: --frontend mindspore asks for tf2npu's", file=sys.stderr
        )
    folder = str(FOLDER)
    if folder not in sys.path:
        sys.path.insert(1, folder)  # 0 becomes the script's own folder
    importlib.invalidate_caches()
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and path != folder]
    environment["PYTHONPATH"] = os.pathsep.join([folder, *paths])


def hidden_by(script: str | Path | None) -> str:
    """The reason that a script would import something else under the name mindspore; "" for none."""
    own = (Path(script).resolve().parent if script is not None else Path.cwd()) / "mindspore"
    for path in (own / "__init__.py", own.with_suffix(".py")):
        if path.is_file():
            return f"{path} hides the package mindspore from the script: rename it, or run the script from another folder"
    return ""


def about_missing(message: str) -> str:
    """A line on a script that does not find mindspore or a part of it, by the message of Python; "" for other messages."""
    if message == "No module named 'mindspore'":
        return "a program for MindSpore r1.0 or r1.1 runs here with --frontend mindspore"
    is_ours = str(FOLDER) in sys.path and re.search(r"(?:named|from) 'mindspore\.", message)
    return f"tf2npu's package mindspore does not have this: {LIST} lists what it has" if is_ours else ""


def doctor_lines() -> list[str]:
    """The lines of `tf2npu doctor` on the package for MindSpore programs."""
    real = real_version()
    found = [f"mindspore: {FOLDER / 'mindspore'} (tf2npu's, for programs of r1.0 and r1.1)"]
    found.append(f"  `tf2npu run --frontend mindspore` puts it on the path; for a run by python: PYTHONPATH={FOLDER}")
    if real:
        found.append(f"  MindSpore {real} is installed as well, which other runs import")
    return found
