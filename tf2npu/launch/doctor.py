"""The installed packages, the adapters that a script would import and why, and what can run here. Imports none of it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import click

import tf2npu
from npu_formats.session_options import launcher_options
from tf2npu.frameworks.tensorflow1.adapter_imports import ADAPTERS
from tf2npu.launch import mindspore, pytorch
from tf2npu.refused_request import RefusedRequest

_PACKAGES = ("libcst", "tensorflow-cpu", "tensorflow", "numpy", "scipy", "tf_slim", "torch")


def lines() -> list[str]:
    """The whole answer of `tf2npu doctor`."""
    found = [f"tf2npu {tf2npu.__version__} ({Path(tf2npu.__file__).parent})"]
    found.append(f"Python {platform.python_version()} ({sys.executable})")
    found += [f"{name}: {_version(name) or 'not installed'}" for name in _PACKAGES if name != "tensorflow" or _version(name)]
    found += [
        "",
        *(line for package in ADAPTERS for line in _adapter_lines(package)),
        *pytorch.doctor_lines(),
        *mindspore.doctor_lines(),
        "",
        "convert, scan, report, rules: can run here",
    ]
    reason = why_not_run("tf2npu run")
    found.append(f"run: {reason}" if reason else "run: can run here, on the simulated device")
    reason = pytorch.why_not_run()
    found.append(f"run, scripts for PyTorch: {reason or 'can run here, on the simulated device'}")
    found.append(_npu_line())
    return found


def script_lines(script: Path) -> list[str]:
    """The lines that `tf2npu doctor --script` adds.

    Raises: RefusedRequest when the script cannot be read.
    """
    from tf2npu.launch import preflight, preflight_tensorflow2
    from tf2npu.launch.shims import PYTORCH, TENSORFLOW1, shim_of

    options = _launcher_options()
    if mindspore.is_program(script):
        run = why_not_run() or f"`tf2npu run --frontend mindspore {script}` runs it as it is"
        return ["", f"{script} is a program for MindSpore: {run}"]
    try:
        shim = shim_of(str(script))
        if shim is PYTORCH:
            return ["", f"{script} is a script for PyTorch: {pytorch.why_not_run() or f'`tf2npu run {script}` runs it as it is'}"]
        is_first = shim is TENSORFLOW1
        return ["", *(preflight if is_first else preflight_tensorflow2).lines(script, options)]
    except OSError as error:
        raise RefusedRequest(f"{script}: cannot be read: {error.strerror}") from None
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError, MemoryError) as error:
        raise RefusedRequest(f"{script}: Python cannot read it: {error}") from None


def device_lines() -> list[str]:
    """The lines of `tf2npu devices`.

    Raises: RefusedRequest where there is nothing to simulate them with, or no chip of the wanted name.
    """
    reason = why_not_run()
    if reason:
        raise RefusedRequest(reason)
    from npu_formats.device.chip import ChipProblem
    from tf2npu.launch import devices

    _launcher_options()
    try:
        return devices.lines()
    except ChipProblem as error:
        raise RefusedRequest(str(error)) from None


def _launcher_options() -> dict[str, Any]:
    try:
        return launcher_options(os.environ)
    except ValueError as error:
        raise RefusedRequest(str(error)) from None


def why_not_run(command: str = "") -> str:
    """The reason that this Python cannot run a command that needs the device; empty when it can.  command: else the typed one."""
    needs = f"{command or _typed_command()} needs Python 3.10 or 3.11 with TensorFlow 2.15 (tensorflow-cpu==2.15.*)"
    if sys.version_info >= (3, 12):
        return f"{needs}, the last one with TensorFlow 1's Estimator; this is Python {platform.python_version()}"
    if importlib.util.find_spec("tensorflow") is None:
        return f"{needs}; TensorFlow is not installed here"
    version = _version("tensorflow-cpu") or _version("tensorflow")
    if version and not version.startswith("2.15."):
        return f"{needs}; here is TensorFlow {version}"
    return ""


def _typed_command() -> str:
    context = click.get_current_context(silent=True)
    return context.command_path if context is not None else "the simulated device"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _adapter_lines(package: str) -> list[str]:
    """Lines on the adapter that an import finds: sys.path's order decides, so each offer is named in that order."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return [f"{package}: none is found; install tf2npu properly (pip install tf2npu), or put the vendor's on PYTHONPATH"]
    winner = Path(spec.origin).parent
    whose = "tf2npu's simulated one" if is_ours(winner) else "not tf2npu's: the vendor's adapter, or a folder of that name"
    answer = [f"{package}: {winner} ({whose})", f"  because {_why_first(winner)}"]
    offers = [Path(entry or ".") / package for entry in sys.path]
    others = [folder for folder in offers if (folder / "__init__.py").exists() and not _same(folder, winner)]
    answer += [f"  hidden by it: {folder}" for folder in dict.fromkeys(others)]
    if not is_ours(winner):
        answer.append("  scripts run against that one; take it off PYTHONPATH to use the simulated device")
    return answer


def is_ours(folder: Path) -> bool:
    """Whether the folder of an adapter belongs to this installation of tf2npu."""
    home = Path(tf2npu.__file__).resolve().parent
    if any(_same(folder, home / package) for package in ADAPTERS):
        return True  # editable installation
    try:
        files = metadata.files("tf2npu") or []
    except metadata.PackageNotFoundError:
        return False
    own = [f"{package}/__init__.py" for package in ADAPTERS]
    return any(_same(Path(str(f.locate())).parent, folder) for f in files if str(f) in own)


def _why_first(winner: Path) -> str:
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    if any(_same(Path(p), winner.parent) for p in paths):
        return "PYTHONPATH names its folder, and PYTHONPATH precedes site-packages"
    on_path = next((entry for entry in sys.path if _same(Path(entry or "."), winner.parent)), None)
    if on_path is not None:
        return f"{on_path} is the first entry of sys.path that has one"
    return "nothing on sys.path has one, and the editable installation of tf2npu offers it"


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _npu_line() -> str:
    if shutil.which("npu-smi") or Path("/usr/local/Ascend").exists():
        return "NPU host: Ascend software is installed; with the vendor's npu_bridge first, scripts run on the real device"
    return "NPU host: no Ascend software found; scripts run on the simulated device"
