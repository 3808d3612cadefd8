"""The rows of one dump beside another: operators by the names of their files, in the order in which they ran.

Source: the behaviour of msaccucmp without a graph file; the reasons in the table are its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tf2npu.comparison.metrics import NOT_COMPUTED
from tf2npu.comparison.rows import Row
from tf2npu.comparison.tensors.folder import TensorFile, TensorFolder
from tf2npu.comparison.tensors.layouts import Beside, NotComparable, restored
from tf2npu.comparison.tensors.stored_tensor import StoredOperator, StoredTensor, read_dump_file
from tf2npu.comparison.unreadable import Unreadable, told

Measure = Callable[[Row, Beside, tuple[StoredTensor, StoredTensor]], None]
"""Fills the figures of a row."""


@dataclass
class DumpPairing:
    """The rows of two dumps.  unreadable: gathered, each once."""

    dump: TensorFolder
    reference: TensorFolder
    measure: Measure
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._own, self._other = (self._in_order(folder) for folder in (self.dump, self.reference))
        self._keys = [*self._own, *(key for key in self._other if key not in self._own)]

    def n_groups(self) -> int:
        """The number of operators: those of the device in the order in which they ran, then those that only the reference has."""
        return len(self._keys)

    def n_bytes(self, index: int) -> int:
        """Bytes of the device's dump file of an operator."""
        file = self._own.get(self._keys[index])
        return file.size_bytes() if file is not None else 0

    def group_rows(self, index: int) -> list[Row]:
        """The rows of an operator."""
        key = self._keys[index]
        if key not in self._other:
            return [_alone(index, key, (key, "*"), "ground truth")]
        if key not in self._own:
            return [_alone(index, key, ("*", key), "my output")]
        return list(self._of_both(index, key, self._own[key], self._other[key]))

    @staticmethod
    def _in_order(folder: TensorFolder) -> dict[str, TensorFile]:
        latest = {key: files[-1] for key, files in folder.files.items()}
        return dict(sorted(latest.items(), key=lambda item: item[1].timestamp))

    def _of_both(self, index: int, key: str, device: TensorFile, reference: TensorFile) -> Iterator[Row]:
        try:
            one, other = read_dump_file(device.path), read_dump_file(reference.path)
        except Unreadable as error:
            self.unreadable.setdefault(str(error.path), error)
            row = Row(index, NOT_COMPUTED, key, key, operator=key, order=index)
            row.why = str(error)
            yield row
            return
        problems, rows = [], []
        for side in ("input", "output"):
            pairs = list(zip(*_sides(one, other, side), strict=False))
            problem = _problem(key, side, *_sides(one, other, side))
            problems += [problem] if problem else []
            rows += [] if problem else [self._row(index, key, device, f"{key}:{side}:{n}", pair) for n, pair in enumerate(pairs)]
        for row in rows:
            row.why = row.why or ("" if row.verdict else "".join(problems))
        if not rows:
            rows = [Row(index, NOT_COMPUTED, key, key, reason=",".join(problems), operator=key, order=index)]
            rows[0].why = "; ".join(problems)
        yield from rows

    def _row(self, index: int, key: str, file: TensorFile, tensor: str, pair: tuple[StoredTensor, StoredTensor]) -> Row:
        device, reference = pair
        row = Row(index, file.op_type, key, key, tensor=tensor, operator=key, order=index)
        row.device_type, row.reference_type = device.dtype.name, reference.dtype.name
        row.shape = f"[{','.join(map(str, device.shape))}]"
        row.device_address, row.reference_address = (str(side.address) if side.address else NOT_COMPUTED for side in pair)
        try:
            row.beside, row.extents = partial(_beside, *pair), device.shape
            self.measure(row, row.beside(), pair)
        except NotComparable as error:
            row.reason, row.why = error.text, error.why
        except (Unreadable, MemoryError) as error:
            found = told(error, device.path)
            self.unreadable.setdefault(str(found.path), found)
            row.why = str(found)
        return row


def _sides(one: StoredOperator, other: StoredOperator, side: str) -> tuple[tuple[StoredTensor, ...], tuple[StoredTensor, ...]]:
    return (one.inputs, other.inputs) if side == "input" else (one.outputs, other.outputs)


def _problem(key: str, side: str, device: tuple[StoredTensor, ...], reference: tuple[StoredTensor, ...]) -> str:
    """The reason why a side is left out, "" where it is compared."""
    if len(device) != len(reference):
        return f"[{key}] The number of {side} does not match ({len(device)} vs {len(reference)})."
    if not device:
        return f"[{key}] There is no {side}. Skip the {key}:{side}."
    for n, (one, other) in enumerate(zip(device, reference, strict=True)):
        if one.shape != other.shape:
            shapes = " vs ".join(f"({', '.join(map(str, shape))})" for shape in (one.shape, other.shape))
            return f"[{key}] The shape does not match ({shapes}) for {key}:{side}:{n}."
    return ""


def _alone(index: int, key: str, names: tuple[str, str], missing: str) -> Row:
    reason = f'[{key}] There is no the {missing} dump file for the op "{key}".'
    row = Row(index, NOT_COMPUTED, *names, reason=reason, operator=key, order=index)
    row.why = reason
    return row


def _beside(device: StoredTensor, reference: StoredTensor) -> Beside:
    x, y = (_numbers(restored(side)) for side in (device, reference))
    if x.size != y.size:
        raise NotComparable("", f"{x.size} elements on the device, {y.size} in the reference")
    return Beside(x, y, device.shape)


def _numbers(array: np.ndarray) -> np.ndarray:
    """Booleans as numbers: without a graph file the vendor's program knows no others."""
    flat = array.reshape(-1)
    return flat.astype(np.float32) if flat.dtype == np.bool_ else flat
