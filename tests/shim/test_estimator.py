"""NPURunConfig, NPUEstimator, specifications, hooks and savers."""

from __future__ import annotations

import inspect
import os
import re

import numpy as np
import pytest
import tensorflow as tf

OLD_RELEASE = ("auto_tune_mode", "mstune_mode")


def make_config(**options):
    from npu_bridge.npu_init import NPURunConfig

    return NPURunConfig(**options)


def parameter_map(config):
    from npu_bridge.estimator.npu.npu_config import add_npu_options

    (entry,) = add_npu_options(config).graph_options.rewrite_options.custom_optimizers
    return {key: getattr(value, value.WhichOneof("value")) for key, value in entry.parameter_map.items()}


DEFAULTS = {
    "iterations_per_loop": 1, "save_summary_steps": 0, "save_checkpoints_steps": None, "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000, "log_step_count_steps": 100, "enable_data_pre_proc": True, "precision_mode": None,
    "mix_compile_mode": False, "hcom_parallel": True, "graph_run_mode": 1, "enable_exception_dump": 2,
    "buffer_optimize": "l2_optimize", "enable_small_channel": 0, "dynamic_graph_execute_mode": "dynamic_execute",
    "device_type": "default_device_type", "stream_sync_timeout": -1, "deterministic": 0, "variable_placement": "Device",
    "jit_compile": "auto", "input_fusion_size": 131072, "export_compile_stat": 1, "oo_level": "O3", "oo_constant_folding": True,
    "shape_generalization_mode": "STRICT", "graph_max_parallel_model_num": 1, "auto_tune_mode": None, "mstune_mode": None,
}  # fmt: skip


def test_run_config_signature():
    from npu_bridge.npu_init import NPURunConfig

    parameters = inspect.signature(NPURunConfig.__init__).parameters
    assert {name: parameters[name].default for name in DEFAULTS} == DEFAULTS
    assert len(parameters) == 1 + 88 + len(OLD_RELEASE)


def test_run_config_is_a_run_config(tmp_path):
    config = make_config(model_dir=str(tmp_path), save_summary_steps=7, tf_random_seed=3, keep_checkpoint_max=2)
    assert isinstance(config, tf.estimator.RunConfig) and config.model_dir == str(tmp_path)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (100, None)
    assert (config.save_summary_steps, config.tf_random_seed, config.keep_checkpoint_max) == (7, 3, 2)
    assert make_config(save_checkpoints_secs=5).save_checkpoints_steps is None
    assert config.replace(model_dir="elsewhere").iterations_per_loop == 1
    with pytest.raises(ValueError):
        make_config(save_checkpoints_secs=5, save_checkpoints_steps=5)


def test_options_reach_the_parameter_map():
    from npu_bridge.npu_init import DumpConfig, DynamicInputConfig, MemoryConfig, ProfilingConfig

    options = parameter_map(
        make_config(
            precision_mode="allow_mix_precision",
            iterations_per_loop=4,
            hccl_timeout=600,
            auto_tune_mode="RL,GA",
            dump_config=DumpConfig(enable_dump=True, dump_path="there", dump_step="0|5"),
            profiling_config=ProfilingConfig(True, "{}"),
            memory_config=MemoryConfig(1),
            dynamic_input_config=DynamicInputConfig("x:-1", "1;2", 1, 0),
        )
    )
    assert options["precision_mode"] == b"allow_mix_precision" and options["iterations_per_loop"] == 4
    assert options["hccl_timeout"] == 600 and options["auto_tune_mode"] == b"RL,GA" and options["min_group_size"] is True
    assert (options["enable_dump"], options["dump_path"], options["dump_step"], options["dump_mode"]) == (
        True,
        b"there",
        b"0|5",
        b"output",
    )
    assert (options["profiling_mode"], options["profiling_options"]) == (True, b"{}")
    assert (options["input_shape"], options["dynamic_node_type"], options["atomic_clean_policy"]) == (b"x:-1", 1, 1)
    assert (options["job"], options["task_index"]) == (b"localhost", 0)
    assert "op_debug_config" not in options and options["enable_reduce_precision"] is False


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"iterations_per_loop": "1"}, TypeError), ({"iterations_per_loop": 0}, ValueError), ({"mix_compile_mode": 1}, TypeError),
        ({"mix_compile_mode": True, "iterations_per_loop": 2}, ValueError), ({"horovod_mode": 1}, ValueError),
        ({"graph_run_mode": 2}, ValueError), ({"jit_compile": True}, TypeError), ({"dump_config": {}}, ValueError),
        ({"dynamic_input_config": 3}, ValueError), ({"experimental_config": 3}, ValueError),
        ({"buffer_optimize": "x"}, ValueError),
        ({"variable_placement": "device"}, ValueError), ({"dynamic_graph_execute_mode": "x"}, ValueError),
        ({"enable_compress_weight": True, "compress_weight_conf": "f"}, ValueError), ({"distribute": object()}, ValueError),
        ({"no_such_option": 1}, TypeError),
    ],
)  # fmt: skip
def test_misuse_of_run_config(options, error):
    with pytest.raises(error):
        make_config(**options)


def test_a_cluster_needs_a_strategy(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}')
    with pytest.raises(ValueError, match="together"):
        make_config()


def test_other_configuration_classes():
    from npu_bridge.estimator.npu.npu_config import ExperimentalConfig, GraphMemoryOptimizeConfig

    with pytest.raises(ValueError, match="recompute"):
        GraphMemoryOptimizeConfig(recompute="often")
    with pytest.raises(ValueError):
        ExperimentalConfig(graph_memory_optimize_config="auto")
    memory = GraphMemoryOptimizeConfig(recompute="auto")
    options = parameter_map(make_config(experimental_config=ExperimentalConfig(graph_memory_optimize_config=memory)))
    assert options["recompute"] == b"auto" and options["experimental_logical_device_cluster_deploy_mode"] == b"LB"


X = np.random.RandomState(0).randn(40, 4).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(10, drop_remainder=True)


def once():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(10, drop_remainder=True)


def build(features, labels, mode, spec=None, **extra):
    spec = spec or tf.estimator.EstimatorSpec
    hidden = tf.layers.dense(features["x"], 8, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    logits = tf.layers.dense(hidden, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return spec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return spec(mode, loss=loss, eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))})
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    return spec(mode, loss=loss, train_op=train_op, **{k: f(loss) for k, f in extra.items()})


def model_fn(features, labels, mode):
    return build(features, labels, mode)


@pytest.fixture(scope="module")
def plain_result(tmp_path_factory):
    """The result of tf.estimator.Estimator on TensorFlow."""
    from npu_bridge.estimator.npu.npu_config import add_npu_options

    config = add_npu_options(make_config())
    config.graph_options.rewrite_options.custom_optimizers[0].parameter_map["use_off_line"].b = False
    run_config = tf.estimator.RunConfig(session_config=config, save_checkpoints_steps=100)
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path_factory.mktemp("plain")), run_config)
    estimator.train(input_fn, max_steps=20)
    return estimator.evaluate(once)


@pytest.mark.parametrize("iterations", [1, 5])
def test_npu_estimator_trains_as_the_estimator(tmp_path, plain_result, iterations):
    from npu_bridge.npu_init import NPUEstimator

    config = make_config(model_dir=str(tmp_path), save_checkpoints_steps=10, iterations_per_loop=iterations)
    estimator = NPUEstimator(model_fn, config=config)
    estimator.train(input_fn, max_steps=20)
    result = estimator.evaluate(once)
    assert result["global_step"] == 20 and result["accuracy"] == plain_result["accuracy"]
    assert result["loss"] == pytest.approx(plain_result["loss"], rel=1e-4)
    steps = sorted(int(m.group(1)) for name in os.listdir(tmp_path) if (m := re.fullmatch(r"model\.ckpt-(\d+)\.index", name)))
    assert steps[-2:] == [10, 20]
    assert len(list(estimator.predict(once))) == 40


def test_export_and_warm_start(tmp_path):
    from npu_bridge.npu_init import NPUEstimator

    def exportable(features, labels, mode):
        spec = build(features, labels, mode)
        if mode == tf.estimator.ModeKeys.PREDICT:
            output = tf.estimator.export.PredictOutput(spec.predictions["logits"])
            return spec._replace(export_outputs={"serving_default": output})
        return spec

    estimator = NPUEstimator(exportable, config=make_config(model_dir=str(tmp_path / "a")))
    estimator.train(input_fn, steps=3)
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 4])})
        folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.load(session, ["serve"], folder.decode())
        output = loaded.signature_def["serving_default"].outputs["output"].name
        source = loaded.signature_def["serving_default"].inputs["x"].name
        exported = session.run(output, {source: X[:10]})
    np.testing.assert_allclose(exported, [p["logits"] for p in estimator.predict(once)][:10], rtol=1e-5, atol=1e-6)
    warm = NPUEstimator(exportable, config=make_config(model_dir=str(tmp_path / "b")), warm_start_from=str(tmp_path / "a"))
    warm.train(input_fn, steps=1)
    assert warm.get_variable_value("global_step") == 1
    change = np.abs(warm.get_variable_value("dense/kernel") - estimator.get_variable_value("dense/kernel")).max()
    assert change < 0.06  # one Adam step of 0.05 away from where the other stopped


def test_what_a_model_function_may_declare(tmp_path):
    from npu_bridge.npu_init import NPUEstimator

    seen = []

    def everything(features, labels, mode, params, config):
        seen.append((params["a"], type(config).__name__))
        return build(features, labels, mode)

    NPUEstimator(everything, config=make_config(model_dir=str(tmp_path / "1")), params={"a": 3}).train(input_fn, steps=1)
    assert seen == [(3, "NPURunConfig")]

    class Mine(NPUEstimator):
        def train(self, *args, **kwargs):
            seen.append("mine")
            return super().train(*args, **kwargs)

    Mine(model_fn, config=make_config(model_dir=str(tmp_path / "2"))).train(input_fn, steps=1)
    assert seen[-1] == "mine"


def test_train_and_evaluate(tmp_path):
    from npu_bridge.npu_init import NPUEstimator

    estimator = NPUEstimator(model_fn, config=make_config(model_dir=str(tmp_path), save_checkpoints_steps=5))
    result, _ = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, 10), tf.estimator.EvalSpec(once, throttle_secs=0)
    )
    assert result["global_step"] == 10


def test_host_call_gets_the_values_of_every_step(tmp_path):
    from npu_bridge.npu_init import NPUEstimator, NPUEstimatorSpec

    got = []

    def record(loss):
        def keep(value):
            got.append(float(value))
            return np.int64(0)

        return tf.py_func(keep, [loss], tf.int64)

    def with_host_call(features, labels, mode):
        return build(features, labels, mode, NPUEstimatorSpec, host_call=lambda loss: (record, [loss]))

    NPUEstimator(with_host_call, config=make_config(model_dir=str(tmp_path))).train(input_fn, steps=6)
    assert len(got) == 6 and got[-1] < got[0]


def _contrib_summary(folder, step, loss):
    summary = tf.contrib.summary
    with summary.create_file_writer(folder, max_queue=3).as_default(), summary.always_record_summaries():
        summary.scalar("told", loss[0], step=step[0])
        return summary.all_summary_ops()


def _summary_of_version_2(folder, step, loss):
    import tensorflow.compat.v2 as tf2

    with tf2.summary.create_file_writer(folder, max_queue=3).as_default(), tf2.summary.record_if(True):
        tf2.summary.scalar("told", loss[0], step=step[0])
        return tf.summary.all_v2_summary_ops()


@pytest.mark.parametrize("write", [_contrib_summary, _summary_of_version_2])
def test_host_call_writes_summaries(write, tmp_path):
    """As the TPU models of TensorFlow do; the writer of a graph has to be opened in the session."""
    from npu_bridge.npu_init import NPUEstimator, NPUEstimatorSpec

    folder = str(tmp_path / "told")

    def model_fn(features, labels, mode):
        step = tf.train.get_or_create_global_step()
        weight = tf.get_variable("w", initializer=1.0)
        loss = weight * weight
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        host_call = (lambda gs, ls: write(folder, gs, ls), [tf.reshape(step, [1]), tf.reshape(loss, [1])])
        return NPUEstimatorSpec(mode, loss=loss, train_op=train, host_call=host_call)

    data = lambda: tf.data.Dataset.from_tensors((1.0, 1.0)).repeat()  # noqa: E731
    NPUEstimator(model_fn, config=make_config(model_dir=str(tmp_path / "model"))).train(data, steps=4)
    (file,) = os.listdir(folder)
    events = [value for event in tf.train.summary_iterator(f"{folder}/{file}") for value in event.summary.value]
    told = [float(tf.make_ndarray(value.tensor)) if value.HasField("tensor") else value.simple_value for value in events]
    assert [value.tag for value in events] == ["told"] * 4
    np.testing.assert_allclose(sorted(told, reverse=True), [0.64**n for n in range(4)], rtol=1e-5)


@pytest.mark.parametrize(
    ("host_call", "error"),
    [("x", ValueError), ((len,), ValueError), ((len, 3), ValueError), ((3, []), TypeError), ((lambda a: a, []), RuntimeError),
     ((lambda a: a, {"b": 1}), RuntimeError)],
)  # fmt: skip
def test_misuse_of_host_call(graph, host_call, error):
    from npu_bridge.npu_init import NPUEstimatorSpec

    with pytest.raises(error):
        NPUEstimatorSpec("train", loss=tf.constant(1.0), train_op=tf.no_op(), host_call=host_call)


def test_misuse_of_npu_estimator(tmp_path, monkeypatch):
    from npu_bridge.npu_init import NPUEstimator

    for config in (None, tf.estimator.RunConfig()):
        with pytest.raises(ValueError, match="NPURunConfig"):
            NPUEstimator(model_fn, config=config)
    with pytest.raises(ValueError, match="model_dir"):
        NPUEstimator(model_fn, model_dir="a", config=make_config(model_dir="b"))
    with pytest.raises(RuntimeError, match="EstimatorSpec"):
        NPUEstimator(lambda features, labels, mode: 3, config=make_config(model_dir=str(tmp_path))).train(input_fn, steps=1)
    with pytest.raises(ValueError):
        NPUEstimator(lambda features, labels, mode: 3, config=make_config(), params={"a": 1})
    monkeypatch.chdir(tmp_path)
    assert re.fullmatch(r"model_dir_\w{10}", os.path.basename(NPUEstimator(model_fn, config=make_config()).model_dir))
    monkeypatch.delenv("JOB_ID")
    with pytest.raises(ValueError, match="JOB_ID"):
        NPUEstimator(model_fn, config=make_config())


def run_hooks(hooks, steps=5):
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1, name="add")
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        for _ in range(steps):
            session.run(add)


@pytest.mark.parametrize(("every", "expected"), [(0, [[1, 2, 3, 4, 5]]), (2, [[1, 2], [3, 4], [5]])])
def test_output_tensor_hook(graph, every, expected):
    from npu_bridge.npu_init import NPUOutputTensorHook

    got = []
    hook = NPUOutputTensorHook({"step": "add"}, output_fn=got.append, output_every_n_steps=every)
    run_hooks([hook])
    assert [[int(values["step"]) for values in part] for part in got] == expected
    with pytest.raises(ValueError, match="dict"):
        NPUOutputTensorHook(["add"], dependencies=[tf.no_op()])


def test_step_hook(graph, monkeypatch):
    from npu_bridge.npu_init import TellMeStepOrLossHook

    for name in ("STEP_NOW", "TOTAL_STEP", "LOSS_NOW", "TARGET_LOSS"):
        monkeypatch.setenv(name, "")
    run_hooks([TellMeStepOrLossHook(step=tf.train.get_or_create_global_step().read_value(), total_step=9)])
    assert os.environ["TOTAL_STEP"] == "9" and os.environ["STEP_NOW"] in ("4", "5")
    with pytest.raises(ValueError):
        TellMeStepOrLossHook()


def test_hooks_that_one_device_needs(graph, tmp_path):
    from npu_bridge.estimator.npu.npu_hook import NPUShutDownHook
    from npu_bridge.estimator.npu.npu_saver import NPUSaver
    from npu_bridge.npu_init import NPUBroadcastGlobalVariablesHook, NPUCheckpointSaverHook, NpuEmptyHook, npu_hooks_append

    variable = tf.get_variable("v", initializer=3.0)
    saver = NPUSaver(max_to_keep=1)
    hooks = npu_hooks_append([NpuEmptyHook(), NPUShutDownHook()])
    assert isinstance(hooks[-1], NPUBroadcastGlobalVariablesHook) and len(hooks) == 3
    tf.train.get_or_create_global_step()
    run_hooks([*hooks, NPUCheckpointSaverHook(str(tmp_path), save_steps=2, saver=saver)])
    assert tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "v") == 3.0
    assert len([name for name in os.listdir(tmp_path) if name.endswith(".index")]) == 1
    assert len(npu_hooks_append(("a", "b"))) == 1 and variable is not None


def test_outfeed_hook_drains_the_channel(graph):
    from npu_bridge.estimator import npu_ops
    from npu_bridge.estimator.npu.npu_hook import NPUInfeedOutfeedSessionHook

    got = []

    class Keeping(NPUInfeedOutfeedSessionHook):
        def take(self, values):
            got.append(int(values[0]))

    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies([npu_ops.outfeed_enqueue_op("steps", [step.read_value()])]):
        add = tf.assign_add(step, 1)
    take = npu_ops.outfeed_dequeue_op("steps", [tf.int64], [tf.TensorShape([])])
    with tf.train.MonitoredTrainingSession(hooks=[Keeping(take, "steps")]) as session:
        for _ in range(5):
            session.run(add)
    assert len(got) == 5


def test_job_description(monkeypatch):
    from npu_bridge.estimator.npu.npu_common import DeviceInfo, JobInfo, NPUBasics

    assert NPUBasics("x") is NPUBasics("y") and NPUBasics("x").size() == 1
    assert DeviceInfo().is_master_node() and not DeviceInfo(index="3").is_master_node()
    with pytest.raises(TypeError, match="colour"):
        JobInfo(colour=1)


def test_strategy(tmp_path):
    from npu_bridge.npu_init import NPUEstimator, npu_strategy

    strategy = npu_strategy.NPUStrategy()
    assert strategy.num_replicas_in_sync == 1
    with pytest.raises(ValueError, match="cpu:0"):
        npu_strategy.NPUStrategy("/gpu:0")
    config = make_config(model_dir=str(tmp_path), train_distribute=strategy)
    NPUEstimator(model_fn, config=config).train(input_fn, steps=2)
