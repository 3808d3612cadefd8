"""The commands `bank ...`: tuned operators shown, merged and exported."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from npu_formats.device.chip import DEFAULT_CHIP
from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from npu_formats.runtime_process import runtime_command
from npu_formats.vendor.tune_result import FLAGS, percent, read_tune_result
from tf2npu.commands.tuning_table import FAILED, WIDTH, put, write
from tf2npu.launch.subprocess import chips
from tf2npu.ranks.process_control import exit_code_of
from tf2npu.refused_request import RefusedRequest


def show_bank(path: Path | None, json_file: Path | None) -> int:
    """`tf2npu bank show`; returns the exit code."""
    if path is not None and path.is_file() and path.name.startswith("tune_result"):
        return _show_result(path, json_file)
    rows = _answer({"what": "rows", "path": None if path is None else str(path)})["rows"]
    put(rows, json_file, [*map(_bank_line, rows), _entries(len(rows)) if rows else _EMPTY])
    return 0


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


_EMPTY = "The bank is empty: `tf2npu tune SCRIPT` fills it."


def _bank_line(row: dict[str, Any]) -> str:
    record = row["record"]
    sides = "x".join(str(record[name]) for name in ("baseM", "baseN", "baseK") if name in record)
    shapes = " ".join("x".join(map(str, shape)) or "scalar" for shape, *_ in row["inputs"])
    if row["us"] is None:
        return f"{row['soc']} {row['op_type'][:WIDTH]:{WIDTH}} not usable with this release  {shapes}"
    gain = percent(row["default_us"], row["us"])
    return f"{row['soc']} {row['op_type'][:WIDTH]:{WIDTH}} {row['us']:10.2f} us {gain:>7}  {sides:12} {shapes}"


def _show_result(path: Path, json_file: Path | None) -> int:
    try:
        found = read_tune_result(read_at_most(path, MOST_REPORT_BYTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise RefusedRequest(f"{path}: cannot be read: {reason}") from None
    rows = [
        {"operators": one.operators, "before_us": one.before_us, "after_us": one.after_us, **one.flags, "ticks": one.ticks}
        for one in found
    ]
    put(rows, json_file, [*map(_result_line, rows), _entries(len(rows))])
    return 0


def _result_line(row: dict[str, Any]) -> str:
    flags = ", ".join(name.removeprefix("bank_") for name in FLAGS if row[name]) or "not tuned"
    times = "" if row["after_us"] is None else f"{row['before_us']:8} -> {row['after_us']:8} us"
    names = " and ".join(" ".join(members) for members in row["operators"])
    return f"{times:24} {flags:14} {names}"


def merge_banks(paths: Sequence[Path]) -> int:
    """`tf2npu bank merge`; returns the exit code."""
    if not paths:
        raise RefusedRequest("name the files or folders to merge into your bank")
    done = _answer({"what": "merge", "paths": [str(path) for path in paths]})
    click.echo(
        f"{_entries(done['added'])} added, {done['replaced']} replaced by faster ones, {done['kept']} kept as they are as fast, "
        f"{done['refused']} left out as no chip here can use them"
    )
    for path in done["written"]:
        click.echo(f"written: {visible(path)}")
    return FAILED if done["unwritten"] else 0


def export_bank(out: Path) -> int:
    """`tf2npu bank export`; returns the exit code."""
    found = _answer({"what": "export"})
    if not found["n_entries"]:
        raise RefusedRequest(f"nothing to export: {_EMPTY[0].lower()}{_EMPTY[1:]}")
    write(out, found["text"], "OUT")
    socs = ", ".join(found["socs"])
    click.echo(
        f"{visible(str(out))}: {_entries(found['n_entries'])} of {socs}; others take what is in it with `tf2npu bank merge`"
    )
    return 0


def require_bank() -> None:
    """Raises: RefusedRequest where the user has no place for a bank."""
    _answer({"what": "folders"})


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """The runtime's answer: it alone knows what an entry costs on a chip.  Raises: RefusedRequest with its reason."""
    chips(DEFAULT_CHIP)  # says why nothing can run here, where that is so
    command = runtime_command("npu_runtime.observers.tuning.programs.bank_process", "serve")
    done = subprocess.run(command, input=json.dumps(request), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RefusedRequest(f"what reads banks ended with exit code {exit_code_of(done.returncode)}")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "problem" in answer:
        raise RefusedRequest(answer["problem"])
    return answer
