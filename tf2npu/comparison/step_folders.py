"""Finds the steps below a folder: those of a dump, TIME/DEVICE/MODEL/ID/STEP, and those of a reference, STEP.

What is taken where several are found is told.  Links are not followed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from npu_formats.whole_number import whole_number
from tf2npu.comparison.tensors.folder import has_tensor_files, operators_in
from tf2npu.comparison.unreadable import Unreadable

_DEEPEST = 12
"""Folders below the given one that are looked into: a precision_data folder has nine."""
_MOST_FOLDERS = 200_000
"""Folders that are looked into: 1,000 steps of 200 models."""
_TIME = re.compile(r"\d{14}")


@dataclass(frozen=True)
class StepFolder:
    """The folder of a step.  kind: `dump` or `npy`.  time, device, model: "" where the path does not say.  step: -1 likewise."""

    path: Path
    kind: str
    time: str
    device: str
    model: str
    step: int
    n_files: int


def steps_below(path: Path) -> list[StepFolder]:
    """The steps in and below a folder, in the order of their paths.  Raises: Unreadable."""
    if not path.is_dir():
        raise Unreadable(path, "there is no such folder" if not path.exists() else "this is no folder")
    return list(_walk(path.resolve(), 0, [_MOST_FOLDERS]))


def _walk(path: Path, depth: int, left: list[int]) -> Iterator[StepFolder]:
    left[0] -= 1
    if left[0] < 0:
        raise Unreadable(path, f"more than {_MOST_FOLDERS} folders: give a folder further down")
    try:
        with os.scandir(path) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries if not entry.name.startswith(".")]
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    files = [name for name, is_folder in found if not is_folder]
    digits = [name for name in files if name.removesuffix(".npy").isdigit()]
    if digits or has_tensor_files(files):
        yield _step(path, files)
    if depth < _DEEPEST:
        for name in sorted(name for name, is_folder in found if is_folder):
            yield from _walk(path / name, depth + 1, left)


def _step(path: Path, files: list[str]) -> StepFolder:
    kind = "npy" if any(name.endswith(".npy") for name in files) else "dump"
    parts = path.parts
    if kind == "dump" and len(parts) >= 5 and _TIME.fullmatch(parts[-5]) and parts[-1].isdigit():
        return StepFolder(path, kind, parts[-5], parts[-4], parts[-3], _number(parts[-1]), len(files))
    return StepFolder(path, kind, "", "", "", _number(parts[-1]), len(files))


def _number(text: str) -> int:
    number = whole_number(text)
    return -1 if number is None else number


class NoStep(Exception):
    """The step that the user asked for is not there, or the folders are swapped; the text says what to name."""


@dataclass(frozen=True)
class Chosen:
    """The two steps that are compared.  notes: what was taken of several, a sentence each."""

    dump: StepFolder
    reference: StepFolder
    notes: list[str]


def choose(dump: Path, reference: Path, step: int | None) -> Chosen:
    """The steps of a dump and of its reference that belong together.

    step: the number that the user asked for; else the first that both have.  Raises: Unreadable where there is none; NoStep.
    """
    notes: list[str] = []
    others = steps_below(reference)
    tensors = _outermost([found for found in others if found.kind == "npy"])
    given = steps_below(dump)
    every = [found for found in given if found.kind == "dump"]
    if given and not every and others and not tensors:
        raise NoStep(f"{dump} holds npy files and {reference} a dump: they look swapped, name the dump first, then the reference")
    own = every if step is None else [found for found in every if found.step == step]  # of whatever model has it
    if every and not own:
        raise NoStep(f"{dump}: there is no step {step}; it has {_numbers(every)}")
    if tensors:
        own = _of_one_model(own, dump, notes, lambda found: _most_alike(found, tensors[0]))
    elif others:
        own = _of_one_model(own, dump, notes, _most_files)
        tensors = _of_one_model(others, reference, notes, lambda found: _same_or_most_files(found, own[0].model))
    else:
        raise Unreadable(reference, "no tensors of a reference are in or below it: neither npy files nor dump files")
    pairs = [(one, other) for one in own for other in tensors if one.step == other.step]
    if not pairs and (len(tensors) == 1 or all(found.step < 0 for found in tensors)):
        pairs = [(own[0], tensors[0])]
    if not pairs:
        raise Unreadable(reference, f"no step of the dump ({_numbers(own)}) is in the reference ({_numbers(tensors)})")
    if len(own) > 1:
        notes.append(f"Step {pairs[0][0].step} is compared, of {_numbers(own)}.")
    return Chosen(*pairs[0], notes)


def _outermost(found: list[StepFolder]) -> list[StepFolder]:
    """The steps that lie together nearest to the given folder: those of the graph that trains; other graphs lie further down."""
    if not found:
        return []
    parent = min((one.path.parent for one in found), key=lambda path: (len(path.parts), path))
    return [one for one in found if one.path.parent == parent]


def _of_one_model(
    found: list[StepFolder], path: Path, notes: list[str], model_of: Callable[[list[StepFolder]], str]
) -> list[StepFolder]:
    """The steps of the newest time, the first device and one model, in the order of their numbers."""
    if not found:
        raise Unreadable(path, "no dump files are in or below it")
    for name, choice in (("time", _newest), ("device", _first), ("model", model_of)):
        values = {getattr(one, name) for one in found}
        if len(values) > 1:
            taken = choice(found)
            notes.append(f"Of {len(values)} {name}s in {path} {taken} is taken.")
            found = [one for one in found if getattr(one, name) == taken]
    return sorted(found, key=lambda one: (one.step, one.path))


def _newest(found: list[StepFolder]) -> str:
    return max(one.time for one in found)


def _first(found: list[StepFolder]) -> str:
    return min((one.device for one in found), key=lambda text: (len(text), text))


def _most_alike(found: list[StepFolder], reference: StepFolder) -> str:
    """The model that has the operators of the reference, and few others."""
    wanted = operators_in(reference.path)

    def likeness(one: StepFolder) -> tuple[float, str]:
        own = operators_in(one.path)
        return len(own & wanted) / len(own | wanted), one.model

    return max(found, key=likeness).model


def _same_or_most_files(found: list[StepFolder], model: str) -> str:
    return model if any(one.model == model for one in found) else _most_files(found)


def _most_files(found: list[StepFolder]) -> str:
    """The model of training: its graph has the forward and the backward part; of several the one with most steps."""
    counts = Counter(one.model for one in found)
    most = {model: max(one.n_files for one in found if one.model == model) for model in counts}
    return max(most, key=lambda model: (most[model], counts[model], model))


def _numbers(found: list[StepFolder]) -> str:
    numbers = sorted({one.step for one in found})
    return ", ".join(map(str, numbers[:20])) + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")
