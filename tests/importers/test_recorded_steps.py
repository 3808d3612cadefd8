"""Whole training steps that torch recorded: every operator is known, and the work is what torch itself counts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.importers.pytorch.graph_builder import TracedGraph
from npu_runtime.lowering.chip_graph import CUBE
from npu_runtime.lowering.lower import operator_tasks
from npu_runtime.lowering.products import product_of
from npu_runtime.simulation.compiled_model import compile_model
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.device import Issue, SimulatedDevice
from npu_runtime.simulation.operator_bounds import StepBounds, formatted_graph, step_bounds
from tests.importers.recorded_calls import NETWORKS, recorded_step

CHIP = load_chip("Ascend910A")
BACKWARD = "convolution_backward"
WITH_GROUPS = ("mobilenet_v2",)
"""Networks of whose gradients torch's counter counts too much: it takes each group's filter to see all channels."""


def _bounds(name: str, soc: str = "Ascend910A") -> StepBounds:
    return step_bounds(recorded_step(name)[0], load_chip(soc))


def _flops(graph: TracedGraph, *operators: str) -> float:
    ops = [op for op in graph.ops if op.pattern == CUBE and graph.calls[op.members[0]].name.partition("::")[2] in operators]
    return sum(product.flops for product in map(product_of, ops) if product is not None)


def test_there_are_recordings():
    assert NETWORKS == ("gan", "gpt", "lstm", "mobilenet_v2", "resnet18", "resnet50")


@pytest.mark.parametrize("name", NETWORKS)
def test_every_operator_of_a_step_is_known(name: str):
    assert _bounds(name).unmapped == {}


@pytest.mark.parametrize("name", NETWORKS)
def test_products_do_the_operations_that_torch_counts(name: str):
    calls, counted = recorded_step(name)
    graph = formatted_graph(calls, CHIP)
    for operator, flops in counted.items():
        bare = operator.removeprefix("aten.")
        if bare != BACKWARD or name not in WITH_GROUPS:
            assert _flops(graph, bare) == flops, operator
    assert _flops(graph, *(operator.removeprefix("aten.") for operator in counted)) == _flops(graph, *_all_products(graph))


def test_gradients_with_groups_take_twice_the_operations_of_the_forward_pass_but_for_the_image():
    """Each convolution has a gradient of its filters and one of its input, as large as itself; that of the images is not made."""
    calls, counted = recorded_step("mobilenet_v2")
    graph = formatted_graph(calls, CHIP)
    first = next(product_of(op) for op in graph.ops if op.pattern == CUBE)
    assert first is not None and _flops(graph, BACKWARD) == 2 * counted["aten.convolution"] - first.flops


def _all_products(graph: TracedGraph) -> Sequence[str]:
    return [graph.calls[op.members[0]].name.partition("::")[2] for op in graph.ops if op.pattern == CUBE]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("soc", ["Ascend910A", "Ascend910B2"])
def test_a_graph_is_no_slower_than_its_operators_one_by_one(name: str, soc: str):
    made = _bounds(name, soc)
    assert 0 < made.fused.us <= made.operators.us
    assert len(made.fused.tasks) < len(made.operators.tasks)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_step_is_told_by_task_bound_and_line(name: str):
    made = _bounds(name)
    for bound in (made.operators, made.fused):
        assert sum(bound.by_bound.values()) == pytest.approx(sum(task.us for task in bound.tasks))
        assert sum(bound.shares.values()) == pytest.approx(1)
        assert all(task.operators and task.device_operator and task.file and task.line for task in bound.tasks)
        assert max(task.us for task in bound.tasks) <= bound.us <= sum(task.us for task in bound.tasks) * (1 + 1e-9)
    assert "unknown" in made.host_share


@pytest.mark.parametrize("name", NETWORKS)
def test_two_steps_take_twice_as_long_as_one(name: str):
    """The second finds all storages there, under the numbers of the first: what lasts keeps its format, and nothing else does."""
    calls, once = recorded_step(name)[0], _bounds(name)
    assert step_bounds([*calls, *calls], CHIP).operators.us == pytest.approx(2 * once.operators.us, rel=0.01)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_clock_of_the_simulated_device_takes_as_long(name: str):
    """The clock of profiles and predictions runs the same tasks on streams that it assigns by itself."""
    graph = formatted_graph(recorded_step(name)[0], CHIP)
    model = compile_model(name, operator_tasks(graph), CHIP, Ranks(), graph.source_of)
    device = SimulatedDevice(CHIP)
    step = device.step(device.load(model), model, Issue())
    assert step.end - step.start == pytest.approx(_bounds(name).operators.us, rel=1e-9)
    assert all(run.task.source.rpartition(":")[2].isdigit() for run in step.runs)


def test_the_products_of_a_large_step_run_near_the_roofline_and_never_beyond():
    """Source of the peak: 4096 multiply-adds a cycle and core, and of the bandwidth: the chip's file."""
    made = _bounds("resnet50")
    for task in made.operators.tasks:
        assert task.flops / (task.us * 1e6) <= CHIP.cube_fp16_tflops


def test_a_trace_is_costed_without_the_kernels():
    """A trace computes nothing: neither the kernels, nor scipy behind them, nor TensorFlow are loaded."""
    code = (
        "import sys\n"
        "from tests.importers.recorded_calls import recorded_step\n"
        "from npu_formats.device.chip import load_chip\n"
        "from npu_runtime.simulation.operator_bounds import step_bounds\n"
        "assert step_bounds(recorded_step('gan')[0], load_chip('Ascend910A')).operators.us > 0\n"
        "heavy = [name for name in sys.modules if name.startswith(('npu_runtime.kernels', 'scipy', 'tensorflow', 'torch'))]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
