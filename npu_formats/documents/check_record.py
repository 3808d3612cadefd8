"""The record of a check: what each run of the script gave, as the process of the migrated script writes it.

The script runs in that process and can write what it likes, so nothing in a record is believed before it has the right shape.
Numbers are finite, or the texts NaN, Infinity and -Infinity, which JSON has no numbers for. Errors are relative, 1 is 100 %.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from npu_formats.files.bounded_read import MB, read_at_most

FORMAT = 1
"""Version of the record; it counts up when a key changes its meaning or goes."""
MOST_RECORD_BYTES = 256 * MB
"""Largest size of a record that is read: 100,000 nodes of ten runs are some 100 MB."""
OUR_FILES = ("check.json", "check.html", "record.json")
"""Names that files of a least change cannot have, as they are those of the check itself."""
_MOST_OF_A_REASON = 160
"""Characters of a reason that are shown: it may hold the wrong value, of any length."""
_TEXTS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Figure(float):
    """A number of a record, which may be NaN or infinite."""


Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A whole number that readers of JSON hold exactly."""
LineNumber = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""Counts from 1; 0 where no line is known."""
ModeName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]{0,60}\Z")]
"""A precision mode; "" for the types of the graph. It becomes part of file names."""
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,60}(\.[A-Za-z0-9]{1,10})\Z")]
"""A name of a file that leads out of no folder."""
Cause = Literal["", "conversion", "kernel", "folding", "fusion", "precision", "overflow", "randomness"]
What = Literal[
    "overflow", "nan", "absorbed", "underflow", "own", "amplifies", "data",
    "parameters", "start", "mode", "forward", "gradient", "setting", "update", "host",
]  # fmt: skip
"""The kind of a difference. Those of the second line are of training steps: other parameters are trained, one begins with other
values, a module is in another mode; the loss, a gradient, a setting of the optimizer or an update is another; nothing is on a
device."""
Framework = Literal["TensorFlow", "PyTorch", "MindSpore"]
RunName = Literal["A", "A'", "B", "C", "D", "E", "F"]


class Failure(Struct, frozen=True):
    """The failure of a run that ended before its steps did, with the node and the line of the script where they are known."""

    type: str
    text: str = ""
    node: str = ""
    file: str = ""
    line: LineNumber = 0


class FirstDifference(Struct, frozen=True):
    """The first node in the order of execution that makes an error of its own.

    error: distance from the original's result.  own_error: distance from what TensorFlow makes of the same inputs.
    input_error: distance of the inputs from the original's.  largest: magnitude of the results as they ought to be.
    limit: the magnitude that they are cut at instead, infinite where they overflow.  cosine: of the inputs and the original's.
    original, here: a setting in the original and in this run.
    """

    node: str
    op: str
    what: What
    dtype: str = ""
    file: str = ""
    line: LineNumber = 0
    step: Count = 0
    error: Figure | None = None
    own_error: Figure | None = None
    input_error: Figure | None = None
    largest: Figure | None = None
    limit: Figure | None = None
    cosine: Figure | None = None
    original: str = ""
    here: str = ""


class LeastChange(Struct, frozen=True):
    """The smallest change that mends a run: from its names nothing can be left out.

    kind: what the names are.  loss, loss_error: of the run with the change.  is_proven: that run was made.  n_tried: runs until
    it was found.  files: the change as the device's options read it, the text of each file by its name.
    """

    kind: Literal["nodes", "types", "passes", "rules"]
    names: Annotated[list[str], Meta(max_length=100_000)]
    loss: list[Figure | None] = []
    loss_error: Figure | None = None
    is_proven: bool = False
    n_tried: Count = 0
    files: Annotated[dict[FileName, str], Meta(max_length=20)] = {}


class Run(Struct, frozen=True):
    """One run.

    loss: of each step.  tolerance, update_tolerance: the distance of losses, and of variables' updates, up to which a run agrees.
    loss_error, update_error: the largest of all steps.  compared, agreeing: numbers of nodes.
    """

    run: RunName
    mode: ModeName = ""
    loss: Annotated[list[Figure | None], Meta(max_length=100_000)] = []
    agrees: bool = False
    tolerance: Figure | None = None
    loss_error: Figure | None = None
    update_error: Figure | None = None
    update_tolerance: Figure | None = None
    compared: Count = 0
    agreeing: Count = 0
    first: FirstDifference | None = None
    cause: Cause = ""
    least_change: LeastChange | None = None
    failure: Failure | None = None

    @property
    def label(self) -> str:
        """The name of the run among the errors of nodes."""
        return f"{self.run} {self.mode}".strip()


class Errors(Struct, frozen=True):
    """A node's errors in a run.  amplification: its error over that of its inputs."""

    error: Figure | None = None
    own_error: Figure | None = None
    amplification: Figure | None = None


class Node(Struct, frozen=True):
    """A tensor of the migrated graph, and its errors by the labels of runs."""

    name: str
    op: str = ""
    file: str = ""
    line: LineNumber = 0
    runs: dict[str, Errors] = {}


class Randomness(Struct, frozen=True):
    """Something that is not the same in each run of the original."""

    why: str
    node: str = ""
    op: str = ""
    file: str = ""
    line: LineNumber = 0


class Record(Struct, frozen=True, kw_only=True):
    """A whole check.

    loss: name of the loss's tensor, "" where none was found.  self_distance: of TensorFlow's losses from its own with other
    threads and kernels.  stopped: why a check that is not complete is not.  nodes: in the order of execution.
    unmatched: tensors of the migrated graph that the original has none for.  framework: of the script; for PyTorch and
    MindSpore a node is a parameter, and an own error that of its gradient.
    """

    format: Literal[1]
    script: str
    runs: Annotated[list[Run], Meta(min_length=1, max_length=100)]
    migrated: str = ""
    steps: Count = 0
    soc: str = ""
    loss: str = ""
    self_distance: Figure | None = None
    randomness: Annotated[list[Randomness], Meta(max_length=100_000)] = []
    is_complete: bool = True
    stopped: str = ""
    nodes: Annotated[list[Node], Meta(max_length=1_000_000)] = []
    unmatched: Count = 0
    framework: Framework = "TensorFlow"


def record_in(path: Path) -> Record:
    """The record in a file.  Raises: OSError; ValueError as `read_record`."""
    try:
        document = json.loads(read_at_most(path, MOST_RECORD_BYTES).decode("utf-8"))
    except RecursionError:
        raise ValueError("it is no record of a check: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is no record of a check: {str(error)[:_MOST_OF_A_REASON]}") from None
    return read_record(document)


def read_record(document: object) -> Record:
    """The record in a parsed JSON document.  Raises: ValueError, which says at which place what is wrong."""
    try:
        record = msgspec.convert(document, Record, dec_hook=figure)
    except msgspec.ValidationError as error:
        reason, at, where = str(error).rpartition(" - at ")
        raise ValueError(f"it is no record of a check: {reason[:_MOST_OF_A_REASON]}{at}{where[:_MOST_OF_A_REASON]}") from None
    except (RecursionError, UnicodeEncodeError):  # half a character where a word of a list is due
        raise ValueError("it is no record of a check: it holds what no text or list of a record is") from None
    _check(record)
    return record


def figure(kind: type, value: Any) -> Figure:
    """The number of a parsed document, for msgspec's dec_hook.  Raises: TypeError, ValueError."""
    if kind is not Figure:
        raise TypeError(f"a record has no {kind.__name__}")
    if isinstance(value, str) and value in _TEXTS:
        return Figure(_TEXTS[value])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("Expected a number, or `NaN`, `Infinity` or `-Infinity`")
    try:
        return Figure(value)
    except OverflowError:
        raise ValueError("Expected a number that 64 bits hold") from None


def _check(record: Record) -> None:
    """Checks what types do not say: run A is first, each run is there once, nodes name no others, no file is the check's own."""
    labels = [run.label for run in record.runs]
    if labels[0] != "A":
        raise ValueError("it is no record of a check: `$.runs[0]` is not run A, the original")
    if len(set(labels)) < len(labels):
        raise ValueError("it is no record of a check: `$.runs` has a run twice")
    for number, node in enumerate(record.nodes):
        if not node.runs.keys() <= set(labels):
            raise ValueError(f"it is no record of a check: `$.nodes[{number}].runs` has a run that `$.runs` does not have")
    for number, run in enumerate(record.runs):
        if run.least_change is not None and set(map(str.lower, run.least_change.files)) & set(OUR_FILES):
            raise ValueError(f"it is no record of a check: `$.runs[{number}].least_change.files` has a name of the check's own")
