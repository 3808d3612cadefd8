"""The steps of the original: values in numpy's archives, and what is known of nodes, in a folder of the check's own."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from npu_bridge._check.tensor_file import TensorFile

from npu_formats.files.directory import Directory
from npu_formats.files.draft import replacing

_PARTS = ("sources", "before", "tensors", "after")
_FACTS = "original.json"


Values = Mapping[str, np.ndarray]


@dataclass
class StepValues:
    """Values of one training step, by name: its feeds, its variables before and after, its tensors; the name of its loss."""

    sources: Values = field(default_factory=dict)
    before: Values = field(default_factory=dict)
    tensors: Values = field(default_factory=dict)
    after: Values = field(default_factory=dict)
    loss: str = ""

    @property
    def loss_value(self) -> float | None:
        return loss_in(self.tensors, self.loss)


class StoredValues(Values):
    """Values of a step that are read when they are asked for. A check of a large model has no memory for them all.

    read: gives a value of the archive.  numbers: of the values there, by name.
    """

    def __init__(self, read: Callable[[int], np.ndarray], numbers: Mapping[str, int]) -> None:
        self._read, self._numbers = read, numbers

    def __getitem__(self, name: str) -> np.ndarray:
        return self._read(self._numbers[name])

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class PartlyHeld(Values):
    """Values of which some are held in memory, and the others are left with those who know them.

    held: in memory.  others: looked at for the names of `names` that are not held.
    """

    def __init__(self, held: Values, others: Values, names: Iterable[str]) -> None:
        self._held, self._others = held, others
        self._names = dict.fromkeys([*held, *names])

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        return self._held[name] if name in self._held else self._others[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def loss_in(tensors: Mapping[str, np.ndarray], name: str) -> float | None:
    """The value of a loss, the mean where it has one for each example; None where it is not known."""
    return float(np.mean(tensors[name].astype(np.float64))) if name in tensors else None


@dataclass
class OriginalFacts:
    """loss: name of the first step's tensor.  nodes: op, place in the source and names of inputs, by
    name, in order.  updates: the operation that changes a variable, by its name.  losses: of each step.
    left_out: tensors of a step that are not kept.
    attributes: of those that change variables, by their names.
    not_finite: the first tensor that has a NaN or an infinity where a loss has, and the number of its step.
    """

    loss: str = ""
    nodes: dict[str, list[str]] = field(default_factory=dict)
    updates: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    steps: int = 0
    left_out: int = 0
    losses: list[float | None] = field(default_factory=list)
    not_finite: list[str] = field(default_factory=list)


class StoredSteps:
    """folder: of the check's own, which nobody else can write into."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: tuple[int, Any] | None = None  # the archive of the step that was read last

    def put(self, step: int, values: StepValues) -> None:
        """Store one step."""
        names: list[list[str]] = []
        with (
            Directory.given(self._folder) as folder, replacing(folder, f"{step}.npz") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive,
        ):  # fmt: skip
            for part in _PARTS:
                for name, array in getattr(values, part).items():
                    with archive.open(f"a{len(names)}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, _storable(array), allow_pickle=False)
                    names.append([part, name, array.dtype.name])
        self.put_document(f"{step}.json", {"loss": values.loss, "names": names})

    def get(self, step: int) -> StepValues:
        """The values of a step, each read when it is asked for.  Raises: OSError for a step that is not there."""
        known = json.loads((self._folder / f"{step}.json").read_text())
        names: dict[str, dict[str, int]] = {part: {} for part in _PARTS}
        for number, (part, name, _) in enumerate(known["names"]):
            names[part][name] = number
        types = [dtype for _, _, dtype in known["names"]]
        read = partial(self._read, step, types)
        return StepValues(**{part: StoredValues(read, numbers) for part, numbers in names.items()}, loss=known["loss"])

    def _read(self, step: int, types: Sequence[str], number: int) -> np.ndarray:
        if self._opened is None or self._opened[0] != step:
            if self._opened is not None:
                self._opened[1].close()
            self._opened = step, np.load(self._folder / f"{step}.npz", allow_pickle=False)
        return _restored(self._opened[1][f"a{number}"], types[number])

    def tensor_file(self, name: str) -> TensorFile:
        """A file for the tensors of a step that this process makes."""
        return TensorFile(self._folder, f"{os.getpid()}_{name}.tensors")

    def put_facts(self, facts: OriginalFacts) -> None:
        """Store what holds for all steps."""
        self.put_document(_FACTS, facts.__dict__)

    def facts(self) -> OriginalFacts:
        return OriginalFacts(**json.loads((self._folder / _FACTS).read_text()))

    def put_document(self, name: str, document: Any) -> None:
        """Store a JSON document, whole or not at all."""
        with Directory.given(self._folder) as folder, replacing(folder, name) as stream:
            stream.write(json.dumps(document).encode())

    def document(self, name: str) -> Any:
        """A JSON document; None where there is none."""
        path = self._folder / name
        return json.loads(path.read_text()) if path.exists() else None


def _storable(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array  # archives know no such type


def _restored(array: np.ndarray, dtype: str) -> np.ndarray:
    if dtype != "bfloat16":
        return array
    import ml_dtypes

    return array.astype(ml_dtypes.bfloat16)
