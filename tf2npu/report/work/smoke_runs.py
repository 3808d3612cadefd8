"""Smoke runs of entry scripts: whether one was seen to train, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping
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


def seen(run: Mapping[str, Any]) -> str:
    """The sentence on a script that was seen to train."""
    smoke = run["smoke"]
    loss = f", loss {smoke['first_loss']} to {smoke['last_loss']}" if smoke.get("first_loss") else ""
    data = " on made-up data" if smoke.get("made") else ""
    return f"Seen to train: {run['script']} made {counted(smoke['steps'], 'step')}{data} on {smoke['date']}{loss}."


def not_seen(run: Mapping[str, Any]) -> str:
    """The sentence on a script that was not seen to train, and why."""
    smoke = run["smoke"]
    return f"Not seen to train: {run['script']} {reason(smoke, run['exit_code'], bool(run.get('changed_files')))}."


def reason(smoke: Mapping[str, Any], code: int, has_changed: bool = False) -> str:
    """The reason that a smoke run is no proof, as the end of a sentence."""
    made = f"{smoke['steps']} of {counted(smoke['wanted'], 'step')}"
    if has_changed:
        return "has changed since its smoke run"
    if smoke.get("is_cut"):
        return f"had made {made} when its {smoke['seconds']} seconds were over"
    if smoke.get("failure"):
        return f"passed over an error before all steps were made: {smoke['failure']}"
    if code:
        return f"ended with exit code {code} after {made}"
    if smoke.get("on_host"):
        return "trained on the host only"
    if smoke.get("without_change"):
        return "made training steps that changed no variable"
    return "ended without a training step on the device"
