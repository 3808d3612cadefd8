"""Statements of the run log on the training step, held against what TensorFlow says that it executed itself.

The floating-point work of the convolutional examples must be on the device, all of it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npu_runtime.analysis.host_only_ops import is_by_nature
from tests.e2e.programs import HERE, N_STEPS, PROGRAMS, ProgramUnderTest, run_child

# The profiler knows a node's shapes only when it ran under its own name, which oneDNN's rewrites change.
PLAIN_NAMES = {"TF_ENABLE_ONEDNN_OPTS": "0"}


def child(script: str, program: ProgramUnderTest, source: Path, work: Path, environment: dict[str, str]) -> dict:
    record = work / f"{script}.json"
    run_child([HERE / script, record, source / program.script, *program.arguments,
               f"--model_dir={work / script}-model"], environment)  # fmt: skip
    return json.loads(record.read_text())


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda program: program.name)
def trained(request, converted, tmp_path_factory):
    """A program, and the record of its traced run on the shim."""
    work = tmp_path_factory.mktemp(request.param.name)
    return request.param, child("traced_run.py", request.param, converted(request.param), work, {})


def host_work(executed: dict) -> dict[str, list[str]]:
    """Nodes that did something: not TensorFlow's own plumbing, not our boundary, not a constant handed over."""
    plumbing = ("_", "npu_boundary/")
    return {name: types for name, (op, types) in executed.items() if op != "Const" and not name.startswith(plumbing)}


@pytest.mark.whole(but=("keras_cnn",))
def test_the_printed_host_nodes_are_what_tensorflow_executed(trained):
    _, record = trained
    assert record["n_steps"] >= N_STEPS
    assert sorted(host_work(record["executed"])) == sorted(record["host_nodes"])
    assert all(reason for reason in record["host_nodes"].values())
    assert record["log"]


def test_no_floating_point_op_is_left_to_the_host(trained):
    program, record = trained
    computed = [name for name, types in host_work(record["executed"]).items() if any("float" in t for t in types)]
    misplaced = {name: record["host_nodes"].get(name, "not printed") for name in computed}
    misplaced = {name: reason for name, reason in misplaced.items() if not is_by_nature(reason)}
    if program.is_all_on_device:
        assert not misplaced
        assert record["host_flops"] == 0


@pytest.mark.whole(but=("keras_cnn",))
def test_the_work_is_what_tensorflows_profiler_counts(trained, tmp_path, record_property):
    """Within 2 % over the ops that the profiler counts; it has no figure for LRN, nor for the optimizers' updates."""
    program, record = trained
    theirs = child("profiled_run.py", program, program.source, tmp_path, PLAIN_NAMES)
    ours = record["device_flops"]
    uncounted = {op for op in ours if theirs.get(op) == 0}
    counted = sum(flops for op, flops in ours.items() if op not in uncounted)
    record_property("figure", f"work   {program.name:16} {counted:.4g} floating-point operations a step on the device, "
                              f"TensorFlow's profiler {sum(theirs.values()):.4g}; {sum(ours.values()) - counted:.2g} more "
                              f"that it does not count, {record['host_flops']:.2g} on the host")  # fmt: skip
    if program.is_all_on_device:
        assert counted == pytest.approx(sum(theirs.values()), rel=0.02)
