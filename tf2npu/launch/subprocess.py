"""A script that a command runs in a process of its own, converted for this run where it is not migrated."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from npu_formats import converted_copy
from npu_formats.device.chip import chip_names
from npu_formats.environment import TF2NPU_CONVERTED
from npu_formats.escape import visible
from tf2npu.config import ConfigError
from tf2npu.frameworks.tensorflow1.adapter_imports import DEVICE
from tf2npu.launch import mindspore, pytorch
from tf2npu.launch.shims import PYTORCH, TENSORFLOW1, shim_of
from tf2npu.launch.temporary_conversion import TemporaryConversion, adapter_of_script, convert_for_run
from tf2npu.prediction.arguments import chips_named
from tf2npu.project.request import TooLarge, UsageProblem
from tf2npu.ranks.process import AS_COMMAND
from tf2npu.ranks.process_control import exit_code_of
from tf2npu.refused_request import RefusedRequest

_STDERR = 2
"""The descriptor that a script's own output goes to: stdout has what the command shows alone."""


@contextmanager
def orderly_end() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end this process as an exception does, so that the script ends too and temporary files go."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def chips(soc: str, script: Path | None = None) -> tuple[str, ...]:
    """The chips that --soc names.  Raises: RefusedRequest, also where the script cannot run here, or none can."""
    from tf2npu.launch.doctor import why_not_run

    reason = pytorch.why_not_run() if script is not None and is_for_pytorch(script) else why_not_run()
    if reason:
        raise RefusedRequest(reason)
    try:
        return chips_named(soc, chip_names())
    except ValueError as error:
        raise RefusedRequest(f"--soc {soc}: {error}") from None


def is_for_pytorch(script: Path) -> bool:
    """Whether a script is one for PyTorch, which is run as it is."""
    return shim_of(str(script)) is PYTORCH


def refuse_mindspore(command: str, script: Path) -> None:
    """Raises: RefusedRequest for a program for MindSpore, which has no original that runs elsewhere."""
    if mindspore.is_program(script):
        raise RefusedRequest(
            f"{script} is a program for MindSpore, which `tf2npu {command}` does not know: use run, predict or check "
            "with --frontend mindspore"
        )


def refuse_pytorch(command: str, script: Path) -> None:
    """Raises: RefusedRequest for a script that a command cannot do anything with yet."""
    refuse_mindspore(command, script)
    if is_for_pytorch(script):
        raise RefusedRequest(f"{script} is a script for PyTorch, which `tf2npu {command}` does not know: use run or predict")


def converted_for(command: str, script: Path, folder: Path) -> TemporaryConversion | None:
    """The conversion of a script that is not migrated yet; None for one that is.  command: that asks.  Raises: RefusedRequest."""
    try:
        if adapter_of_script(script) is not None:
            return None
        converted = convert_for_run(script, folder)
    except TooLarge as error:
        raise RefusedRequest(f"{error}, too many to convert them for one run: {_way_out(command, script)}") from None
    except (UsageProblem, ConfigError) as error:
        raise RefusedRequest(str(error)) from None
    click.echo(f"tf2npu {command}: {visible(converted.summary())}", err=True)
    return converted


def adapter_import(script: Path) -> str:
    """The import that makes a script a migrated one, as a message says it; "" for an original.  Raises: RefusedRequest."""
    try:
        found = adapter_of_script(script)
    except UsageProblem as error:
        raise RefusedRequest(str(error)) from None
    if found is None:
        return ""
    return found.adapter if found.importer == script else f"{found.adapter} by {found.importer}"


def adapter_for(script: Path) -> str:
    """The adapter that a script imports or, where nothing in it had to be converted, would import."""
    found = shim_of(str(script))
    return DEVICE if found is None else found.package


def about_steps(script: Path) -> str:
    """The end of a message that no step was seen: what has to hold for a step; "" for TensorFlow 1."""
    if is_for_pytorch(script):
        return "; a step is seen that ends with the step of an optimizer of torch.optim, and of which tensors are on the device"
    return "" if shim_of(str(script)) is TENSORFLOW1 else "; a step is seen that is a call of a tf.function and changes variables"


def _way_out(command: str, script: Path) -> str:
    """The commands to type for a project that is too large, as a message says them."""
    converted = f"OUT/{script.name}"
    words = f"check {script} --migrated {converted}" if command == "check" else f"{command} {converted}"
    return f"convert the script's project with `tf2npu convert SRC OUT`, then `tf2npu {words}`"


def run_script(
    script: Path, words: Sequence[str], options: Sequence[str], variables: Mapping[str, str],
    converted: TemporaryConversion | None,
) -> int:  # fmt: skip
    """Run the script as `tf2npu run` does, in a process of its own; its exit code, as a shell has it.

    So it cannot leave modules or settings behind here, the temporary files go whatever becomes of it, and what it imports
    cannot take the place of what shows the result.  words: the script's own.  options: of `tf2npu run`.
    """
    started = [str(converted.script) if converted else str(script), *words]
    command = [sys.executable, "-c", AS_COMMAND, str(os.getpid()), "run", *options, "--", *started]
    environment = {**os.environ, **variables}
    if converted:
        environment[TF2NPU_CONVERTED] = converted_copy.variable(converted.copy, converted.root)
    if converted and environment.get("PYTHONPATH"):
        environment["PYTHONPATH"] = converted.search_path(environment["PYTHONPATH"])
    return exit_code_of(subprocess.run(command, env=environment, stdout=_STDERR, check=False).returncode)
