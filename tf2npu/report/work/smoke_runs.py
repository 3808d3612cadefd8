"""Smoke runs of entry scripts: whether one was seen to train, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf2npu.report.languages.language import counted


def is_seen(run: Mapping[str, Any]) -> bool:
    """Whether a smoke run has seen its script train.

    That is so where the device has changed a variable in a training step, nothing failed, and the script made all steps that
    were wanted or came to its own end.
    """
    smoke = run.get("smoke")
    if not smoke or run["exit_code"] != 0 or smoke.get("failure") or smoke.get("is_cut") or run.get("changed_files"):
        return False
    return bool(smoke["steps"] > 0)


def seen_to_train(runs: Sequence[Mapping[str, Any]]) -> str:
    """The sentence of the verdict on all smoke runs of a report; "" where there is none."""
    found = [run for run in runs if run.get("smoke")]
    shown = [run for run in found if is_seen(run)]
    if len(found) == 1:
        return seen(found[0]) if shown else not_seen(found[0])
    if not shown:
        return f"Scripts that were seen to train: none of {len(found)}." if found else ""
    return f"Scripts that were seen to train: {len(shown)} of {len(found)}. {seen(shown[0])}"


def seen(run: Mapping[str, Any]) -> str:
    """The sentence on a script that was seen to train."""
    smoke, script = run["smoke"], run["script"]
    steps, date = counted(smoke["steps"], "step"), smoke.get("date", "")
    first, last = smoke.get("first_loss"), smoke.get("last_loss")
    data = "made-up data" if smoke.get("made") else "its own data"
    if first:
        return f"Seen to train: {script} made {steps} on {data}, loss {first} to {last}, on {date}."
    return f"Seen to train: {script} made {steps} on {data} on {date}."


def not_seen(run: Mapping[str, Any]) -> str:
    """The sentence on a script that was not seen to train, and why."""
    script, why = run["script"], reason(run["smoke"], run["exit_code"], bool(run.get("changed_files")))
    if needs := run["smoke"].get("needs"):
        return f"Not seen to train: {script} {why}, and needs {needs[0]}."
    return f"Not seen to train: {script} {why}."


def missing_module(name: str) -> str:
    """The need of a script that imports a module which is not there."""
    return f"the module {name}, which is not installed here"


def missing_argument(name: str) -> str:
    """The need of a script that requires an argument."""
    return f"the argument {name}"


def missing_file(path: str) -> str:
    """The need of a script that opens a file whose form only the script knows."""
    return f"the file {path}, which could not be made up"


def reason(smoke: Mapping[str, Any], code: int, has_changed: bool = False) -> str:
    """The reason that a smoke run is no proof, as the end of a sentence."""
    steps, wanted = smoke["steps"], smoke["wanted"]
    if has_changed:
        return "has changed since its smoke run"
    if smoke.get("is_cut"):
        return f"had made {steps} of {wanted} steps when its time of {smoke['seconds']} s was over"
    if smoke.get("failure"):
        return f"passed over an error before all steps were made: {smoke['failure']}"
    if code:
        return f"ended with exit code {code} after {steps} of {wanted} steps"
    if smoke.get("on_host"):
        return "trained on the host only"
    if smoke.get("without_change"):
        return "made training steps that changed no variable"
    return "ended without a training step on the device"
