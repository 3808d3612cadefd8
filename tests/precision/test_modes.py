"""Each node's type equals what the device's tables say, in every precision mode."""

from __future__ import annotations

import csv
import json
from importlib import resources
from typing import Any

import pytest
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

from npu_formats.device.chip import chip_names, load_chip
from npu_runtime.analysis.compute_types import count_types, device_type
from npu_runtime.analysis.precision_policy import CUBE_OPS, PrecisionPolicy, load_policy
from npu_runtime.config import PRECISION_MODES, Precision, RuntimeConfig, load_config
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.spec import Spec
from npu_runtime.graph.verify import verify
from npu_runtime.kernels.elementwise.rounding import ROUND
from npu_runtime.passes.precision.assign_precision import assign_precision
from tests.one_item import together

FLOAT, HALF = "float32", "float16"
FIRST_GENERATION = ("Ascend910A", "Ascend910B", "Ascend910PremiumA", "Ascend910ProA", "Ascend910ProB")


def table(name: str) -> dict[str, dict[str, str]]:
    """A table as it stands in the file, read without the runtime's own reader."""
    text = (resources.files("npu_formats.device") / "ops" / name).read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {row["op" if "op" in row else "tf_op"]: row for row in rows}


DEVICE, TENSORFLOW = table("device_ops.csv"), table("tensorflow_ops.csv")


def takes(op: str, dtype: str) -> bool:
    types = DEVICE[op]["types"].split()
    return types == ["any"] or not types or any((word.split(">")[0] or word.split(">")[1]) == dtype for word in types)


def floating_inputs(op: str) -> list[int]:
    """Inputs of a TensorFlow op that are fp32 when its type attributes are, references and handles apart."""
    definition = op_def_registry.get(op)
    generic = {attr.name for attr in definition.attr if attr.type == "type" and can_be_float(attr)}
    if any(arg.is_ref or arg.type == types_pb2.DT_RESOURCE or arg.number_attr or arg.type_list_attr
           for arg in definition.input_arg):  # fmt: skip
        return []
    return [i for i, arg in enumerate(definition.input_arg) if arg.type_attr in generic or arg.type == types_pb2.DT_FLOAT]


def can_be_float(attr: Any) -> bool:
    allowed = list(attr.allowed_values.list.type)
    return (not allowed and attr.name in ("T", "dtype", "Tparams")) or types_pb2.DT_FLOAT in allowed


def is_plain(op: str) -> bool:
    """Whether a node of the op alone shows what the tables say: no cast, no branch, no reference."""
    return bool(TENSORFLOW[op]["device_op"]) and not op.startswith("_") and op not in ("Cast", "Switch", "Merge")


PLAIN = sorted(op for op in TENSORFLOW if is_plain(op) and floating_inputs(op))


def node_of(op: str, source: str) -> Node:
    """A node of an op whose floating inputs all come from `source`."""
    definition, floating = op_def_registry.get(op), floating_inputs(op)
    inputs = [Value(source if i in floating else "index") for i in range(len(definition.input_arg))]
    first = definition.input_arg[floating[0]].type_attr
    made = [Spec(None, FLOAT if arg.type_attr == first or arg.type == types_pb2.DT_FLOAT else "int32")
            for arg in definition.output_arg]  # fmt: skip
    return Node("tested", op, inputs, outputs=made)


def assigned(op: str, producer: str, policy: PrecisionPolicy, **attrs: Any) -> Graph:
    """A graph of one op behind a feed, a product (white) or a sum (black), with its types."""
    graph = Graph()
    graph.add(Node("fed", "_Feed", outputs=[Spec(None, FLOAT)]))
    graph.add(Node("index", "_Feed", outputs=[Spec(None, "int32")]))
    graph.add(Node("white", "MatMul", [Value("fed"), Value("fed")], outputs=[Spec(None, FLOAT)]))
    graph.add(Node("black", "L2Loss", [Value("fed")], outputs=[Spec(None, FLOAT)]))
    node = graph.add(node_of(op, producer))
    node.attrs = attrs
    graph.fetches = [Value("tested", i) for i in range(len(node.outputs))]
    assign_precision(graph, policy)
    verify(graph)
    return graph


def type_of(op: str, producer: str, mode: str, **attrs: Any) -> str:
    graph = assigned(op, producer, PrecisionPolicy(mode), **attrs)
    return device_type(graph, graph["tested"])


@together("op", PLAIN)
def test_mixed_precision_follows_the_lists_for_every_op(op: str) -> None:
    device_op = TENSORFLOW[op]["device_op"]
    chosen, half, full = DEVICE[device_op]["list"], takes(device_op, HALF), takes(device_op, FLOAT)
    after = {producer: type_of(op, producer, "allow_mix_precision") for producer in ("fed", "white", "black")}
    if chosen == "white":
        assert set(after.values()) == {HALF if half else FLOAT}
    elif chosen == "black":
        assert set(after.values()) == {FLOAT}
    else:
        assert after["white"] == (HALF if half else FLOAT)
        assert after["fed"] == after["black"] == (FLOAT if full or not half else HALF)


@together("op", PLAIN)
def test_the_other_modes_for_every_op(op: str) -> None:
    device_op = TENSORFLOW[op]["device_op"]
    half, full = takes(device_op, HALF), takes(device_op, FLOAT)
    assert type_of(op, "white", "must_keep_origin_dtype") == FLOAT
    assert type_of(op, "fed", "force_fp16") == (HALF if half else FLOAT)
    narrow = half and (device_op in CUBE_OPS or not full)
    assert type_of(op, "white", "allow_fp32_to_fp16") == (HALF if narrow else FLOAT)
    for mode in PRECISION_MODES:
        assert type_of(op, "white", mode, _keep_dtype=1) == FLOAT, f"keep_dtype_scope forbids fewer bits, {mode}"


def test_enough_ops_were_looked_at() -> None:
    assert len(PLAIN) > 180 and {"MatMul", "Conv2D", "Softmax", "FusedBatchNormV3", "MaxPoolGrad"} <= set(PLAIN)


def test_what_a_node_in_16_bits_reads_and_gives_is_rounded_once() -> None:
    graph = assigned("BiasAdd", "white", PrecisionPolicy("allow_mix_precision"))
    product, result = graph["white"], graph[graph.fetches[0].node]
    assert [graph[value.node].op for value in product.inputs] == [ROUND, ROUND]
    assert product.inputs[0] == product.inputs[1], "one rounding for both readers"
    assert result.op == ROUND and result.inputs == [Value("tested")]
    assert {graph[value.node].inputs[0] for value in graph["tested"].inputs} == {Value("white")}
    assert count_types(graph) == {HALF: 2, FLOAT: 2}


def test_ops_that_hand_numbers_on_need_no_rounding_of_their_own() -> None:
    graph = assigned("Relu", "white", PrecisionPolicy("allow_mix_precision"))
    assert graph.fetches == [Value("tested")] and device_type(graph, graph["tested"]) == HALF


def test_batch_norm_keeps_its_statistics_in_fp32() -> None:
    graph = assigned("FusedBatchNormV3", "white", PrecisionPolicy("allow_mix_precision"))
    assert [graph[value.node].op for value in graph.fetches] == [ROUND] + ["FusedBatchNormV3"] * 5
    assert {value.node for value in graph["tested"].inputs} == {graph["tested"].inputs[0].node}, "its input was rounded before"


def test_a_cube_operator_may_give_32_bits() -> None:
    graph = assigned("Conv2D", "fed", PrecisionPolicy("cube_fp16in_fp32out"))
    assert device_type(graph, graph["tested"]) == HALF and graph.fetches == [Value("tested")]
    assert graph[graph["tested"].inputs[0].node].op == ROUND
    gradient = assigned("Conv2DBackpropFilter", "fed", PrecisionPolicy("allow_mix_precision"))
    assert gradient.fetches == [Value("tested")], "the table gives this operator an fp32 result only"


def policy(mode: str = "", soc: str = "Ascend910A", **options: Any) -> PrecisionPolicy:
    config = load_config({"precision_mode": mode, **options}, {})
    return load_policy(config, load_chip(soc))


def test_names_of_the_newer_option() -> None:
    found = {name: policy(precision_mode_v2=name).mode for name in ("fp16", "origin", "cube_fp16in_fp32out", "mixed_float16",
                                                                    "mixed_bfloat16", "mixed_hif8")}  # fmt: skip
    assert list(found.values()) == [
        "force_fp16", "must_keep_origin_dtype", "cube_fp16in_fp32out", "allow_mix_precision_fp16", "allow_mix_precision_bf16",
        "must_keep_origin_dtype",
    ]  # fmt: skip
    assert "no Ascend 910 has HiFloat8" in policy(precision_mode_v2="mixed_hif8").notes[0]
    assert "Ascend910A itself has not" in policy("allow_mix_precision_bf16").notes[0]
    assert policy("allow_mix_precision_bf16", soc="Ascend910B2").notes == ()


def test_the_origin_is_the_default_and_the_chips_own_mode_one_option_away() -> None:
    assert policy().is_origin
    options = {"TF2NPU_OPTIONS": json.dumps({"device_defaults": "on"})}
    for soc in chip_names():
        chip = load_chip(soc)
        trained = load_policy(load_config({}, options), chip).mode
        assert trained == ("allow_fp32_to_fp16" if soc in FIRST_GENERATION else "must_keep_origin_dtype")
        assert chip.saturates == (soc in FIRST_GENERATION)
        assert load_policy(load_config({"graph_run_mode": 0}, options), chip).mode == "force_fp16"
        assert load_policy(load_config({"precision_mode": "force_fp32"}, options), chip).mode == "force_fp32"


def test_the_launcher_wins_over_the_script() -> None:
    options = {"TF2NPU_OPTIONS": json.dumps({"precision_mode": "must_keep_origin_dtype"})}
    script = {"precision_mode_v2": "mixed_float16", "modify_mixlist": "gone.json"}
    made = load_policy(load_config(script, options), load_chip("Ascend910A"))
    assert made.is_origin and "modify_mixlist is not read" in made.notes[0]
    with pytest.raises(InvalidArgument, match="option precision_mode='fp99': use one of must_keep"):
        load_config({}, {"TF2NPU_OPTIONS": json.dumps({"precision_mode": "fp99"})})
    assert load_config({"precision_mode": "fp99"}, {}).precision == Precision(), "the shim warns of a script's own"


def mixlist(tmp_path: Any, document: Any) -> RuntimeConfig:
    path = tmp_path / "ops_info.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return load_config({"precision_mode": "allow_mix_precision", "modify_mixlist": str(path)}, {})


def test_a_file_moves_operators_between_the_lists(tmp_path: Any) -> None:
    document = {
        "black-list": {"to-add": ["MatMul", "Relu"], "to-remove": ["L2Loss", "Pow"]},
        "white-list": {"to-add": ["Log"], "to-remove": ["Conv2D"]},
        "gray-list": {"to-add": ["MaxPool"]},
    }
    made = load_policy(mixlist(tmp_path, document), load_chip("Ascend910A"))
    assert made.lists == {
        "MatMul": "black", "MatMulV2": "black", "Relu": "black", "L2Loss": "gray", "Pow": "gray", "Log": "white",
        "Conv2D": "gray", "MaxPool": "gray",
    }  # fmt: skip
    graph = assigned("Log", "fed", made)
    assert {name: device_type(graph, graph[name]) for name in ("white", "black", "tested")} == {
        "white": FLOAT, "black": FLOAT, "tested": HALF,
    }  # fmt: skip


def test_scripts_name_operators_as_passes_of_the_graph_engine_leave_them(tmp_path: Any) -> None:
    """Source: the list files of published scripts name ReduceSumD and ReluGradV2 most."""
    document = {"white-list": {"to-add": ["ReduceSumD"]}, "black-list": {"to-add": ["ReluGradV2", "BNTrainingReduce"]}}
    made = load_policy(mixlist(tmp_path, document), load_chip("Ascend910A"))
    for op, wanted in (("Sum", HALF), ("ReluGrad", FLOAT), ("FusedBatchNormV3", FLOAT)):
        graph = assigned(op, "white", made)
        assert device_type(graph, graph["tested"]) == wanted, op


def test_an_operator_that_is_added_and_removed_is_added(tmp_path: Any) -> None:
    document = {"black-list": {"to-remove": ["L2Loss"]}, "white-list": {"to-add": ["L2Loss"]}}
    assert load_policy(mixlist(tmp_path, document), load_chip("Ascend910A")).lists == {"L2Loss": "white"}


def test_an_operator_that_the_device_has_not_is_named(tmp_path: Any) -> None:
    made = load_policy(mixlist(tmp_path, {"black-list": {"to-add": ["Relux"]}}), load_chip("Ascend910A"))
    assert made.lists == {} and made.notes == ("modify_mixlist: the device has no operator 'Relux'",)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("no json", "cannot be read as JSON"), ([], "must be an object with the keys black-list"),
        ({"blacklist": {}}, "must be an object with the keys black-list"),
        ({"black-list": ["Relu"]}, "black-list of .* must be an object with to-add and to-remove"),
        ({"black-list": {"add": ["Relu"]}}, "must be an object with to-add and to-remove"),
        ({"black-list": {"to-add": "Relu"}}, "to-add of black-list .* must be a list of operator names"),
        ({"black-list": {"to-add": ["Relu"]}, "white-list": {"to-add": ["Relu"]}}, "adds Relu to two lists"),
    ],
)  # fmt: skip
def test_files_of_another_form_are_refused(tmp_path: Any, document: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        load_policy(mixlist(tmp_path, document), load_chip("Ascend910A"))


@pytest.mark.parametrize("option", ["modify_mixlist", "customize_dtypes"])
def test_a_file_that_is_not_there_changes_nothing_and_is_told(option: str) -> None:
    config = load_config({"precision_mode": "allow_mix_precision", option: "gone/ops.json"}, {})
    made = load_policy(config, load_chip("Ascend910A"))
    assert made.lists == {} and not made.customized.ops
    (note,) = made.notes
    assert note.startswith(f"{option}: there is no file gone/ops.json below ")


def customized(tmp_path: Any, text: str, mode: str = "allow_mix_precision") -> PrecisionPolicy:
    path = tmp_path / "switch_config.txt"
    path.write_bytes(text.encode())
    return policy(mode, customize_dtypes=str(path))


def test_a_file_gives_operators_and_nodes_their_types(tmp_path: Any) -> None:
    text = (
        "OpType::MatMulV2:InputDtype:float16,float16,float32,OutputDtype:float32\r\n"
        "white::InputDtype:float32,float32,OutputDtype:float32\r\n\r\n"
        "OpType::ReduceSumD:InputDtype:float16,int32,OutputDtype:float16\r\n"
    )
    made = customized(tmp_path, text)
    graph = assigned("MatMul", "fed", made)
    assert device_type(graph, graph["white"]) == FLOAT, "the line of a node wins over that of its operator"
    assert device_type(graph, graph["tested"]) == HALF and graph.fetches == [Value("tested")], "16 bits in, 32 out"
    graph = assigned("Sum", "fed", made)
    assert device_type(graph, graph["tested"]) == HALF and graph[graph.fetches[0].node].op == ROUND
    kept = assigned("Sum", "fed", made, _keep_dtype=1)
    assert device_type(kept, kept["tested"]) == FLOAT
    assert customized(tmp_path, "no types", "must_keep_origin_dtype").is_origin, "the file is not even read"


@pytest.mark.parametrize("line", ["MatMul float16", "OpType::MatMulV2:InputDtype:int32,OutputDtype:int32", "a::OutputDtype:half"])
def test_a_line_of_another_form_is_named(tmp_path: Any, line: str) -> None:
    with pytest.raises(InvalidArgument, match=r"switch_config.txt, line 2: write OpType::MatMulV2:InputDtype"):
        customized(tmp_path, f"OpType::Relu:InputDtype:float16,OutputDtype:float16\n{line}\n")
