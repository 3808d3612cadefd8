"""Python functions in the graph, outside of input pipelines."""

from __future__ import annotations

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
        Example.same("y = py_func(f)", note="not TensorFlow's"),
        Example.same("d = tf.data.Dataset.range(3).map(lambda x: tf.py_func(f, [x], tf.float32))", note="the pipeline's own"),
    ),
)  # fmt: skip
def python_function(call: Call) -> None:
    """Reports Python functions that are called from the graph, outside of input pipelines."""
    if not in_pipeline(call):
        call.manual(
            "Outside of a tf.data pipeline, the simulated device runs the call, but an NPU only with mix_compile_mode=True in "
            "the session's options. Set that option, or write TensorFlow's ops instead.",
            mixed_computing(call),
        )
