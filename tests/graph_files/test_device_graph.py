"""The graph file of a program lists what its dump has, in the order of execution, and names what each is in the user's graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf import text_format

from npu_formats.vendor.dump_file import read_header
from npu_formats.vendor.graph_messages import ModelDef
from npu_runtime.observers.graph_files.device_graph import PASSIVE
from tests.dump.networks import batch, lenet
from tests.runtime.device import device_session


def traced(folder: Path, make: Callable[[], Any] = lenet, feeds: Any = None, **options: Any) -> tuple[Any, Path]:
    """The last graph that a session has built, and the folder of its first step's dump."""
    dumps = folder.parent / "dumps"
    dumps.mkdir()
    wanted = {"enable_dump": True, "dump_path": str(dumps), "dump_mode": "all", **options}
    with tf.Graph().as_default(), device_session(**wanted) as session:
        fetched = make()
        session.run(tf.global_variables_initializer())
        session.run(fetched, batch(0) if feeds is None else feeds)
    last = max(folder.glob("ge_proto_*_Build.txt"))
    model = text_format.Parse(last.read_text(), ModelDef())
    (step,) = dumps.glob(f"*/*/{model.name}/*/0")
    return model, step


def operators(model: Any) -> dict[str, Any]:
    return {op.name: op for op in model.graph[0].op}


def names(op: Any) -> list[str]:
    return [name.decode() for name in op.attr["_datadump_original_op_names"].list.s]


def origin(op: Any, index: int = 0) -> tuple[str, int]:
    described = op.output_desc[index].attr
    return described["_datadump_origin_name"].s.decode(), described["_datadump_origin_output_index"].i


def producers(model: Any) -> list[str]:
    return [name.rpartition(":")[0] for op in model.graph[0].op for name in op.input]


def check(model: Any, step: Path) -> None:
    """The same operators with the same types and streams, numbers in order, and a producer for each input."""
    found = operators(model)
    assert [op.id for op in model.graph[0].op] == list(range(len(found)))
    assert set(producers(model)) <= set(found)
    files = {path.name.split(".")[1]: path for path in step.iterdir()}
    running = {name.replace("/", "_"): op for name, op in found.items() if op.type not in PASSIVE}
    assert set(running) == set(files)
    task_ids = []
    for name, op in sorted(running.items(), key=lambda entry: entry[1].id):
        kind, _, task, stream, _ = files[name].name.split(".")
        header = read_header(files[name])
        assert (op.type, str(op.stream_id), op.name) == (kind, stream, header.op_name)
        assert len(op.output_desc) == len(header.outputs) or any(t.dtype == 23 for t in op.output_desc)
        for described, tensor in zip(op.output_desc, header.outputs, strict=False):
            assert tuple(described.attr["origin_shape"].list.i) == tensor.shape or described.dtype == 23
        task_ids.append(int(task))
    assert task_ids == sorted(task_ids)


def test_without_fusion_each_node_is_there_with_the_users_names(folder):
    model, step = traced(folder, fusion="off")
    check(model, step)
    found = operators(model)
    assert names(found["conv1/Conv2D"]) == ["conv1/Conv2D"] and origin(found["conv1/Conv2D"]) == ("conv1/Conv2D", 0)
    assert list(found["conv1/BiasAdd"].input) == ["conv1/Conv2D:0", "conv1/bias/read:0"]
    assert found["conv1/Conv2D"].output_desc[0].layout == "NHWC"
    assert (found["x"].type, list(found["x"].output_desc[0].shape.dim)) == ("Data", [8, 28, 28, 1])
    assert found["conv1/kernel"].type == "Variable" and list(found["conv1/kernel"].output_desc[0].shape.dim) == [5, 5, 1, 6]
    assert found["Node_Output"].type == "NetOutput" and list(found["Node_Output"].input) == ["loss:0"]
    users = {node.name for node in graph_of(lenet).node}
    assert {name for op in model.graph[0].op for name in names(op)} <= users
    for name in ("conv1/Conv2D", "gradients/conv1/Conv2D_grad/Conv2DBackpropFilter"):
        file, _, line = found[name].attr["_user_line"].s.decode().rpartition(":")
        assert "conv2d(x" in Path(file).read_text().splitlines()[int(line) - 1]


def graph_of(make: Callable[[], Any]) -> Any:
    with tf.Graph().as_default() as graph:
        make()
        return graph.as_graph_def()


def test_a_fused_operator_names_its_members(folder):
    model, step = traced(folder)
    check(model, step)
    fused = operators(model)["conv1/Relu"]
    assert names(fused) == ["conv1/Conv2D", "conv1/BiasAdd", "conv1/Relu"] and origin(fused) == ("conv1/Relu", 0)
    assert list(fused.input)[:2] == ["x:0", "conv1/kernel/read:0"]


def test_what_a_precision_mode_inserts_has_no_name(folder):
    model, step = traced(folder, precision_mode="force_fp16", fusion="off")
    check(model, step)
    inserted = [op for op in model.graph[0].op if op.type == "Cast" and not names(op)]
    assert inserted and all(origin(op)[0] == "" for op in inserted)
    assert operators(model)["conv1/Conv2D"].output_desc[0].dtype == 2


def test_the_body_of_a_loop_reads_what_has_a_value_for_each_turn(folder):
    def make():
        x = tf.placeholder(tf.float32, [2], "x")
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.multiply(a, x, name="grown")), [0, x * 2])[1]

    model, step = traced(folder, make, {"x:0": np.ones(2)}, fusion="off")
    found = operators(model)
    assert set(producers(model)) <= set(found)
    assert list(found["while/grown"].input) == ["while/Switch_1:1", "x:0"]
    assert origin(found["while/Switch_1"], 1) == ("while/Switch_1", 1)
    assert found["while/Less"].input[0] == "while/Merge:0"
    (loop,) = [op for op in model.graph[0].op if op.type == "While"]
    assert origin(loop) == ("while/Merge_1", 0) and names(loop) == []
    assert len(list(step.glob("*.while_grown.*"))) == 3


def test_a_fed_tensor_of_the_graphs_middle_is_data(folder):
    def make():
        x = tf.placeholder(tf.float32, [3], "x")
        parts = tf.split(x, 3, name="parts")
        return tf.add(parts[0], parts[1], name="sum")

    model, _ = traced(folder, make, {"parts:1": np.ones(1), "x:0": np.ones(3)})
    found = operators(model)
    assert found["parts_1"].type == "Data" and origin(found["parts_1"]) == ("parts", 1) and names(found["parts_1"]) == ["parts"]
    assert list(found["sum"].input) == ["parts:0", "parts_1:0"]
