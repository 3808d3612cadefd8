"""Sessions in a precision mode: numbers, overflow, loops, branches, variables and the run log."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.device import float_status
from npu_runtime.session import run_log
from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def fresh():
    run_log().clear()
    with tf.Graph().as_default():
        yield
    float_status.ask(None)
    run_log().clear()


def half(x: Any) -> np.ndarray:
    """The nearest fp16 numbers, in fp32: the judge is numpy."""
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)


def run(fetches: Any, feeds: Any = None, mode: str = "allow_mix_precision", **options: Any) -> Any:
    with device_session(precision_mode=mode, **options) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def on_tensorflow(build: Any, *inputs: np.ndarray) -> np.ndarray:
    """An op in fp32 on TensorFlow's CPU kernels."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(*[tf.constant(x) for x in inputs]))


def sixteenths(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers whose products and sums have no rounding error in fp32, far from the fp16 grid when summed."""
    return (np.random.RandomState(seed).randint(-4095, 4096, shape) / 512).astype(np.float32)


OPS = {
    "MatMul": (tf.matmul, (9, 33), (33, 17)),
    "BatchMatMul": (tf.matmul, (2, 5, 9), (2, 9, 4)),
    "Conv2D": (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), (2, 7, 7, 3), (3, 3, 3, 5)),
    "DepthwiseConv2dNative": (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID"), (2, 7, 7, 3), (3, 3, 3, 2)),
    "Add": (tf.add, (4, 300), (4, 300)),
    "Mul": (tf.multiply, (4, 300), (300,)),
    "Sub": (tf.subtract, (4, 300), (4, 1)),
    "Square": (tf.square, (4, 300)),
    "Minimum": (tf.minimum, (4, 300), (4, 300)),
    "Sqrt": (lambda x: tf.sqrt(tf.abs(x)), (4, 300)),
    "BiasAdd": (tf.nn.bias_add, (4, 300), (300,)),
    "Relu": (tf.nn.relu, (4, 300)),
}


@pytest.mark.parametrize("name", OPS)
def test_numbers_are_those_of_tensorflow_between_two_roundings(name: str) -> None:
    build, *shapes = OPS[name]
    inputs = [sixteenths(*shape, seed=i) for i, shape in enumerate(shapes)]
    fed = [tf.placeholder(tf.float32, x.shape) for x in inputs]
    found = run(build(*fed), dict(zip(fed, inputs, strict=True)), "force_fp16")
    np.testing.assert_array_equal(found, half(on_tensorflow(build, *map(half, inputs))))
    assert found.dtype == np.float32 and not (found == on_tensorflow(build, *inputs)).all()


def test_mixed_precision_rounds_where_the_lists_say() -> None:
    x, w = sixteenths(8, 20), sixteenths(20, 6, seed=1)
    product = tf.matmul(tf.constant(x), tf.constant(w))
    shifted = product + 0.1
    total = tf.reduce_sum(product)
    alone = tf.constant(x) * 1.1
    found = run([product, shifted, total, alone])
    right = half(half(x) @ half(w))
    np.testing.assert_array_equal(found[0], right)
    np.testing.assert_array_equal(found[1], half(right + half(0.1)))
    assert found[2] == pytest.approx(right.sum(dtype=np.float64), rel=1e-6) and found[2] != half(found[2])
    np.testing.assert_array_equal(found[3], x * np.float32(1.1))


def test_keep_dtype_scope_and_the_origin_mode_change_no_bit() -> None:
    x, w = tf.constant(sixteenths(8, 20)), tf.constant(sixteenths(20, 6, seed=1))
    attributes = {"_keep_dtype": tf.AttrValue(i=1)}
    with tf.get_default_graph()._attr_scope(attributes):
        kept = tf.matmul(x, w)
    plain = tf.matmul(x, w)
    exact = run(plain, mode="must_keep_origin_dtype")
    for mode in ("allow_mix_precision", "force_fp16", "force_fp32", "allow_fp32_to_bf16"):
        found = run([kept, plain], mode=mode)
        np.testing.assert_array_equal(found[0], exact)
        assert not (found[1] == exact).all()


def test_a_file_of_lists_reaches_the_session(tmp_path: Any) -> None:
    path = tmp_path / "ops_info.json"
    path.write_text(json.dumps({"black-list": {"to-add": ["MatMul"]}, "white-list": {"to-add": ["ReduceSum"]}}))
    product = tf.matmul(tf.constant(sixteenths(8, 20)), tf.constant(sixteenths(20, 6, seed=1)))
    found = run([product, tf.reduce_sum(product)], modify_mixlist=str(path))
    assert not (found[0] == half(found[0])).all() and found[1] == half(found[1])


def test_variables_and_their_updates_stay_in_fp32() -> None:
    for resource in (False, True):
        with tf.Graph().as_default():
            w = tf.get_variable("w", initializer=np.full([20, 6], 0.1, np.float32), use_resource=resource)
            loss = tf.reduce_mean(tf.matmul(tf.constant(sixteenths(8, 20)), w))
            train = tf.train.GradientDescentOptimizer(1e-5).minimize(loss)
            with device_session(precision_mode="allow_mix_precision") as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                value = session.run(w)
        assert not (value == half(value)).any() and (value != np.float32(0.1)).any()


def test_a_read_stays_before_the_write_that_follows_it() -> None:
    v = tf.get_variable("v", initializer=np.float32([[3.0]]), use_resource=False)
    product = tf.matmul(v, v)
    with tf.control_dependencies([product]):
        changed = tf.assign_add(v, [[2.0]])
    with tf.control_dependencies([changed]):
        after = tf.matmul(v, v)
    assert [float(x) for x in run([product, after])] == [9, 25]


def test_inside_loops_numbers_are_rounded_too() -> None:
    w = sixteenths(6, 6) / 8

    def body(i: Any, x: Any) -> Any:
        return i + 1, tf.matmul(x, tf.constant(w)) + 0.1

    _, found = tf.while_loop(lambda i, x: i < 3, body, [0, tf.constant(sixteenths(4, 6))])
    right = half(sixteenths(4, 6))
    for _ in range(3):
        right = half(half(half(right) @ half(w)) + half(0.1))
    np.testing.assert_array_equal(run(found), right)


def test_branches_not_taken_stay_dead() -> None:
    chosen = tf.placeholder(tf.bool, [])
    x = tf.constant(sixteenths(4, 6))
    w = tf.constant(sixteenths(6, 6, seed=1))
    result = tf.cond(chosen, lambda: tf.matmul(x, w), lambda: x * 1.1)
    right = half(sixteenths(4, 6)) @ half(sixteenths(6, 6, seed=1))
    np.testing.assert_array_equal(run(result, {chosen: True}), half(right))
    other = run(result, {chosen: False})
    assert other.shape == (4, 6) and np.isfinite(other).all()


def test_force_fp32_computes_a_graph_of_fp16_in_fp32() -> None:
    x, y = np.float16([1000, 0.3]), np.float16([1001, 0.7])
    a, b = tf.placeholder(tf.float16, [2]), tf.placeholder(tf.float16, [2])
    product = a * b
    back = product / b
    found, result = run([product, back], {a: x, b: y}, "force_fp32")
    assert found.dtype == result.dtype == np.float16
    assert found[0] == 65504, "a fetch has the type of the graph"
    np.testing.assert_array_equal(result, (x.astype(np.float32) * y.astype(np.float32) / y.astype(np.float32)).astype(np.float16))
    assert np.isinf(run(back, {a: x, b: y}, "must_keep_origin_dtype")[0])


def test_bfloat16_modes() -> None:
    import ml_dtypes

    x, w = sixteenths(8, 20), sixteenths(20, 6, seed=1)
    found = run(tf.matmul(tf.constant(x), tf.constant(w)), mode="allow_mix_precision_bf16")
    narrow = [v.astype(ml_dtypes.bfloat16).astype(np.float32) for v in (x, w)]
    right = (narrow[0] @ narrow[1]).astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(found, right)


def overflowing() -> Any:
    x = tf.constant(np.full([4, 4], 200, np.float32))
    return tf.matmul(x, x, name="too_large")


CUT = np.full([4, 4], 65504, np.float32)
OVERFLOW = "overflow: results of 1 node were too large for 16 bits, first of too_large (1 time)"


def precision_lines() -> dict[str, str]:
    """Lines of the run log on precision, by their first word."""
    return {line.strip().split(":")[0]: line.strip() for line in run_log().digest()[1:]}


@pytest.mark.parametrize("mode", ["allow_mix_precision", "force_fp16", "allow_fp32_to_fp16", "customized"])
def test_on_a_first_chip_what_is_too_large_is_cut_and_reported_with_its_node(mode: str, tmp_path: Any) -> None:
    options = {"precision_mode": mode}
    if mode == "customized":
        path = tmp_path / "types.txt"
        path.write_text("too_large::InputDtype:float16,OutputDtype:float16\n")
        options = {"precision_mode": "allow_mix_precision_bf16", "customize_dtypes": str(path)}
    with device_session(**options) as session:
        np.testing.assert_array_equal(session.run(overflowing()), CUT)
    lines = precision_lines()
    assert lines["overflow"].startswith(OVERFLOW) and "chip itself" not in lines["overflow"]
    assert "cut at 65504 and set the float status" in lines["fp16"] and "--option overflow=infinity" in lines["fp16"]
    assert lines["fp16"] in run_log().document()["precision"]


@pytest.mark.parametrize("asked", ["the chip", "by option", "by the process"])
def test_infinities_where_the_chip_has_them_and_where_they_are_asked_for(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    soc = "Ascend910B2" if asked == "the chip" else "Ascend910A"
    if asked == "by option":
        float_status.ask(True)  # what the script says is less than what the launcher says
        monkeypatch.setenv("TF2NPU_OPTIONS", json.dumps({"overflow": "infinity"}))
    elif asked == "by the process":
        float_status.ask(False)
    assert np.isinf(run(overflowing(), soc=soc)).all()
    lines = precision_lines()
    assert lines["overflow"].startswith(OVERFLOW) and "fp16" not in lines
    assert ("cuts them at 65504 (--option overflow=saturation)" in lines["overflow"]) == (soc == "Ascend910A")


@pytest.mark.parametrize("asked", ["by option", "by the process"])
def test_a_newer_chip_cuts_where_that_is_asked_for(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if asked == "by option":
        monkeypatch.setenv("TF2NPU_OPTIONS", json.dumps({"overflow": "saturation"}))
    else:
        float_status.ask(True)
    np.testing.assert_array_equal(run(overflowing(), soc="Ascend910B2"), CUT)


@pytest.mark.parametrize("mode", ["", "must_keep_origin_dtype", "allow_mix_precision_bf16"])
def test_where_nothing_is_put_into_fp16_numbers_stay_tensorflows(mode: str) -> None:
    x = np.float16([300, -300, 1, np.nan, 6e4, -0.0])
    fed = tf.placeholder(tf.float16, x.shape)
    result = [fed * fed, 1 / (fed * fed), tf.cast(tf.cast(fed, tf.float32) * 2, tf.float16)]
    with tf.Session() as session:
        right = session.run(result, {fed: x})
    with device_session(**({"precision_mode": mode} if mode else {})) as session:
        for found, wanted in zip(session.run(result, {fed: x}), right, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_fp16_of_the_graph_and_its_casts_are_cut_too() -> None:
    x = np.float32([300, -300, 1, np.nan])
    fed = tf.placeholder(tf.float32, x.shape)
    narrow = tf.cast(fed, tf.float16)
    found = run([narrow * narrow, tf.cast(fed * -1e9, tf.float16)], {fed: x})
    np.testing.assert_array_equal(found[0], np.float16([65504, 65504, 1, np.nan]))
    np.testing.assert_array_equal(found[1], np.float16([-65504, 65504, -65504, np.nan]))


def test_inside_loops_it_is_cut_too() -> None:
    x = tf.constant(np.full([4, 4], 200, np.float32))
    _, found = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.matmul(x, x)), [0, x])
    np.testing.assert_array_equal(run(found), CUT)


def test_the_mode_may_change_between_two_runs_of_a_session() -> None:
    x = tf.constant(np.full([300, 300], 300, np.float32))
    result = 1.0 / (tf.matmul(x, x) * 1.0)
    with device_session(precision_mode="force_fp16") as session:
        for saturates in (None, False, True, False):
            float_status.ask(saturates)
            assert session.run(result).max() == (half(1 / np.float32(65504)) if saturates is not False else 0)


def test_two_sessions_of_one_process_each_have_their_mode() -> None:
    x = tf.placeholder(tf.float16, [1])
    result = x * x
    with device_session(precision_mode="force_fp16") as first, device_session() as second:
        for _ in range(2):
            assert first.run(result, {x: [300]}) == 65504 and np.isinf(second.run(result, {x: [300]}))


def test_fusing_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.RandomState(0).randn(64, 1024).astype(np.float32)
    fed = tf.placeholder(tf.float32, x.shape)
    w = tf.constant(np.random.RandomState(1).randn(1024, 1024).astype(np.float32) / 32)
    result = tf.tanh(tf.nn.bias_add(tf.matmul(fed, w), tf.ones([1024]) * 0.3) * 1.7) - 0.1 + 1 / (fed * 2e4 * fed)
    fused = run(result, {fed: x}, "force_fp16")
    assert float_status.overflows
    monkeypatch.setenv("TF2NPU_OPTIONS", json.dumps({"fusion": "off"}))
    np.testing.assert_array_equal(fused, run(result, {fed: x}, "force_fp16"))


def test_the_run_log_tells_the_mode_and_what_the_chip_itself_does() -> None:
    product = tf.matmul(tf.constant(sixteenths(8, 20)), tf.constant(sixteenths(20, 6, seed=1)))
    with device_session() as session:
        session.run(product)
    run(product)
    lines = [line.strip() for line in run_log().digest() if "precision:" in line]
    assert lines == [
        "precision: the types of the graph, as TensorFlow computes; the chip's own mode is allow_fp32_to_fp16 "
        "(--option device_defaults=on)",
        "precision: allow_mix_precision: 1 node in float16, 2 nodes in float32",
    ]
    cut = precision_lines()["fp16"]
    assert run_log().document()["precision"] == [*lines, cut]


def test_the_chips_own_mode_by_one_option(monkeypatch: pytest.MonkeyPatch) -> None:
    product = tf.matmul(tf.constant(sixteenths(8, 20)), tf.constant(sixteenths(20, 6, seed=1)))
    monkeypatch.setenv("TF2NPU_OPTIONS", json.dumps({"device_defaults": "on"}))
    with device_session() as session:
        found = session.run(product)
    np.testing.assert_array_equal(found, half(half(sixteenths(8, 20)) @ half(sixteenths(20, 6, seed=1))))


def test_the_graph_dump_tells_the_type_of_each_node(tmp_path: Any) -> None:
    product = tf.matmul(tf.constant(sixteenths(8, 20)), tf.constant(sixteenths(20, 6, seed=1)), name="product")
    total = tf.reduce_sum(tf.nn.relu(product, name="relu"), name="total")
    run(total, dump_graph=str(tmp_path))
    (dump,) = [path for path in tmp_path.glob("*typed*") if "total" in path.read_text()]
    said = {line.split(":")[0]: line.rsplit("# ", 1)[-1] for line in dump.read_text().splitlines() if "# " in line}
    assert {name: said[name] for name in ("product", "relu", "total")} == {
        "product": "float16", "relu": "float16", "total": "float32",
    }  # fmt: skip
