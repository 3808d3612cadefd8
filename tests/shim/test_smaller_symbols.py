"""Symbols that few scripts use, each against numpy, TensorFlow or its documented behaviour."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import tensorflow as tf

RANDOM = np.random.RandomState(3)


def test_helpers_of_the_star_import(graph):
    from npu_bridge.npu_init import (
        NPUDistributedOptimizer,
        RewriterConfig,
        experimental_options,
        get_npu_local_rank_size,
        init_resource,
        npu_tf_optimizer,
        shutdown_resource,
    )

    session, stop = init_resource()
    assert get_npu_local_rank_size() == 1
    shutdown_resource(session, stop)
    session.close()
    inner = tf.train.GradientDescentOptimizer(0.1)
    wrapped = npu_tf_optimizer(inner)
    assert isinstance(wrapped, NPUDistributedOptimizer) and wrapped._optimizer is inner
    assert experimental_options.pop("disable_model_pruning", None) is False
    assert len(experimental_options) == 7 and set(experimental_options.values()) == {RewriterConfig.ON}
    experimental_options["disable_model_pruning"] = False


def test_system_operations_under_their_other_names(plain_session):
    from npu_bridge.estimator import npu_ops
    from npu_bridge.helper import helper

    library = helper.get_gen_ops()
    for build in (npu_ops.NPUInit, npu_ops.NPUShutdown, npu_ops.npu_test, library.npu_init, library.npu_shutdown):
        assert plain_session.run(build(name="given")) is None
    assert helper.version == "v1.15.0"


def test_fused_adam_with_decay_is_adams_step_and_decay(plain_session):
    from npu_bridge.estimator.npu_ops import adam_apply_one_with_decay_assign

    g, v, m, w = (RANDOM.rand(3).astype(np.float32) for _ in range(4))
    variables = [tf.Variable(value) for value in (v, m, w)]
    betas = [tf.constant(x, tf.float32) for x in (0.9, 0.1, 0.99, 0.01)]
    step = adam_apply_one_with_decay_assign(
        tf.constant(g), *variables, tf.constant(0.5), *betas, tf.constant(0.25), tf.constant(1e-6)
    )
    plain_session.run(tf.global_variables_initializer())
    assert plain_session.run(step) is None
    next_v, next_m = 0.99 * v + 0.01 * g**2, 0.9 * m + 0.1 * g
    wanted = next_v, next_m, w - 0.5 * (next_m / (np.sqrt(next_v) + 1e-6) + 0.25 * w)
    for got, value in zip(plain_session.run(variables), wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-6)


def test_two_halves_of_a_lamb_step(plain_session):
    from npu_bridge.tbe.npu_vector_ops import lamb_apply_optimizer_assign, lamb_apply_weight_assign

    g, v, m, w = (RANDOM.rand(4).astype(np.float32) for _ in range(4))
    second, first, weight = tf.Variable(v), tf.Variable(m), tf.Variable(w)
    numbers = [tf.constant(x, tf.float32) for x in (0.9, 0.1, 0.99, 0.01, 1e-6, 1.0, 1.0, 0.25)]
    update, _, _ = lamb_apply_optimizer_assign(tf.constant(g), second, first, weight, *numbers)
    done = lamb_apply_weight_assign(tf.norm(weight), tf.norm(update), tf.constant(0.5), update, weight)
    plain_session.run(tf.global_variables_initializer())
    got_update, got_weight = plain_session.run([update, done])
    next_v, next_m = 0.99 * v + 0.01 * g**2, 0.9 * m + 0.1 * g
    wanted = (next_m / 0.1) / (np.sqrt(next_v / 0.01) + 1e-6) + 0.25 * w
    np.testing.assert_allclose(got_update, wanted, rtol=1e-4)
    ratio = np.linalg.norm(w) / np.linalg.norm(wanted)
    np.testing.assert_allclose(got_weight, w - 0.5 * ratio * wanted, rtol=1e-4)


@pytest.mark.parametrize("actual", [False, True])
def test_centroids_are_those_of_numpy(plain_session, actual):
    from npu_bridge.estimator.npu_ops import k_means_centroids

    x, y = RANDOM.rand(20, 3).astype(np.float32), RANDOM.rand(4, 3).astype(np.float32)
    squares = (y**2).sum(1)[None], (x**2).sum(1)[:, None]
    sums, counts, total = plain_session.run(k_means_centroids(*map(tf.constant, (x, y, *squares)), use_actual_distance=actual))
    distance = ((x[:, None] - y[None]) ** 2).sum(2)
    nearest = distance.argmin(1)
    np.testing.assert_allclose(sums, [x[nearest == i].sum(0) for i in range(4)], rtol=1e-5)
    np.testing.assert_array_equal(counts[:, 0], np.bincount(nearest, minlength=4))
    np.testing.assert_allclose(total, distance.min(1).sum() - (0 if actual else squares[1].sum()), rtol=1e-4)


def test_seeds_are_tensorflows(graph):
    from npu_bridge.estimator.npu_ops import get_seed
    from tensorflow.python.framework import random_seed

    assert get_seed(7) == random_seed.get_seed(7)
    tf.set_random_seed(3)
    assert get_seed(7) == random_seed.get_seed(7) == (3, 7)


@pytest.mark.parametrize("name", ["dropout_v3", "dropout_v4"])
def test_other_dropouts_keep_and_scale(plain_session, name):
    from npu_bridge.estimator import npu_aicore_ops, npu_ops

    x = tf.constant(RANDOM.rand(200, 50).astype(np.float32))
    value, same = plain_session.run([getattr(npu_aicore_ops, name)(x, 0.75, seed=4), npu_ops.dropout(x, 0.75, seed=4)])
    np.testing.assert_array_equal(value, same)
    with pytest.raises(ValueError, match=r"0\.0"):
        getattr(npu_aicore_ops, name)(x, 0.0)
    assert getattr(npu_aicore_ops.npu_aicore_ops, name) is getattr(npu_aicore_ops, name)


def test_callbacks_do_nothing_with_one_rank(graph):
    from npu_bridge.estimator.npu import npu_callbacks, npu_hook

    callback = npu_callbacks.NPUBroadcastGlobalVariablesCallback(0)
    assert isinstance(callback, npu_callbacks.BroadcastGlobalVariablesCallbackImpl) and callback.root_rank == 0
    callback.on_batch_begin(0)
    assert callback.broadcast_done
    variable = tf.get_variable("v", initializer=2.0)
    for build in (npu_callbacks.broadcast_global_variables, npu_hook.broadcast_global_variables):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(build(0))
            assert session.run(variable) == 2.0


def test_descriptions_and_checks(tmp_path):
    from npu_bridge.estimator.npu import npu_plugin, util
    from npu_bridge.estimator.npu.npu_common import JobConfig

    assert JobConfig(0.1, 4)._batch_size == 4
    assert util.convert_bool_to_int(True) == 1 and util.format_string(None, "x") == "" and util.format_string("a", "x") == "a"
    options: dict[str, str] = {}
    npu_plugin.init_op_compiler_cache_mode(options, "enable")
    npu_plugin.init_op_compiler_cache_dir(options, None)
    npu_plugin.init_debug_dir(options, str(tmp_path))
    assert sorted(options.values()) == sorted(["enable", str(tmp_path)])
    npu_plugin.check_graph_run_mode(1)
    npu_plugin.npu_close()
    wrong = [
        (lambda: npu_plugin.check_graph_run_mode(2), ValueError), (lambda: util.check_mstune_mode("x"), ValueError),
        (lambda: util.format_string(3, "x"), TypeError), (lambda: util.convert_bool_to_int(1), TypeError),
    ]  # fmt: skip
    for call, error in wrong:
        with pytest.raises(error):
            call()


def test_decorated_initialisers_get_a_config():
    from npu_bridge.estimator.npu.npu_config import decorator_tf_session, set_npu_default_config

    def init(self, target="", graph=None, config=None):
        return config

    args, kwargs = set_npu_default_config(init, ("self", ""), {})
    assert args == ("self", "") and kwargs["config"].graph_options.rewrite_options.custom_optimizers[0].name == "NpuOptimizer"
    given = tf.ConfigProto(inter_op_parallelism_threads=3)
    assert decorator_tf_session(init)("self", "", None, given) is given
    assert given.graph_options.rewrite_options.custom_optimizers[0].name == "NpuOptimizer"


def test_directions_are_the_words_of_the_device(graph):
    from npu_bridge.estimator.npu import npu_dynamic_rnn as rnn

    words = rnn.DYNAMIC_RNN_UNIDIRECTION, rnn.DYNAMIC_RNN_BIDIRECTION, rnn.DYNAMIC_RNN_REDIRECTIONAL
    assert words == ("UNIDIRECTIONAL", "BIDIRECTIONAL", "REDIRECTIONAL")
    layer = rnn.DynamicRNN(4, tf.float32, direction=words[2], forget_bias=0.5)
    assert (layer.cell_type, layer.use_peephole, layer.forget_bias) == ("LSTM", False, 0.5)
    gru = rnn.DynamicGRUV2(4, tf.float32)
    assert (gru.gate_order, gru.reset_after) == ("zrh", True)


def test_subclasses_may_override_train():
    from npu_bridge.estimator.npu.npu_estimator import no_check_override

    class Mine(tf.estimator.Estimator):
        def train(self, *args):
            return "mine"

    def model_fn(features, labels, mode):
        raise AssertionError("never built")

    with pytest.raises(ValueError, match="override"):
        Mine(model_fn)
    with no_check_override():
        assert Mine(model_fn).train() == "mine"
    with pytest.raises(ValueError):
        Mine(model_fn)


def test_hook_without_work_and_saver_builder(graph, tmp_path):
    import io

    from npu_bridge.estimator.npu.npu_hook import NPULogOutfeedSessionHook
    from npu_bridge.estimator.npu.npu_saver import NPUBulkSaverBuilder, NPUSaver
    from tensorflow.python.training.saver import BulkSaverBuilder

    hook = NPULogOutfeedSessionHook(io.StringIO())
    variable = tf.get_variable("v", initializer=2.0)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(variable) == 2.0
    assert issubclass(NPUBulkSaverBuilder, BulkSaverBuilder) and isinstance(NPUSaver()._builder, NPUBulkSaverBuilder)


def test_replicas_of_the_strategy_are_the_ranks():
    from npu_bridge.estimator.npu.npu_strategy import NPUExtended, NPUStrategy

    strategy = NPUStrategy()
    assert isinstance(strategy.extended, NPUExtended) and strategy.num_replicas_in_sync == 1
    with pytest.raises(ValueError, match="cpu:0"):
        NPUStrategy("/gpu:0")


def test_loop_variables_and_divided_gradients(graph):
    from npu_bridge.estimator.npu import util

    assert util.create_or_get_var("zero") is util.create_or_get_var("zero")
    assert util.create_or_get_var("zero").op.name == "npu_runconfig/zero"
    assert util.register_func("one")() is None and len(tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES)) == 2
    a, b = tf.zeros([6]), tf.zeros([2])
    parts = util.fair_division([util.GradDivisionItem(x, x) for x in (a, b)], 2)
    assert [[item.grad for item in part] for part in parts] == [[a], [b]]


def test_shapes_noted_on_operations(graph):
    from npu_bridge.estimator.npu import util

    x = tf.identity(tf.ones([2, 2]))
    util.set_op_tensor_max_range(x, "4,4")
    util.set_op_input_tensor_multi_dims(x, "data:-1,2", "2;4")
    assert x.op.get_attr("_op_max_shape") == b"4,4"
    assert x.op.get_attr("_subgraph_multi_dims_input_shape") == b"data:-1,2"
    assert x.op.get_attr("_subgraph_multi_dims_input_dims") == b"2;4"


def test_gradients_and_aliases_of_the_operator_library(plain_session):
    from npu_bridge.helper import helper

    ops = helper.get_gen_ops()
    x = tf.constant(RANDOM.randn(5, 3).astype(np.float32))
    one = tf.ones_like(x)
    pairs = [
        (ops.gelu_grad(one, x, ops.gelu(x)), tf.gradients(ops.gelu(x), x)[0]),
        (ops.fast_gelu_grad(one, x), tf.gradients(ops.fast_gelu(x), x)[0]),
        (ops.p_relu(x, tf.constant(0.25)), tf.nn.leaky_relu(x, 0.25)),
        (ops.non_zero(x), tf.where(tf.not_equal(x, 0))),
        (ops.lars([x], [one], 0.1)[0], ops.lars_v2(x, one, 0.1, 1.0)),
    ]
    for got, wanted in plain_session.run(pairs):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    normed, mean, variance = ops.fused_layer_norm(x, tf.ones([3]), tf.zeros([3]), 1, 1, 1e-7)
    moments = tf.nn.moments(x, [1], keep_dims=True)
    for got, wanted in plain_session.run([(mean, moments[0]), (variance, moments[1])]):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    assert normed.shape == x.shape
    values = plain_session.run(ops.non_zero_with_value(x))
    np.testing.assert_array_equal(np.sort(np.ravel(values[0])), np.sort(plain_session.run(x).ravel()))
    plain_session.run(ops.outfeed_enqueue("aliases", [tf.constant(3)]))
    assert plain_session.run(ops.outfeed_dequeue("aliases", [tf.int32], [tf.TensorShape([])])) == [3]


@pytest.mark.parametrize("suffix", ["", "_v3", "_v4"])
def test_masks_of_every_version(plain_session, suffix):
    from npu_bridge.helper import helper

    ops = helper.get_gen_ops()
    x = tf.ones([64, 64])
    mask = getattr(ops, f"drop_out_gen_mask{suffix}")([64, 64], tf.constant(0.5), seed=3)
    apply = ops.drop_out_do_mask if suffix == "" else ops.drop_out_do_mask_v3
    value = plain_session.run(apply(x, mask, 0.5))
    assert set(np.unique(value)) == {0.0, 2.0} and abs(value.mean() - 1) < 0.1


def test_slopes_of_prelu_are_keras(plain_session):
    from npu_bridge.tbe.npu_vector_ops import PReLU

    x = tf.constant(RANDOM.randn(4, 3).astype(np.float32))
    ours, theirs = PReLU(alpha_initializer=tf.constant_initializer(0.3)), tf.keras.layers.PReLU(tf.constant_initializer(0.3))
    results = ours(x), theirs(x)
    plain_session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(*plain_session.run(results), rtol=1e-6)


def test_constants_from_files_and_joined_shapes(plain_session, tmp_path):
    from npu_bridge.experimental.file_constant import file_constant
    from npu_bridge.experimental.get_shape import getshape

    values = RANDOM.rand(2, 3).astype(np.float32)
    values.tofile(tmp_path / "values.bin")
    got = plain_session.run(file_constant([2, 3], tf.float32, file_path=str(tmp_path / "values.bin")))
    np.testing.assert_array_equal(got, values)
    for wrong in ({}, {"file_path": "a", "file_id": "b"}, {"file_id": "b"}):
        with pytest.raises(ValueError, match="file_"):
            file_constant([1], tf.float32, **wrong)
    assert plain_session.run(getshape([tf.ones([2, 3]), tf.ones([5])])).tolist() == [2, 3, 5]


def test_ranks_and_pictures_of_experimental(plain_session):
    from npu_bridge.experimental.hccl import get_actual_rank_size, get_user_rank_id, get_user_rank_size
    from npu_bridge.experimental.image import decode_image

    assert (get_actual_rank_size(), get_user_rank_size(), get_user_rank_id()) == (1, 1, 0)
    picture = (RANDOM.rand(6, 5, 3) * 255).astype(np.uint8)
    got = plain_session.run(decode_image(tf.image.encode_png(tf.constant(picture))))
    np.testing.assert_array_equal(got, picture)


def test_stateless_dropout_depends_on_its_seeds_alone(plain_session):
    from npu_bridge.npu_cpu.npu_cpu_ops import stateless_dropout

    x = tf.ones([50, 50])
    one, same, other = plain_session.run([stateless_dropout(x, None, 0.25, 3, offset) for offset in (1, 1, 2)])
    np.testing.assert_array_equal(one, same)
    assert (one != other).any() and set(np.unique(one)) == {np.float32(0), np.float32(4 / 3)}


def test_native_extension_starts_and_stops():
    from npu_bridge import tf_adapter

    options = {tf_adapter.OPTION_GRAPH_RUN_MODE: "1", tf_adapter.OPTION_EXEC_HCCL_FLAG: "0"}
    tf_adapter.PluginInit(tf_adapter.map_string_string(options))
    tf_adapter.PluginFinalize()
    tf_adapter.NpuClose()
    numbers = (tf_adapter.DT_FLOAT, tf_adapter.DT_DOUBLE, tf_adapter.DT_INT32, tf_adapter.DT_INT64, tf_adapter.DT_HALF)
    assert [tf.as_dtype(n).name for n in numbers] == ["float32", "float64", "int32", "int64", "float16"]


def test_named_memory_of_the_host(graph):
    from npu_bridge import tf_adapter
    from npu_bridge.estimator.npu import npu_plugin

    npu_plugin.init_rdma_pool(1 << 20)
    npu_plugin.rdma_remote_register([])
    npu_plugin.rdma_remote_init([], 1 << 20)
    address, size = npu_plugin.malloc_shared_memory("table", [4, 8], tf_adapter.DT_FLOAT)
    assert (address, size) == npu_plugin.get_var_addr_and_size("table") and size == 4 * 8 * 4
    assert bytes((ctypes.c_ubyte * size).from_address(address)) == bytes(size)
    cache = npu_plugin.get_rdma_cache(tf.float32, [2, 3])
    assert cache.op.name == "rdma_w" and cache.shape == [2, 3] and cache.op.get_attr("_output_memory_type") == 1
    wrong = [
        (lambda: npu_plugin.init_rdma_pool("1"), ValueError), (lambda: npu_plugin.rdma_remote_register(3), ValueError),
        (lambda: npu_plugin.rdma_remote_init([], "1"), ValueError), (lambda: npu_plugin.get_var_addr_and_size(3), ValueError),
        (lambda: npu_plugin.get_var_addr_and_size("none"), RuntimeError),
        (lambda: npu_plugin.malloc_shared_memory("table", [1], 1), RuntimeError),
    ]  # fmt: skip
    for call, error in wrong:
        with pytest.raises(error):
            call()
