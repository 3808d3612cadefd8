"""The command `tune`: the training programs of a script tuned for a chip."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from npu_formats.environment import TF2NPU_TUNE
from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from npu_formats.files.temporary import temporary_folder
from npu_formats.vendor.tune_result import percent
from tf2npu.commands.bank import require_bank
from tf2npu.commands.tuning_table import FAILED, WIDTH, put
from tf2npu.launch.subprocess import about_steps, chips, converted_for, orderly_end, refuse_pytorch, run_script
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.languages.language import counted

_SHOWN = 30
"""Rows of a table of operators: those that gained most. JSON has all."""


def tune(words: Sequence[str], *, soc: str, mode: str, devices: int, steps: int, json_file: Path | None) -> int:
    """`tf2npu tune`; returns the exit code.  words: the script and its arguments."""
    if not words:
        raise RefusedRequest("name a SCRIPT")
    script = Path(words[0])
    if not script.is_file():
        raise RefusedRequest(f"{script}: no such file")
    named = chips(soc)
    if len(named) > 1:
        raise RefusedRequest(f"--soc {soc}: name one chip: each has a bank of its own")
    require_bank()
    refuse_pytorch("tune", script)
    with orderly_end(), temporary_folder() as folder:
        out = folder / "tuning.json"
        options = ["--soc", named[0], "--devices", str(devices), "--option", f"auto_tune_mode={mode}"]
        variables = {TF2NPU_TUNE: json.dumps({"out": str(out), "steps": steps})}
        code = run_script(script, words[1:], options, variables, converted_for("tune", script, folder))
        found = _document(out, script, code, steps)
    if found is None:
        return code or FAILED
    put(found, json_file, _lines(found))
    return 0


def _document(out: Path, script: Path, code: int, steps: int) -> dict[str, Any] | None:
    """The results that the device wrote; None, after a message, where the script ended before that."""
    if not out.exists():
        before = f"before {counted(steps, 'step')} of its training graph ran on the device"
        reason = f"ended with exit code {code} {before}: not all is tuned"
        click.echo(f"tf2npu tune: {visible(str(script))} {reason}{about_steps(script)}", err=True)
        return None
    try:
        found: dict[str, Any] = json.loads(read_at_most(out, MOST_REPORT_BYTES))
    except (OSError, ValueError) as error:
        raise RefusedRequest(f"what was tuned of {script} cannot be read: {error}") from None
    if code:
        click.echo(f"tf2npu tune: {visible(str(script))} ended with exit code {code} after it was tuned", err=True)
    return found


def _lines(found: dict[str, Any]) -> list[str]:
    programs = found["programs"]
    if not programs:
        return ["No program of the script has operators of the AI cores: nothing was tuned."]
    lines = [line for program in programs for line in _program_lines(program)]
    return [*lines, "", f"The bank of {programs[0]['soc']} is {programs[0]['bank']}"]


def _program_lines(program: dict[str, Any]) -> list[str]:
    """A head, and a row for each operator that gained or comes from the bank, those with the largest gain first."""
    chosen = [op for op in program["operators"] if op["compiled_with"] == "bank" or _is_better(op)]
    before, after = program["default_us"], program["us"]
    digits = 1 if f"{before:.1f}" != f"{after:.1f}" else 3
    chosen.sort(key=lambda op: (-(op["default_us"] - op["us"]) * op["count"], op["name"]))
    head = (
        f"{program['name']}: {len(program['operators'])} different operators of the AI cores, {before:.{digits}f} us a "
        f"step untuned, {after:.{digits}f} us tuned ({percent(before, after)})"
    )
    late = [f"  out of time, so that they keep what they had: {counted(program['late'], 'operator')}"] if program["late"] else []
    rows = [
        f"  {op['op_type'][:WIDTH]:{WIDTH}} {op['count']:4} x {op['default_us']:10.2f} -> {op['us']:10.2f} us "
        f"{percent(op['default_us'], op['us']):>7}  {op['compiled_with']:6} {op['name']}"
        for op in chosen[:_SHOWN]
    ]
    return [head, *late, *rows, *_rest(len(chosen))]


def _is_better(op: dict[str, Any]) -> bool:
    """Whether tuning gained as much of an operator as its row would show."""
    return op["compiled_with"] == "tuned" and percent(op["default_us"], op["us"]) not in ("0.00%", "-0.00%")


def _rest(n_rows: int) -> list[str]:
    return [f"  and {n_rows - _SHOWN} more, which --json has"] if n_rows > _SHOWN else []
