"""A PROF_* tree as the document of one step: the one with the median time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from npu_formats.documents.prediction import ChipStep, Document, Task, of_steps
from tf2npu.profiles import steps, tasks
from tf2npu.profiles.chip_info import chip_of
from tf2npu.profiles.csv_reader import NoProfile, rows
from tf2npu.profiles.shares import shares_of
from tf2npu.profiles.steps import Step
from tf2npu.profiles.tasks import Measured, device_of
from tf2npu.profiles.tree import MOST_PROFILES, ProfileTree, opened


def read_profile(path: Path) -> Document:
    """The document of one profile.  Raises: NoProfile, whose text names the file and says what to do."""
    tree = opened(path)
    try:
        found, files = tasks.read(tree)
        by_device = _by_device(found, path)
        made = [_step(tree, mine, device, len(files)) for device, mine in by_device.items()]
    finally:
        tree.folder.close()
    if len(made) > 1:
        for step, device in zip(made, by_device, strict=True):
            step.soc = f"{step.soc}, device {device}" if step.soc else f"device {device}"
    return of_steps(made, "profile", path.name or str(path))


def _by_device(found: Sequence[Measured], path: Path) -> dict[str, list[Measured]]:
    """The tasks of each device, which has a page of its own.  Raises: NoProfile where there are too many."""
    parted: dict[str, list[Measured]] = {}
    for measured in found:
        parted.setdefault(measured.device, []).append(measured)
    if len(parted) > MOST_PROFILES:
        raise NoProfile(
            f"{path}: its tasks name {len(parted)} devices, more than the {MOST_PROFILES} that are shown together: "
            "is the column Device_id damaged?"
        )
    return {name: parted[name] for name in sorted(parted, key=lambda name: (len(name), name))}


def _step(tree: ProfileTree, found: list[Measured], device: str, n_files: int) -> ChipStep:
    all_steps = steps.traced(tree, device, found)
    with_tasks = steps.with_tasks(all_steps, found)
    is_traced = bool(with_tasks)
    if not is_traced:
        all_steps = with_tasks = steps.repeated(found)
    chosen = steps.typical(all_steps)
    mine = steps.within(found, chosen)
    if not mine:  # the trace is of steps whose tasks were not recorded
        chosen = with_tasks[0]
        mine = steps.within(found, chosen)
    soc, chip = chip_of(tree, device)
    made = ChipStep(soc=soc, chip=chip, step_ms=chosen.us / 1000, tasks=_from_start(mine, chosen))
    made.shares = shares_of(mine, chosen)
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
    if chosen.others_us:
        said.append(f"Other graphs run between the steps: they took {chosen.others_us:.0f} us before this one, beside its time.")
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
