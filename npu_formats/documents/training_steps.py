"""The training steps of a PyTorch script under check, as its process writes them: a line of JSON for each step of an optimizer.

The script runs in that process and can write what it likes, so no line is believed before it has the right shape.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from npu_formats.documents.check_record import Count, Failure, Figure, LineNumber, figure
from npu_formats.files.bounded_read import MB, read_at_most

MOST_BYTES = 256 * MB
"""Largest file of steps that is read: a network of 1000 parameters has 1 MB a step."""
BUCKETS = 16
"""Numbers of a sketch: its distance from another is that of the tensors, by a quarter more or less."""

Sketch = Annotated[list[Figure], Meta(min_length=BUCKETS, max_length=BUCKETS)]
"""Sums over a tensor's elements, each taken with a sign that is drawn once for all tensors of its size.

The sketch of a difference is the difference of the sketches, and its norm is about that of the tensor.
"""


class ParameterStep(Struct, frozen=True):
    """A parameter in a step.  before, after: its values around the update.  gradient: None where the step had none."""

    name: str
    dtype: str
    device: str
    before: Sketch
    after: Sketch
    gradient: Sketch | None = None


class TrainingStep(Struct, frozen=True):
    """A step of an optimizer.

    loss: the last scalar that backward was called for since the step before, unscaled; None for none.
    asks_device: the script has asked for a device of CUDA or of the NPU before, which the CPU stands for in this run.
    is_half: 16 bits took part, by autocast or by the types of parameters.  groups: the settings of each group of parameters, as
    Python writes them.  in_eval: modules of the network that are in eval().  file, line: of the call of step();
    backward_line: of that of backward, in backward_file.  left_out: steps before it that a GradScaler did not make.
    """

    optimizer: str
    parameters: Annotated[list[ParameterStep], Meta(max_length=1_000_000)]
    groups: list[dict[str, str]]
    in_eval: list[str] = []
    loss: Figure | None = None
    is_half: bool = False
    left_out: Count = 0
    asks_device: bool = False
    file: str = ""
    line: LineNumber = 0
    backward_file: str = ""
    backward_line: LineNumber = 0


class Ending(Struct, frozen=True):
    """The end of the script before its steps were all made.  n_backward: calls of backward since the last step.

    left_out: steps that a GradScaler did not make since then, as gradients were infinite.
    """

    n_backward: Count = 0
    left_out: Count = 0
    failure: Failure | None = None


class Steps(Struct, frozen=True):
    """All that a process has written.  ending: None for one that made all its steps, or that was killed."""

    steps: list[TrainingStep]
    ending: Ending | None = None


class _Line(Struct, frozen=True):
    step: TrainingStep | None = None
    ending: Ending | None = None


def steps_in(path: Path) -> Steps:
    """The steps in a file; none for a file that is not there.  A last line that a kill has cut is left out.

    Raises: OSError; ValueError, which says what is wrong.
    """
    try:
        text = read_at_most(path, MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return Steps([])
    lines = [_line(line) for line in text.split("\n")[:-1]]
    endings = [line.ending for line in lines if line.ending is not None]
    return Steps([line.step for line in lines if line.step is not None], endings[-1] if endings else None)


def _line(text: str) -> _Line:
    try:
        document: Any = json.loads(text)
        return msgspec.convert(document, _Line, dec_hook=figure)
    except (RecursionError, ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"it is no line of training steps: {str(error)[:160]}") from None
