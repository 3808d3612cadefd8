"""Python functions in the graph, outside of input pipelines."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline
from tf2npu.rules.facts.written_code import mixed_computing
from tf2npu.scanner.sites import Call


@rule(
    id="NPU912",
    title="Python code in the graph",
    matches=(
        *(f"tensorflow.{name}" for name in ("py_func", "numpy_function", "py_function")),
        "tensorflow.contrib.eager.py_func", "tensorflow.contrib.framework.py_func",
        "tensorflow.compat.v2.numpy_function", "tensorflow.compat.v2.py_function",
    ),
    why="Python runs on the host: the graph is cut there, which needs mixed computing outside of the input pipeline.",
    done_when="The summary of `tf2npu run` names no PyFunc on the host, or mix_compile_mode is among the session's options.",
    source="TensorFlow adapter porting guide: mix_compile_mode",
    examples=(
        Example.same("y = tf.py_func(f, [x], tf.float32)", level="manual",
            write="y = tf.math.log1p(x)  # TensorFlow's ops in the place of f"),
        Example(
            "y = tf.py_func(f, [x], tf.float32)\ns = tf.Session()",
            "y = tf.py_func(f, [x], tf.float32)\nnpu_config = tf.ConfigProto()\n"
            "npu_optimizer = npu_config.graph_options.rewrite_options.custom_optimizers.add()\n"
            'npu_optimizer.name = "NpuOptimizer"\nnpu_optimizer.parameter_map["mix_compile_mode"].b = True\n'
            "npu_config.graph_options.rewrite_options.remapping = RewriterConfig.OFF\n"
            "npu_config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF\n"
            "s = tf.Session(config=npu_config)",
            note="the session that runs it gets the option",
        ),
        Example.same("y = py_func(f)", note="not TensorFlow's"),
        Example.same("d = tf.data.Dataset.range(3).map(lambda x: tf.py_func(f, [x], tf.float32))", note="the pipeline's own"),
    ),
)  # fmt: skip
def python_function(call: Call) -> None:
    """Reports Python functions that are called from the graph, outside of input pipelines."""
    if in_pipeline(call):
        return
    if call.script.path in tensorflow_in(call.script.project).mixed_graphs:
        call.info(
            "The Python function runs on the host, and every step waits for the result. mix_compile_mode, which an NPU needs, "
            "is set (or asked for) where the session is made."
        )
    else:
        call.manual(
            "Outside of a tf.data pipeline, the simulated device runs the call, but an NPU only with mix_compile_mode=True in "
            "the session's options. Set that option, or write TensorFlow's ops instead.",
            mixed_computing(call),
        )
