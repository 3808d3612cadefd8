"""The command `run`: its options checked, and the script run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from npu_formats.device.chip import chip_names
from npu_formats.files.directory import Directory
from npu_formats.session_options import of_text, why_unknown
from tf2npu.prediction.arguments import chips_named
from tf2npu.refused_request import RefusedRequest


def run(
    words: list[str], *, module: str | None, pairs: tuple[str, ...], report: Path | None, profile_folder: Path | None,
    smoke: int | None = None, smoke_seconds: int = 0, **options,
) -> int:  # fmt: skip
    """`tf2npu run`; returns the script's exit code."""
    if module is None and not words:
        raise RefusedRequest("name a SCRIPT, or a module with -m MODULE")
    if smoke is not None:
        return _smoke(words, module, pairs, smoke, smoke_seconds, report, {**options, "profile_folder": profile_folder})
    is_there = module is not None or Path(words[0]).exists()  # what is not there is told of below, and leaves no folder behind
    settings = {**_profiling(profile_folder if is_there else None), **dict(_key_and_value(pair) for pair in pairs)}
    if options.get("soc") is not None:
        options["soc"] = _chip(options["soc"])
    from tf2npu.launch import pytorch
    from tf2npu.launch.doctor import why_not_run
    from tf2npu.launch.shims import PYTORCH, shim_of_run

    script = None if module is not None else words.pop(0)
    is_for_pytorch = options["frontend"] == "auto" and shim_of_run(module, script) is PYTORCH
    reason = pytorch.why_not_run() if is_for_pytorch else why_not_run()
    if reason:
        raise RefusedRequest(reason)
    from tf2npu.launch.run_script import run_script
    from tf2npu.ranks.launch_request import LaunchRequest

    ranks = LaunchRequest(**{field: options.pop(field) for field in LaunchRequest.__dataclass_fields__})
    return run_script(words, module=module, script=script, options=settings, report=report, ranks=ranks, **options)


def _smoke(
    words: list[str], module: str | None, pairs: tuple[str, ...], steps: int, seconds: int, report: Path | None,
    options: dict[str, Any],
) -> int:  # fmt: skip
    """`tf2npu run --smoke`; returns 0 for a script that was seen to train."""
    if module is not None:
        raise RefusedRequest("--smoke does not go with -m MODULE: name the SCRIPT")
    refused = {
        "--devices": options["devices"] != 1, "--hosts": options["hosts"], "--rank-table": options["rank_table"],
        "--profile": options["profile_folder"], "--frontend": options["frontend"] != "auto",
    }  # fmt: skip
    if found := [name for name, is_given in refused.items() if is_given]:
        raise RefusedRequest(f"--smoke does not go with {found[0]}: it runs a script for TensorFlow 1 on one device")
    given = ["--soc", _chip(options["soc"])] if options["soc"] is not None else []
    given += [word for pair in pairs for word in ("--option", pair)]
    for pair in pairs:
        _key_and_value(pair)
    given += [name for name, is_on in (("--all-sessions", options["all_sessions"]), ("--strict", options["strict"])) if is_on]
    from tf2npu.launch import smoke_entries as smoke

    return smoke.run(words, given, steps, seconds, report)


def _chip(named: str) -> str:
    """The chip that --soc names, spelled as for `predict`."""
    try:
        chips = chips_named(named, chip_names())
    except ValueError as error:
        raise RefusedRequest(f"--soc {named}: {error}") from None
    if len(chips) > 1:
        raise RefusedRequest(f"--soc {named}: a run is on one chip; `tf2npu predict` takes several")
    return chips[0]


def _profiling(folder: Path | None) -> dict[str, Any]:
    """The session options that write a whole profile below a folder, which is made."""
    if folder is None:
        return {}
    try:
        with Directory.given(folder, make=True):
            pass
    except OSError as error:
        raise RefusedRequest(f"--profile {folder}: {error.strerror}; name a folder that can be made") from None
    wanted = dict.fromkeys(("training_trace", "task_trace", "aicpu", "hccl"), "on")
    return {"profiling_mode": True, "profiling_options": json.dumps({"output": str(folder.absolute()), **wanted})}


def _key_and_value(pair: str) -> tuple[str, Any]:
    key, equals, value = pair.partition("=")
    if not equals or not key:
        raise RefusedRequest(f"--option {pair}: write KEY=VALUE")
    reason = why_unknown(key)
    if reason:
        raise RefusedRequest(f"--option {pair}: {reason}")
    try:
        return key, of_text(key, value)
    except ValueError as error:
        raise RefusedRequest(f"--option {pair}: {error}") from None
