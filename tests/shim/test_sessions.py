"""Configuration helpers, the patch of sessions, starting and stopping the device, scopes and attributes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import tensorflow as tf


def entries(config):
    return [entry.name for entry in config.graph_options.rewrite_options.custom_optimizers]


def test_npu_config_proto_changes_and_gives_back_the_same_object():
    from npu_bridge.npu_init import npu_config_proto

    config = tf.ConfigProto(allow_soft_placement=False, log_device_placement=True)
    assert npu_config_proto(config) is config
    rewrite = config.graph_options.rewrite_options
    assert entries(config) == ["NpuOptimizer"] == entries(npu_config_proto(config))
    assert config.allow_soft_placement and not config.log_device_placement
    assert rewrite.remapping == type(rewrite).OFF
    assert config.graph_options.optimizer_options.global_jit_level == tf.OptimizerOptions.OFF
    assert rewrite.memory_optimization == type(rewrite).NO_MEM_OPT


def test_memory_optimization_is_the_scripts_when_it_wrote_the_entry():
    from npu_bridge.npu_init import npu_config_proto

    config = tf.ConfigProto()
    config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"
    assert npu_config_proto(config).graph_options.rewrite_options.memory_optimization == 0
    assert entries(npu_config_proto("nonsense")) == ["NpuOptimizer"]


def test_other_option_helpers():
    from npu_bridge.npu_init import npu_graph_options, npu_optimizer_options, npu_run_config_init

    options = tf.GraphOptions()
    assert npu_graph_options(options) is options and options.optimizer_options.global_jit_level == tf.OptimizerOptions.OFF
    assert npu_optimizer_options().global_jit_level == tf.OptimizerOptions.OFF
    config = tf.estimator.tpu.RunConfig(tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=3))
    assert npu_run_config_init(config) is config and entries(config.session_config) == ["NpuOptimizer"]
    assert entries(npu_run_config_init(None).session_config) == ["NpuOptimizer"]


def test_every_session_carries_the_entry(graph):
    constant = tf.constant(1)
    with tf.Session() as session:
        assert entries(session._config) == ["NpuOptimizer"] and session.run(constant) == 1
    mine = tf.ConfigProto(inter_op_parallelism_threads=3)
    for session in (tf.Session("", graph, mine), tf.Session(config=mine), tf.Session(config=None), tf.InteractiveSession()):
        assert entries(session._config) == ["NpuOptimizer"]
        session.close()
    with tf.train.MonitoredTrainingSession() as session:
        assert entries(session._tf_sess()._config) == ["NpuOptimizer"] and session.run(constant) == 1


def test_none_by_position_is_accepted_and_refused_in_strict_mode(graph, capsys, monkeypatch):
    from npu_bridge import _log

    _log._said.clear()
    tf.Session("", graph, None).close()
    tf.Session("", graph, None).close()
    assert capsys.readouterr().err.count("on a host it raises AttributeError") == 1
    monkeypatch.setenv("TF2NPU_STRICT", "1")
    with pytest.raises(AttributeError):
        tf.Session("", graph, None)


def session_with(graph, **fields):
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    for key, (field, value) in fields.items():
        setattr(entry.parameter_map[key], field, value)
    tf.Session(config=config).close()


def test_options_are_checked_and_never_ignored_in_silence(graph, capsys):
    from npu_bridge import _log

    _log._said.clear()
    wrong = {"precision_mode": ("b", True), "autotune_tune_mode": ("s", b"GA"), "enable_dump": ("b", True)}
    for _ in range(2):
        session_with(graph, **wrong, use_off_line=("b", True), hcom_parallel=("b", True), profiling_mode=("b", False))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert "did you mean 'auto_tune_mode'" in said[0] and "needs dump_path" in said[1]
    assert "belongs into .s" in said[2]


def test_every_option_of_a_run_config_is_known():
    from npu_bridge.estimator.npu._parameter_map import EXPERIMENTAL, SAME_NAME
    from npu_bridge.npu_init import DumpConfig, DynamicInputConfig, MemoryConfig

    from npu_formats.session_options import table

    spread = [name[1:] for part in (DumpConfig(), MemoryConfig(), DynamicInputConfig("", "", 0, 0)) for name in vars(part)]
    assert {*SAME_NAME, *EXPERIMENTAL.values(), *spread} - set(table()) == set()


def test_signatures_of_sessions_are_kept():
    assert list(inspect.signature(tf.Session.__init__).parameters) == ["self", "target", "graph", "config"]


def test_init_resource_and_shutdown_and_again(graph):
    from npu_bridge.npu_init import (
        close_session,
        get_npu_local_rank_id,
        get_npu_rank_id,
        get_npu_rank_size,
        init_resource,
        shutdown_resource,
    )

    for _ in range(2):
        session, shutdown = init_resource()
        assert (get_npu_rank_id(), get_npu_local_rank_id(), get_npu_rank_size()) == (0, 0, 1)
        assert session.run(tf.constant(2.0) * 3) == 6
        shutdown_resource(session, shutdown)
        close_session(session)
        with pytest.raises(RuntimeError, match="closed"):
            session.run(shutdown)


def test_system_operations_run_in_any_session(graph, plain_session):
    from npu_bridge.estimator import npu_ops

    init, stop = npu_ops.initialize_system(), npu_ops.shutdown_system()
    assert isinstance(init, tf.Operation) and init.get_attr("_npu_op") == b"NPUInit"
    for _ in range(2):
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(init)
            session.run(stop)
    plain_session.run([init, stop])


def test_rank_before_init_resource(capsys, monkeypatch):
    from npu_bridge import _log
    from npu_bridge.estimator.npu import util
    from npu_bridge.npu_init import get_npu_rank_size

    monkeypatch.setattr(util, "_values", None)
    _log._said.clear()
    assert get_npu_rank_size() == 1 and "NameError" in capsys.readouterr().err
    monkeypatch.setenv("TF2NPU_STRICT", "1")
    with pytest.raises(NameError):
        get_npu_rank_size()


SCOPES = {
    "without_npu_compile_scope": ((), {"_without_npu_compile": True}),
    "keep_dtype_scope": ((), {"_keep_dtype": 1}),
    "npu_stage_scope": ((2,), {"_stage_level": 2}),
    "npu_mem_type_scope": ((), {"_output_memory_type": 1}),
    "npu_weight_prefetch_scope": ((), {"_buffer_pool_id": 0, "_buffer_pool_size": 536870912}),
    "op_specified_engine_scope": (("a", "b"), {"_specified_engine_name": b"a", "_specified_kernel_lib_name": b"b"}),
    "npu_qos_label_scope": ((3,), {"_qos_service_label": 3}),
    "subgraph_multi_dims_scope": ((1,), {"_subgraph_multi_dims_index": 1}),
    "npu_optimizer_scope": ((), {"_optimizer": True}),
    "disable_autofuse": ((), {"_disable_autofuse_scope": True}),
    "limit_core_num_scope": (("4", "8"), {"_op_vectorcore_num": b"8"}),
    "npu_variable_scope": ((), {"_variable_placement": b"all"}),
}


@pytest.mark.parametrize("name", SCOPES)
def test_scopes_put_attributes_on_operations(graph, plain_session, name):
    from npu_bridge.estimator.npu import npu_scope

    arguments, attributes = SCOPES[name]
    with getattr(npu_scope, name)(*arguments):
        inside = tf.square(tf.constant(3.0))
    outside = tf.square(inside)
    for attribute, value in attributes.items():
        assert inside.op.get_attr(attribute) == value
        with pytest.raises(ValueError, match="no attr"):
            outside.op.get_attr(attribute)
    assert plain_session.run(outside) == 81


def test_misuse_of_scopes(graph):
    from npu_bridge.estimator.npu import npu_scope
    from npu_bridge.estimator.npu.npu_config import NpuExecutePlacement

    with pytest.raises(ValueError, match="NpuExecutePlacement"):
        npu_scope.npu_variable_scope("host")
    with npu_scope.npu_variable_scope(NpuExecutePlacement.HOST):
        assert tf.get_variable("v", [1]).op.get_attr("_variable_placement") == b"host"
    for arguments in ((), ("4", "zero"), (4, 4)):
        with pytest.raises(ValueError, match="op_"):
            npu_scope.limit_core_num_scope(*arguments)
    with npu_scope.npu_recompute_scope() as name:
        assert name == "NpuRecompute/"
    with npu_scope.npu_graph_slice_scope(2) as name:
        assert name == "SliceNum-2-NpuGraphSlicing2/"
    with pytest.raises(TypeError):
        npu_scope.npu_graph_slice_scope()
    with pytest.raises(ValueError, match="> 0"):
        npu_scope.npu_graph_slice_scope(0)


def test_attributes_of_fetches(graph):
    from npu_bridge.estimator.npu import util

    x = tf.constant([1.0], name="x")
    for fetch in (x, x.op, [x], "x:0"):
        result = util.set_graph_exec_config(
            fetch, dynamic_input=True, dynamic_graph_execute_mode="lazy_recompile", is_train_graph=True
        )
        assert result is fetch
    assert x.op.get_attr("_graph_dynamic_input") and x.op.get_attr("_is_train_graph")
    assert x.op.get_attr("_graph_dynamic_graph_execute_mode") == b"lazy_recompile"
    with pytest.raises(ValueError, match="dynamic_graph_execute_mode"):
        util.set_graph_exec_config(x, dynamic_graph_execute_mode="often")
    with pytest.raises(ValueError, match="fetch must be"):
        util.set_graph_exec_config(3)
    util.keep_tensors_dtypes(graph, ["x:0"])
    assert x.op.get_attr("_keep_dtype") == 1
    for wrong in ("x:0", [x]):
        with pytest.raises(ValueError, match="tensor names"):
            util.keep_tensors_dtypes(graph, wrong)
    util.set_op_tensor_max_size(x, 64)
    assert x.op.get_attr("_op_max_size") == 64
    variable = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    with tf.Session() as session:
        session.run(util.variable_initializer_in_host([variable]))
        util.npu_compile(session, variable, x)
        np.testing.assert_array_equal(session.run(variable), [1, 1])
    assert graph.get_operation_by_name("var_in_host")


def test_checks_and_the_dictionary(tmp_path, monkeypatch):
    from npu_bridge.estimator.npu import util

    monkeypatch.setattr(util, "_values", None)
    with pytest.raises(NameError):
        util.get_value("a")
    util.global_dict_init()
    util.set_value("a", 3)
    assert util.get_value("a") == 3 and util.get_value("b", 4) == 4
    util.check_positive_integer(1, "n")
    for call, error in (
        (lambda: util.check_positive_integer(1.0, "n"), TypeError), (lambda: util.check_positive_integer(0, "n"), ValueError),
        (lambda: util.check_nonnegative_integer(-1, "n"), ValueError), (lambda: util.check_bool_type(1, "b"), TypeError),
        (lambda: util.check_not_none(None, "x"), ValueError), (lambda: util.check_path("no/such/folder"), ValueError),
        (lambda: util.check_aoe_mode("9"), ValueError), (lambda: util.check_profiling_options(None), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()
    assert util.check_path(str(tmp_path)) == str(tmp_path.resolve())
    monkeypatch.setenv("RANK_SIZE", "8")
    assert util.get_ranksize() == "8"
    monkeypatch.setenv("CM_WORKER_SIZE", "8")
    with pytest.raises(ValueError, match="both set"):
        util.get_ranksize()
    monkeypatch.delenv("RANK_SIZE")
    assert util.get_ranksize() == "8"


def test_npu_plugin(tmp_path):
    from npu_bridge.estimator.npu import npu_plugin

    npu_plugin.npu_resource_init(precision_mode="allow_mix_precision")
    npu_plugin.npu_resource_shutdown()
    for arguments, error in (
        ({"graph_run_mode": 2}, ValueError), ({"enable_profiling": True}, ValueError), ({"hcom_multi_mode": 1}, TypeError),
        ({"aoe_mode": "7"}, ValueError), ({"aoe_mode": "1", "work_path": str(tmp_path / "no")}, ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            npu_plugin.npu_resource_init(**arguments)
    npu_plugin.set_device_sat_mode(1)
    assert npu_plugin.is_inf_nan_enabled()
    npu_plugin.set_device_sat_mode(0)
    assert not npu_plugin.is_inf_nan_enabled()
    npu_plugin.set_device_sat_mode(1)  # as the tests that follow expect numbers to be TensorFlow's
    with pytest.raises(ValueError):
        npu_plugin.set_device_sat_mode(2)


def test_profiler_and_graph_manager(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a profile goes that has no folder
    from npu_bridge.profiler.profiler import Profiler
    from npu_bridge.scoped_graph_manager.scoped_graph_manager import ScopedGraphManager

    with Profiler(level="L1", aic_metrics="PipeUtilization"), ScopedGraphManager(), pytest.raises(RuntimeError, match="nested"):
        Profiler().start()
    for arguments, error in (({"level": 1}, ValueError), ({"level": "L9"}, RuntimeError), ({"aic_metrics": "x"}, RuntimeError)):
        with pytest.raises(error):
            Profiler(**arguments)
