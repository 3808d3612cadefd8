"""The record of a simulated device: tasks with their times, in iterations of models, as profiling and prediction tell it.

All times are microseconds of the simulated clock since the device was opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npu_runtime.cost.task_cost import TaskCost


@dataclass(frozen=True, slots=True)
class TensorDescription:
    """A tensor at the door of a task.  shape: extents as the device stores it.  dtype: TensorFlow's name.  format: the
    device's, such as "ND", "NHWC", "NC1HWC0", "FRACTAL_NZ".
    """

    shape: tuple[int, ...]
    dtype: str
    format: str = "ND"


@dataclass(frozen=True, slots=True)
class DeviceTask:
    """A task of a compiled model, the same in every iteration.

    name: of a fused task the members' names one after another.  op_type: the device's operator.  members: names of the nodes
    of the user's graph.  source: "file:line" of the script that made the first of them, "" if unknown.  stream: number.
    task_id: number within the model.  task_type: "AI_CORE", "AI_VECTOR_CORE", "AI_CPU", "COMMUNICATION" or "MEMCPY_ASYNC".
    is_dynamic: whether shapes are known only at run time.
    """

    name: str
    op_type: str
    task_type: str
    stream: int
    task_id: int
    cost: TaskCost
    members: tuple[str, ...] = ()
    source: str = ""
    inputs: tuple[TensorDescription, ...] = ()
    outputs: tuple[TensorDescription, ...] = ()
    is_dynamic: bool = False


@dataclass(frozen=True, slots=True)
class TaskRun:
    """Execution of a task: start and end in microseconds.  count: how often, one behind the other, in turns of a loop that are
    not told one by one.
    """

    task: DeviceTask
    start: float
    end: float
    count: int = 1


@dataclass(frozen=True)
class Iteration:
    """One step of a model on the device.

    number: from 1.  start: when the step before ended, of the first step when its first task starts.  fp_start, bp_end: None
    for a model without a forward or backward pass.  end: when the last update has ended.  get_next: start and end of taking the
    batch from the queue, None where nothing is taken.  reduces: start and end of each all-reduce.  issued: when the host began
    and ended issuing the step.  is_kept: whether the record still has its runs: the oldest of many give way.
    """

    number: int
    start: float
    end: float
    runs: Sequence[TaskRun]
    issued: tuple[float, float]
    fp_start: float | None = None
    bp_end: float | None = None
    get_next: tuple[float, float] | None = None
    reduces: Sequence[tuple[float, float]] = ()
    is_kept: bool = True


@dataclass
class ModelRun:
    """A graph that was compiled and run.  model_id: number on the device.  tasks: in order of task_id.  memory: (task name,
    bytes, position of the first and of the last task that needs them) of each buffer.
    """

    model_id: int
    name: str
    tasks: Sequence[DeviceTask]
    loaded: tuple[float, float] = (0.0, 0.0)
    iterations: list[Iteration] = field(default_factory=list)
    memory: Sequence[tuple[str, int, int, int]] = ()


@dataclass
class DeviceRun:
    """All that one device did.  device_id: number on its host.  rank_id: -1 for a single device.  n_ranks: that train
    together.
    """

    soc: str
    device_id: int = 0
    rank_id: int = -1
    models: list[ModelRun] = field(default_factory=list)
    n_ranks: int = 1
