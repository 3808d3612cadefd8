"""The commands `tune` and `bank`: tune the training programs of a script, and show, merge and export the bank."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from npu_formats.environment import TF2NPU_TUNE
from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from npu_formats.files.temporary import temporary_folder
from tf2npu.launch.subprocess import chips, converted_for, orderly_end, run_script
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats.as_text import Line, show

_FAILED = 1
"""Exit code where a script ended before anything was tuned, and said itself that all went well, or where nothing was written."""
_SHOWN = 30
"""Rows of a table of operators: those that gained most. JSON has all."""
_ANY = "Ascend910A"
"""A chip that there is: `chips` says why nothing can run here, where that is so."""
_WIDTH = 24
"""Characters of a name of an operator in a table; longer ones are cut."""


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
    _own_folders(_sharing())
    with orderly_end(), temporary_folder() as folder:
        out = folder / "tuning.json"
        options = ["--soc", named[0], "--devices", str(devices), "--option", f"auto_tune_mode={mode}"]
        variables = {TF2NPU_TUNE: json.dumps({"out": str(out), "steps": steps})}
        code = run_script(script, words[1:], options, variables, converted_for("tune", script, folder))
        found = _document(out, script, code, steps)
    if found is None:
        return code or _FAILED
    _put(found, json_file, _lines(found))
    return 0


def _document(out: Path, script: Path, code: int, steps: int) -> dict[str, Any] | None:
    """The results that the device wrote; None, after a message, where the script ended before that."""
    if not out.exists():
        reason = f"ended with exit code {code} before {steps} steps of its training graph ran on the device: not all is tuned"
        click.echo(f"tf2npu tune: {visible(str(script))} {reason}", err=True)
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
        f"step untuned, {after:.{digits}f} us tuned ({_percent(before, after)})"
    )
    late = [f"  {program['late']} operators were out of time and keep what they had"] if program["late"] else []
    rows = [
        f"  {op['op_type'][:_WIDTH]:{_WIDTH}} {op['count']:4} x {op['default_us']:10.2f} -> {op['us']:10.2f} us "
        f"{_percent(op['default_us'], op['us']):>7}  {op['compiled_with']:6} {op['name']}"
        for op in chosen[:_SHOWN]
    ]
    return [head, *late, *rows, *_rest(len(chosen))]


def _is_better(op: dict[str, Any]) -> bool:
    """Whether tuning gained as much of an operator as its row would show."""
    return op["compiled_with"] == "tuned" and _percent(op["default_us"], op["us"]) not in ("0.00%", "-0.00%")


def _rest(n_rows: int) -> list[str]:
    return [f"  and {n_rows - _SHOWN} more, which --json has"] if n_rows > _SHOWN else []


def _percent(before: float, after: float) -> str:
    return f"{100 * (before - after) / before:.2f}%" if before else "0.00%"


def _put(document: Any, json_file: Path | None, lines: list[str]) -> None:
    """The text on stdout, JSON into a file; - for JSON on stdout instead."""
    if json_file != Path("-"):
        show(map(Line, lines), sys.stdout)
    text = json.dumps(document, indent=1, sort_keys=True) + "\n"
    if json_file == Path("-"):
        click.echo(text, nl=False)
    elif json_file is not None:
        _write(json_file, text, "--json")


def _write(path: Path, text: str, what: str) -> None:
    from npu_formats.files.directory import Directory
    from npu_formats.files.draft import put_whole

    try:
        with Directory.given(path.parent) as folder:
            put_whole(folder, path.name, [text])
    except OSError as error:
        raise RefusedRequest(f"{what} {path}: cannot be written: {error.strerror or error}") from None


def _sharing() -> Any:
    """The device's side of banks."""
    chips(_ANY)
    return importlib.import_module("npu_runtime.observers.tuning.programs.sharing")


def show_bank(path: Path | None, json_file: Path | None) -> int:
    """`tf2npu bank show`; returns the exit code."""
    sharing = _sharing()
    if path is not None and path.is_file() and path.name.startswith("tune_result"):
        return _show_result(path, json_file)
    banks = _loaded(path) if path is not None else _own(sharing)
    rows = sharing.rows(banks)
    _put(rows, json_file, [*map(_bank_line, rows), f"{len(rows)} entries" if rows else _EMPTY])
    return 0


_EMPTY = "The bank is empty: `tf2npu tune SCRIPT` fills it."


def _bank_line(row: dict[str, Any]) -> str:
    record = row["record"]
    sides = "x".join(str(record[name]) for name in ("baseM", "baseN", "baseK") if name in record)
    shapes = " ".join("x".join(map(str, shape)) or "scalar" for shape, *_ in row["inputs"])
    if row["us"] is None:
        return f"{row['soc']} {row['op_type'][:_WIDTH]:{_WIDTH}} not usable with this release  {shapes}"
    gain = _percent(row["default_us"], row["us"])
    return f"{row['soc']} {row['op_type'][:_WIDTH]:{_WIDTH}} {row['us']:10.2f} us {gain:>7}  {sides:12} {shapes}"


def _show_result(path: Path, json_file: Path | None) -> int:
    results = importlib.import_module("npu_runtime.observers.tuning.programs.result_files")
    try:
        found = results.read_tune_result(read_at_most(path, MOST_REPORT_BYTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise RefusedRequest(f"{path}: cannot be read: {reason}") from None
    rows = [
        {"operators": one.operators, "before_us": one.before_us, "after_us": one.after_us, **one.flags, "ticks": one.ticks}
        for one in found
    ]
    _put(rows, json_file, [*map(_result_line, rows), f"{len(rows)} entries"])
    return 0


def _result_line(row: dict[str, Any]) -> str:
    flags = ", ".join(name.removeprefix("bank_") for name in _FLAGS if row[name]) or "not tuned"
    times = "" if row["after_us"] is None else f"{row['before_us']:8} -> {row['after_us']:8} us"
    names = " and ".join(" ".join(members) for members in row["operators"])
    return f"{times:24} {flags:14} {names}"


_FLAGS = ("bank_append", "bank_hit", "bank_reserved", "bank_update")


def _own(sharing: Any) -> dict[str, Any]:
    """The entries of the custom banks, by chip."""
    banks = {}
    for soc, folder in _own_folders(sharing).items():
        if (folder / f"{soc}_operators.json").exists():
            banks.update(_loaded(folder / f"{soc}_operators.json"))
    return banks


def _own_folders(sharing: Any) -> dict[str, Path]:
    """The folder of each chip's custom bank.  Raises: RefusedRequest where the user has none."""
    try:
        folders: dict[str, Path] = sharing.own_banks()
    except sharing.NoBank as problem:
        raise RefusedRequest(str(problem)) from None
    return folders


def _loaded(path: Path) -> dict[str, Any]:
    sharing = _sharing()
    try:
        banks: dict[str, Any] = sharing.load(path)
    except sharing.NoBank as problem:
        raise RefusedRequest(str(problem)) from None
    return banks


def merge_banks(paths: Sequence[Path]) -> int:
    """`tf2npu bank merge`; returns the exit code."""
    if not paths:
        raise RefusedRequest("name the files or folders to merge into your bank")
    sharing = _sharing()
    done = sharing.merge([_loaded(path) for path in paths], _own_folders(sharing), lambda line: click.echo(line, err=True))
    click.echo(
        f"{done.added} entries added, {done.replaced} replaced by faster ones, {done.kept} kept as they are as fast, "
        f"{done.refused} left out as no chip here can use them"
    )
    for path in done.written:
        click.echo(f"written: {visible(str(path))}")
    return _FAILED if done.unwritten else 0


def export_bank(out: Path) -> int:
    """`tf2npu bank export`; returns the exit code."""
    sharing = _sharing()
    banks = _own(sharing)
    n_entries = sum(map(len, banks.values()))
    if not n_entries:
        raise RefusedRequest(f"nothing to export: {_EMPTY[0].lower()}{_EMPTY[1:]}")
    _write(out, sharing.export(banks), "OUT")
    socs = ", ".join(sorted(banks))
    click.echo(f"{n_entries} entries of {socs} are in {visible(str(out))}; others take them with `tf2npu bank merge`")
    return 0
