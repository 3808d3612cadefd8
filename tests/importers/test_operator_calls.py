"""Single calls: which tasks they are, and the bytes, operations and links that each is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.cost.collective import collective_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.importers.pytorch.chip_graph import FAMILIES, chip_graph_of
from npu_runtime.importers.pytorch.operator_call import OperatorCall
from npu_runtime.importers.pytorch.operator_table import operator_rows, row_of
from npu_runtime.lowering.chip_graph import AI_CPU, CUBE, TURNS
from npu_runtime.lowering.lower import LoweredTask, operator_tasks
from npu_runtime.lowering.products import product_of
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.operator_bounds import formatted_graph, step_bounds
from tests.importers.recorded_calls import call, use

CHIP = load_chip("Ascend910A")


def _types(*calls: OperatorCall) -> list[str]:
    return [op.op_type for op in chip_graph_of(calls).ops]


def _tasks(*calls: OperatorCall) -> list[LoweredTask]:
    return operator_tasks(formatted_graph(calls, CHIP))


def _bytes(task: LoweredTask) -> tuple[float, float]:
    assert task.work is not None
    return task.work.read_bytes, task.work.written_bytes


def _flops(*calls: OperatorCall) -> float:
    """Operations of all turns of the products of some calls."""
    ops = [op for op in chip_graph_of(calls).ops if op.pattern == CUBE]
    return sum(product.flops * op.attrs.get(TURNS, 1) for op in ops if (product := product_of(op)) is not None)


def test_every_row_of_the_table_has_a_family():
    assert {row.family for row in operator_rows().values()} <= set(FAMILIES)
    assert all(row.device_op for row in operator_rows().values() if row.family not in ("view", "nothing"))


@pytest.mark.parametrize(
    ("name", "device_op"),
    [
        ("aten::add_", "Add"),
        ("aten::_foreach_add_", "ForeachAdd"),
        ("aten::_foreach_norm", "ForeachNorm"),
        ("c10d::gather_", "HcomAllGather"),
        ("aten::gather", "GatherElements"),
    ],
)
def test_forms_of_an_operator_share_its_row(name: str, device_op: str):
    row = row_of(name)
    assert row is not None and row.device_op == device_op


def test_a_view_launches_nothing_and_what_reads_it_reads_the_same_memory():
    x, flat = use(1, 4, 8), use(1, 32)
    calls = [call("aten::view", x, (32,), results=(flat,)), call("aten::exp", flat, results=(use(2, 32),))]
    (task,) = _tasks(*calls)
    assert _bytes(task) == (64, 64)


def test_a_permuted_tensor_is_transposed_where_it_is_made_contiguous():
    x, turned = use(1, 4, 8), use(1, 8, 4, strides=(1, 8))
    assert _types(call("aten::t", x, results=(turned,)), call("aten::clone", turned, results=(use(2, 8, 4),))) == ["Transpose"]


def test_a_kernel_that_wants_rows_gets_a_copy_of_a_permuted_tensor_first():
    x, turned = use(1, 4, 8), use(1, 8, 4, strides=(1, 8))
    assert _types(call("aten::t", x, results=(turned,)), call("aten::exp", turned, results=(use(2, 8, 4),))) == [
        "Transpose",
        "Exp",
    ]


def test_a_product_loads_a_transposed_operand_as_it_lies():
    x, weight, turned = use(1, 4, 8), use(2, 16, 8, is_parameter=True), use(2, 8, 16, strides=(1, 8), is_parameter=True)
    made = call("aten::mm", x, turned, results=(use(3, 4, 16),))
    assert _types(call("aten::t", weight, results=(turned,)), made) == ["MatMulV2"]
    assert _flops(call("aten::t", weight, results=(turned,)), made) == 2 * 4 * 8 * 16


def test_a_part_is_read_and_written_as_a_part():
    whole = use(1, 8, 100)
    one = use(1, 1, 100)
    calls = [
        call("aten::exp", whole, results=(whole,)),
        call("aten::slice", whole, results=(one,)),
        call("aten::neg", one, results=(use(2, 1, 100),)),
    ]
    assert _bytes(_tasks(*calls)[1]) == (200, 200)
    changed = [call("aten::exp", whole, results=(whole,)), call("aten::neg_", one, results=(one,))]
    assert _bytes(_tasks(*changed)[1]) == (200, 200)


def test_a_part_with_gaps_is_cut_out_first():
    whole, column = use(1, 8, 100), use(1, 8, 10, strides=(100, 1))
    assert _types(call("aten::exp", whole, results=(use(3, 8, 100),)), call("aten::neg", column, results=(use(2, 8, 10),)))[
        1:
    ] == ["StridedSlice", "Neg"]


def test_numbers_that_are_only_spread_are_read_once():
    x, spread = use(1, 4, 1), use(1, 4, 100, strides=(1, 0))
    (task,) = _tasks(
        call("aten::expand", x, results=(spread,)), call("aten::mul", use(2, 4, 100), spread, results=(use(3, 4, 100),))
    )
    assert _bytes(task) == (800 + 8, 800)


def test_an_operator_alone_stores_what_a_graph_would_compute_again():
    row, column = use(1, 1, 100), use(2, 100, 1)
    (task,) = _tasks(call("aten::add", row, column, results=(use(3, 100, 100),)))
    assert _bytes(task) == (400, 20000)


def test_an_unknown_operator_moves_its_bytes_and_is_counted():
    made = chip_graph_of([call("mine::scale", use(1, 10), results=(use(2, 10),))] * 2)
    assert made.unmapped == ["mine::scale"] * 2
    (task,) = operator_tasks(replace(made, ops=made.ops[:1]))
    assert _bytes(task) == (20, 20)


def test_an_unknown_operator_that_changes_a_tensor_is_counted_though_it_gives_nothing():
    assert chip_graph_of([call("mine::scale_", use(1, 10))]).unmapped == ["mine::scale_"]
    assert chip_graph_of([call("mine::scale", use(1, 10), out=use(2, 10))]).unmapped == ["mine::scale"]


def test_an_unknown_view_is_no_task():
    made = chip_graph_of([call("mine::peek", use(1, 10), results=(use(1, 5),))])
    assert not made.ops and not made.unmapped


def test_nothing_is_launched_for_tensors_without_elements():
    empty = call("aten::mm", use(1, 0, 8), use(2, 8, 4), results=(use(3, 0, 4),))
    assert not step_bounds([empty, call("aten::exp", use(3, 0, 4), results=(use(4, 0, 4),))], CHIP).operators.tasks
    (zeros,) = step_bounds([call("aten::mm", use(1, 8, 0), use(2, 0, 4), results=(use(3, 8, 4),))], CHIP).operators.tasks
    assert (zeros.device_operator, zeros.flops) == ("ZerosLike", 0.0)


def test_memory_that_is_used_again_is_another_tensor():
    calls = [
        call("aten::exp", use(1, 10), results=(use(2, 10),)),
        call("aten::empty", results=(use(2, 99),)),
        call("aten::neg", use(2, 99), results=(use(3, 99),)),
    ]
    assert _bytes(_tasks(*calls)[1]) == (198, 198)


def test_an_optimizer_of_one_call_reads_four_lists_and_writes_three():
    parameters, gradients, first, second = (
        (use(n, 1000, dtype="float32", is_parameter=n == 1), use(n + 10, 24, dtype="float32")) for n in range(1, 5)
    )
    step = call("aten::_fused_adamw_", parameters, gradients, first, second, (), ())
    (task,) = _tasks(step)
    assert _bytes(task) == (4 * 1024 * 4, 3 * 1024 * 4)


def test_states_of_an_optimizer_keep_the_format_of_the_gradient():
    """A chip of the first generation computes products in blocks; no step turns what it keeps from step to step."""
    x, weight = use(1, 64, 32), use(2, 32, 48, is_parameter=True)
    gradient = call("aten::mm", use(1, 32, 64, strides=(1, 32)), use(3, 64, 48), results=(use(4, 32, 48),))
    state = use(5, 32, 48)
    calls = [
        call("aten::t", x, results=(use(1, 32, 64, strides=(1, 32)),)),
        gradient,
        call("aten::add_", state, use(4, 32, 48), results=(state,)),
        call("aten::sub_", weight, state, results=(weight,)),
    ]
    types = [op.op_type for op in formatted_graph(calls, CHIP).ops]
    assert types[types.index("MatMulV2") :] == ["MatMulV2", "Add", "Sub"]


@pytest.mark.parametrize(("n_gates", "name"), [(4, "lstm"), (3, "gru"), (1, "rnn_tanh")])
def test_a_recurrent_layer_multiplies_inputs_and_state_in_every_turn(n_gates: int, name: str):
    turns, batch, given, hidden = 35, 20, 12, 16
    filters = (
        use(2, n_gates * hidden, given),
        use(3, n_gates * hidden, hidden),
        use(4, n_gates * hidden),
        use(5, n_gates * hidden),
    )
    x = use(1, turns, batch, given)
    made = call(
        f"aten::{name}",
        x,
        (use(6, 1, batch, hidden),),
        filters,
        True,
        1,
        0.0,
        True,
        False,
        False,
        results=(use(7, turns, batch, hidden),),
    )
    wanted = 2 * turns * batch * n_gates * hidden * (given + hidden)
    assert _flops(made) == wanted
    back = call(
        f"aten::{name}_backward", (use(8, turns, batch, hidden),), *made.arguments, results=(use(9, turns, batch, given),)
    )
    assert _flops(back) == 2 * wanted
    assert not chip_graph_of([made, back]).unmapped


def test_turns_of_a_recurrent_layer_start_once():
    few, many = (
        sum(task.us for task in step_bounds([_lstm(turns)], CHIP).operators.tasks if task.device_operator == "DynamicRNN")
        for turns in (10, 20)
    )
    start = load_fitted().start_us
    assert many - start == pytest.approx(2 * (few - start))


def _lstm(turns: int) -> OperatorCall:
    filters = (use(2, 2600, 650), use(3, 2600, 650))
    return call(
        "aten::lstm", use(1, turns, 20, 650), (), filters, False, 1, 0.0, True, False, False, results=(use(7, turns, 20, 650),)
    )


def test_attention_of_one_call_does_two_products_forward_and_five_backward():
    """Source: torch's own counter, which has the products of scores again in the gradient."""
    heads = [use(n, 2, 4, 64, 16) for n in range(1, 5)]
    product = 2 * 2 * 4 * 64 * 64 * 16
    forward = call("aten::_scaled_dot_product_flash_attention", *heads[:3], results=(heads[3], use(9, 2, 4, 64, dtype="float32")))
    assert _flops(forward) == 2 * product
    backward = call(
        "aten::_scaled_dot_product_flash_attention_backward",
        heads[3],
        *heads[:3],
        results=tuple(use(n, 2, 4, 64, 16) for n in (5, 6, 7)),
    )
    assert _flops(backward) == 5 * product


def test_a_transposed_convolution_is_the_gradient_of_one():
    x, weight = use(1, 8, 100, 4, 4), use(2, 100, 32, 4, 4)
    made = call("aten::convolution", x, weight, None, (2, 2), (1, 1), (1, 1), True, (0, 0), 1, results=(use(3, 8, 32, 8, 8),))
    assert _types(made) == ["Conv2DBackpropInput"]
    assert _flops(made) == 2 * 8 * 4 * 4 * 100 * 32 * 16


@pytest.mark.parametrize(
    ("image", "kernel", "out"), [((8, 16, 50), (5,), (8, 24, 46)), ((8, 16, 6, 7, 8), (3, 3, 3), (8, 24, 4, 5, 6))]
)
def test_convolutions_of_one_and_three_dimensions_count_all_positions(
    image: tuple[int, ...], kernel: tuple[int, ...], out: tuple[int, ...]
):
    made = call(
        "aten::convolution",
        use(1, *image),
        use(2, 24, 16, *kernel),
        None,
        (1,),
        (0,),
        (1,),
        False,
        (0,),
        1,
        results=(use(3, *out),),
    )
    positions, window = 1, 1
    for n in (out[0], *out[2:]):
        positions *= n
    for n in kernel:
        window *= n
    assert _flops(made) == 2 * positions * 24 * 16 * window


def test_a_copy_takes_the_time_of_its_bytes_on_the_link():
    made = step_bounds(
        [
            call("copy host to device", results=(use(1, 1000, 1000),)),
            call("aten::_local_scalar_dense", use(1, 1), results=(0.5,)),
        ],
        CHIP,
    )
    to_device, to_host = made.operators.tasks
    assert to_device.engine == to_host.engine == "copy"
    assert to_device.us == pytest.approx(load_fitted().start_us + 2e6 / 23.4e3)


def test_a_collective_costs_by_what_a_rank_gives():
    gradients = use(1, 1_000_000, dtype="float32")
    (task,) = step_bounds(
        [call("c10d::allreduce_", (gradients,), "group", "op", results=((gradients,), None))], CHIP, Ranks(8)
    ).operators.tasks
    assert task.us == collective_cost("HcomAllReduce", 4e6, 8, 8, CHIP).us


def test_the_mask_of_a_dropout_is_bits_and_made_beside_the_step():
    x, out, mask = use(1, 128, 1024), use(2, 128, 1024), use(3, 128, 1024, dtype="bool")
    before = call("aten::mm", use(8, 128, 1024), use(9, 1024, 1024), results=(x,))
    calls = [before, call("aten::native_dropout", x, 0.5, True, results=(out, mask))]
    made = step_bounds(calls, CHIP).operators
    drawn = next(task for task in made.tasks if task.device_operator == "DropOutGenMask")
    assert drawn.engine == "AI CPU" and made.us < sum(task.us for task in made.tasks)
    assert _bytes(_tasks(*calls)[-1]) == (2 * 128 * 1024 + 128 * 1024 / 8, 2 * 128 * 1024)


def test_a_dropout_that_torch_writes_out_is_the_same_two_operators():
    x, noise = use(1, 64, 64), use(2, 64, 64)
    calls = [
        call("aten::empty_like", x, results=(noise,)),
        call("aten::bernoulli_", noise, 0.5, results=(noise,)),
        call("aten::div_", noise, 0.5, results=(noise,)),
        call("aten::mul", x, noise, results=(use(3, 64, 64),)),
    ]
    assert _types(*calls) == ["DropOutGenMask", "Mul"]
    assert chip_graph_of(calls).ops[0].pattern == AI_CPU


def test_the_indices_of_a_maximum_are_a_bit_for_each_place_of_the_window():
    """Source: the operator's mask in the vendor's documentation; torch keeps eight bytes a maximum instead."""
    made = call(
        "aten::max_pool2d_with_indices",
        use(1, 1, 16, 8, 8),
        (3, 3),
        (2, 2),
        (1, 1),
        results=(use(2, 1, 16, 4, 4), use(3, 1, 16, 4, 4, dtype="int64")),
    )
    (task,) = operator_tasks(chip_graph_of([made]))
    assert _bytes(task) == (16 * 64 * 2, 16 * 16 * 2 + 16 * 16 * 9 / 8)


def test_index_put_in_place_writes_its_values_only():
    table, rows, values = use(1, 10000, 16), use(2, 3, dtype="int64"), use(3, 3, 16)
    (task,) = _tasks(call("aten::index_put_", table, (rows,), values, results=(table,)))
    assert _bytes(task) == (3 * 8 + 96, 96)


def test_normalisations_over_a_batch_are_two_tasks_each_way():
    x, vector = use(1, 8, 16, 4, 4), [use(n, 16, dtype="float32") for n in range(2, 8)]
    forward = call(
        "aten::native_batch_norm", x, *vector[:4], True, 0.1, 1e-5, results=(use(9, 8, 16, 4, 4), vector[4], vector[5])
    )
    assert [op.op_type for op in formatted_graph([forward], CHIP).ops] == ["BNTrainingReduce", "BNTrainingUpdate"]
    frozen = forward._replace(arguments=(*forward.arguments[:5], False, 0.1, 1e-5))
    assert [op.op_type for op in formatted_graph([frozen], CHIP).ops] == ["BNInfer"]
    backward = call(
        "aten::native_batch_norm_backward",
        use(9, 8, 16, 4, 4),
        x,
        vector[0],
        *vector[2:4],
        *vector[4:],
        True,
        1e-5,
        (True, True, True),
        results=(use(10, 8, 16, 4, 4), use(11, 16), use(12, 16)),
    )
    assert [op.op_type for op in formatted_graph([backward], CHIP).ops] == ["BNTrainingUpdateGrad", "BNTrainingReduceGrad"]
    of_vectors = backward._replace(results=(None, use(11, 16), use(12, 16)))
    assert [op.op_type for op in formatted_graph([of_vectors], CHIP).ops] == ["BNTrainingUpdateGrad"]
