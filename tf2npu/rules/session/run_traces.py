"""Traces of a run: TensorFlow times its own ops, of which the NPU's work is one or a few."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Call

_TOLD = "On the NPU this trace has the work of the device as one or a few ops. To see the ops inside, have the device profile: "
_IN_SESSION = 'the session options profiling_mode=True and profiling_options=\'{"output": ..., "task_trace": "on"}\' do that.'
_IN_ESTIMATOR = "NPURunConfig(profiling_config=ProfilingConfig(enable_profiling=True, profiling_options=...)) does that."
_OFF = ("tensorflow.RunOptions.NO_TRACE", "0")


@rule(
    id="NPU957",
    title="Trace of a run",
    once=True,
    matches=("tensorflow.RunOptions",),
    why=(
        "TensorFlow times the ops that it runs itself. What goes to the NPU is compiled into a few of them, so a trace shows how "
        "long these took as a whole, and nothing of the ops inside."
    ),
    source="npu_bridge.npu_init: ProfilingConfig, the session options profiling_mode and profiling_options",
    examples=(
        Example.same(
            "o = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)",
            level="info",
            write="option = tf.ConfigProto().graph_options.rewrite_options.custom_optimizers.add()\n"
            "option.name = 'NpuOptimizer'\noption.parameter_map['profiling_mode'].b = True\n"
            'option.parameter_map[\'profiling_options\'].s = b\'{"output": "prof", "task_trace": "on"}\'',
        ),
        Example.same("o = tf.RunOptions(trace_level=level)", note="a level nobody sees", level="info"),
        Example.same("o = tf.RunOptions(timeout_in_ms=100)", note="no trace"),
        Example.same("o = tf.RunOptions(trace_level=tf.RunOptions.NO_TRACE)", note="none asked for"),
    ),
)
def traced_run(call: Call) -> None:
    """Reports runs whose steps are to be traced."""
    level = call.value("trace_level")
    if level is not None and call.resolve(level) not in _OFF and call.source(level) not in _OFF:
        call.info(_TOLD + _IN_SESSION)


@part_of(
    traced_run,
    matches=("tensorflow.train.ProfilerHook", "tensorflow.estimator.ProfilerHook"),
    examples=(
        Example.same("hooks = [tf.train.ProfilerHook(save_steps=100, output_dir='prof')]", level="info"),
        Example.same("hooks = [tf.train.StepCounterHook(every_n_steps=100)]", note="counts steps only"),
    ),
)
def profiler_hook(call: Call) -> None:
    """Reports hooks that trace every so many steps."""
    call.info(_TOLD + (_IN_ESTIMATOR if "Estimator" in call.script.text else _IN_SESSION))
