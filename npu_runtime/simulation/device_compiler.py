"""Compilation for the chip's clock: the graph of a request as the chip would run it, in the chip's own precision and fusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from npu_formats.device.chip import Chip
from npu_runtime.analysis.precision_policy import load_policy
from npu_runtime.compiler.compilation import Compilation, Settings, run_steps
from npu_runtime.compiler.pipeline import LOWER, ON_SHAPES, SHARE_CALLS, SIMPLIFY
from npu_runtime.config import Precision, RuntimeConfig
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import FEED, HANDLES
from npu_runtime.graph.spec import Spec
from npu_runtime.lowering.lower import LoweredTask, lower
from npu_runtime.passes.place.placement import Placement
from npu_runtime.simulation.task_streams import gradients_last


@dataclass(frozen=True)
class Target:
    """A chip and the precision mode on it; mode "": what the session asks for, or else the chip's own."""

    chip: Chip
    mode: str = ""


@dataclass(frozen=True)
class Lowered:
    """tasks: in an order of execution.  input_bytes: of what is fed in a step, as the graph has it.  batch: the first extent of
    what is fed, None where nothing is.  mode: the precision mode.
    """

    tasks: Sequence[LoweredTask]
    input_bytes: float
    batch: int | None
    mode: str


def lower_for(
    graph: Graph, extents: Sequence[tuple[int | None, ...]], placement: Placement, config: RuntimeConfig, target: Target
) -> Lowered:  # fmt: skip
    """The tasks of a pruned graph on a target.  The graph is not changed: the first step copies it."""
    precision = Precision(target.mode) if target.mode else config.precision
    config = replace(config, device_defaults=True, precision=precision, fusion=True, switched_off=frozenset())
    policy = load_policy(config, target.chip)
    made = Compilation(graph, Settings(config, target.chip, policy), placement, extents=extents)
    run_steps((*ON_SHAPES, *LOWER, *SIMPLIFY, *SHARE_CALLS), made)
    fed = _inputs(made.graph)
    batches = [spec.shape[0] for spec in fed if spec.shape and spec.shape[0] is not None]
    batch = max(set(batches), key=batches.count) if batches else None
    tasks = gradients_last(lower(made.graph, target.chip))
    return Lowered(tasks, float(sum(spec.n_bytes for spec in fed)), batch, policy.mode)


def _inputs(graph: Graph) -> list[Spec]:
    """The specs of the feeds, and of values that the host makes for device nodes, as the batches of an input pipeline."""
    made = {value: graph.spec(value) for node in graph if node.host_reason is None for value in node.inputs}
    from_host = [spec for value, spec in made.items() if graph[value.node].host_reason is not None]
    return [node.outputs[0] for node in graph if node.op == FEED] + [spec for spec in from_host if spec.dtype not in HANDLES]
