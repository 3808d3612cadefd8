"""The files of one step: names, times, and the treatment of a step whose folder or disk fails."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from npu_formats.vendor.dump_file import ND, NHWC, header_bytes, pieces
from npu_runtime.log import tell_once
from npu_runtime.observers.dump.operators import Operator, Tensor
from npu_runtime.observers.dump.step_folder import StepFolder
from npu_runtime.observers.dump.writer import WRITER

_SPECIAL = re.compile(r"[./\\ ]")
"""Signs that become "_" in the parts of a name.  Source: the documents of the data dump."""
Array = tuple[np.ndarray, int]
"""A tensor and the number of its format."""


class _Clock:
    """Microseconds since 1970, each later than the one before: readers take the largest for the last."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def now(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last


_CLOCK = _Clock()


class StepOutput:
    """The files of one step.  root: the folder that the user gave.  parts: of the path below it."""

    def __init__(self, root: Path, parts: Sequence[str]) -> None:
        self._root, self._parts = root, tuple(parts)
        self._folder: StepFolder | None = None
        self._has_failed = False
        self.n_files = self.n_bytes = 0

    @property
    def path(self) -> Path:
        """Path of the folder."""
        return self._root.joinpath(*self._parts)

    def put_tensors(self, operator: Operator, inputs: Sequence[Array], outputs: Sequence[Array], prefix: str = "") -> int:
        """Queue the file of an operator.  Returns: its time, microseconds.  The arrays must not change any more."""
        now = _CLOCK.now()
        arrays = [array for array, _ in (*inputs, *outputs)]

        def parts() -> Iterable[bytes | memoryview]:
            yield header_bytes(operator.name, now, inputs, outputs)
            yield from pieces(arrays)

        self._put(prefix + file_name(operator, now), parts, _digits(operator, now), sum(array.nbytes for array in arrays))
        return now

    def put_table(self, operator: Operator, content: bytes) -> None:
        """Queue the statistics of an operator."""
        now = _CLOCK.now()
        self._put(f"{file_name(operator, now)}.csv", lambda: [content], f"{_digits(operator, now)}.csv", len(content))

    def put_debug(self, operator: Operator, now: int, table: np.ndarray) -> None:
        """Queue the table of an overflow.  now: of the dump file that goes with it."""
        name = f"Opdebug.Node_OpDebug.{operator.task_id}.{operator.stream_id}.{now}"
        self._put(name, lambda: [header_bytes("Node_OpDebug", now, [], [(table, ND)]), *pieces([table])], "", table.nbytes)

    def _put(self, name: str, parts: Callable[[], Iterable[bytes | memoryview]], digits: str, n_bytes: int) -> None:
        WRITER.put(lambda: self._write(name, parts, digits), n_bytes)

    def _write(self, name: str, parts: Callable[[], Iterable[bytes | memoryview]], digits: str) -> None:
        """Write a file, on the writer's thread."""
        if self._has_failed:
            return
        try:
            if self._folder is None:
                self._folder = StepFolder(self._root, self._parts)
            self.n_bytes += self._folder.put(name, parts(), digits)
            self.n_files += 1
        except OSError as problem:
            self._has_failed = True
            why = problem.strerror or problem
            tell_once(f"Data dump: {self._root}: {why}; the rest of a step is left out, and later steps are tried again")

    def end(self) -> None:
        """No file comes any more."""
        WRITER.put(self._close, 0)

    def _close(self) -> None:
        if self._folder is not None:
            self._folder.close()
            self._folder = None


def file_name(operator: Operator, now: int) -> str:
    """{type}.{name}.{task}.{stream}.{time}"""
    kind, name = (_SPECIAL.sub("_", text) for text in (operator.type, operator.name))
    return f"{kind}.{name}.{operator.task_id}.{operator.stream_id}.{now}"


def _digits(operator: Operator, now: int) -> str:
    """The digits that stand for a name that is too long; the time tells them from all others."""
    return f"{now}{operator.task_id:05d}"


def format_of(tensor: Tensor, array: np.ndarray) -> int:
    """The number of the format in which a tensor lies."""
    return NHWC if tensor.has_images and array.ndim == 4 else ND
