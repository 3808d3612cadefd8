"""A PROF_* tree as the document of one step: the one with the median time."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

from tf2npu.prediction.document import Chip, ChipStep, Document, Shares, Task, of_steps
from tf2npu.profiles import steps, tasks
from tf2npu.profiles.steps import Step
from tf2npu.profiles.table import NoProfile, rows
from tf2npu.profiles.tasks import Measured, device_of
from tf2npu.profiles.tree import ProfileTree, opened

_MEMORY = ("mte1", "mte2", "mte3", "fixpipe")
"""Pipes that move data; a task whose busiest pipe is one of them waits for memory."""
_MOST_INFO_BYTES = 1 << 20
"""Bytes of info.json.N that are parsed; it is one line."""


def read_profile(path: Path) -> Document:
    """The document of one profile.  Raises: NoProfile, whose text names the file and says what to do."""
    tree = opened(path)
    try:
        found, files = tasks.read(tree)
        devices = sorted({m.device for m in found}, key=lambda name: (len(name), name))
        made = [_step(tree, [m for m in found if m.device == device], device, len(files)) for device in devices]
    finally:
        tree.folder.close()
    if len(devices) > 1:
        for step, device in zip(made, devices, strict=True):
            step.soc = f"device {device}"
    return of_steps(made, "profile", path.name or str(path))


def _step(tree: ProfileTree, found: list[Measured], device: str, n_files: int) -> ChipStep:
    all_steps = steps.traced(tree, device)
    is_traced = any(steps.within(found, step) for step in all_steps)
    if not is_traced:
        all_steps = steps.repeated(found)
    chosen = steps.typical(all_steps)
    mine = steps.within(found, chosen)
    if not mine:  # the trace is of steps whose tasks were not recorded
        chosen = next(step for step in all_steps if steps.within(found, step))
        mine = steps.within(found, chosen)
    made = ChipStep(chip=_chip(tree, device), step_ms=chosen.us / 1000, tasks=_from_start(mine, chosen))
    made.shares = _shares(made.tasks, chosen.us)
    made.step_ms_range = _range(all_steps)
    made.hbm_bytes = made.chip.hbm_bytes
    made.memory = _memory(tree, chosen, device)
    made.memory_peak_bytes = max((amount for _, amount in made.memory), default=None)
    made.notes = _notes(all_steps, chosen, is_traced, n_files, made)
    return made


def _from_start(found: Sequence[Measured], step: Step) -> list[Task]:
    for measured in found:
        measured.task.start_us = round(measured.task.start_us - step.start, 3)
    return [measured.task for measured in found]


def _range(all_steps: Sequence[Step]) -> tuple[float, float]:
    later = all_steps[1:] if len(all_steps) > 2 else all_steps
    times = [step.us / 1000 for step in later]
    return min(times), max(times)


def _shares(found: Sequence[Task], step_us: float) -> Shares:
    """Parts of the step by what runs; moments at which several tasks run are parted equally among them."""
    parts = dict.fromkeys(("cube", "vector", "memory", "ai_cpu", "waiting"), 0.0)
    borders = sorted({0.0, step_us, *(min(max(m, 0.0), step_us) for task in found for m in (task.start_us, task.end_us))})
    begins = sorted(found, key=lambda task: task.start_us)
    at, running = 0, list[Task]()
    for low, high in itertools.pairwise(borders):
        while at < len(begins) and begins[at].start_us <= low:
            running.append(begins[at])
            at += 1
        running = [task for task in running if task.end_us > low]
        for task in running:
            parts[_part(task)] += (high - low) / len(running)
        parts["waiting"] += 0.0 if running else high - low
    total = sum(parts.values()) or 1.0
    return Shares(**{name: amount / total for name, amount in parts.items()})


def _part(task: Task) -> str:
    if task.engine == "AI CPU":
        return "ai_cpu"
    if task.engine in ("cube", "vector"):
        if task.bound in _MEMORY:
            return "memory"
        return "cube" if (task.bound or task.engine) == "cube" else "vector"
    return "memory" if task.engine == "copy" else "waiting"


def _chip(tree: ProfileTree, device: str) -> Chip:
    """What the profiler noted of the chip."""
    for path in (path for path in tree.files["info"] if not device or path.endswith(f".{device}")):
        try:
            info = json.loads(tree.read(path)[:_MOST_INFO_BYTES])
            facts = info["DeviceInfo"][0]
            cores, mhz = int(facts["ai_core_num"]), float(facts["aic_frequency"])
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            continue  # another release has another form, and the rest of the profile reads without it
        if 0 < cores < 10_000 and 0 < mhz < 1e6:
            return Chip(n_cores=cores, clock_mhz=mhz)
    return Chip()


def _memory(tree: ProfileTree, step: Step, device: str) -> list[tuple[float, float]]:
    """Bytes that the device has given out over the step, from memory_record or npu_mem."""
    for kind, columns in (("memory_record", ("totalallocated",)), ("npu_mem", ("hbm", "memory", "ddr"))):
        found = []
        for path in tree.files[kind]:
            for row in rows(tree.read(path), path):
                moment, amount = row.moment(tree.clock, "timestamp"), row.amount(*columns)
                is_total = kind != "npu_mem" or row.text("event").lower() in ("device", "")
                is_here = (row.text("deviceid") or device_of(path)) in ("", device)
                if moment is not None and amount is not None and amount >= 0 and is_total and is_here:
                    found.append((round(moment - step.start, 3), amount))
        inside = sorted(pair for pair in found if 0 <= pair[0] <= step.us)
        if inside:
            return inside
    return []


def _notes(all_steps: Sequence[Step], chosen: Step, is_traced: bool, n_files: int, made: ChipStep) -> list[str]:
    said = []
    if len(all_steps) > 1:
        said.append(f"Step {chosen.number} of {len(all_steps)} is shown: the one with the median time.")
    if not is_traced and len(all_steps) > 1:
        said.append("The profile has no step trace: a step is told by the tasks that come again.")
    if len(all_steps) == 1 and not is_traced:
        said.append("The profile has no step trace and nothing in it comes again: all of it is shown as one step.")
    if n_files > 1:
        said.append(f"Tasks of {n_files} files are shown together.")
    if not any(task.cycles for task in made.tasks):
        said.append("The profile has no counters of pipes: what a task waits for is told by its engine alone.")
    said.append("A profile does not say how many operations a task does, so there is no roofline and no utilisation.")
    if any(task.engine == "HCCL" for task in made.tasks):
        said.append("The time of tasks between devices counts as waiting where nothing else runs.")
    return said


__all__ = ["NoProfile", "read_profile"]
