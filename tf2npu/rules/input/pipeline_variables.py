"""Variables that are made inside an input pipeline."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import pipeline_functions
from tf2npu.rules.facts.written_code import given
from tf2npu.scanner.sites import Call

_INSTEAD = {
    "tensorflow.Variable": "tf.constant(value)",
    "tensorflow.get_variable": "tf.constant(value)",
    "tensorflow.keras.backend.variable": "tf.constant(value)",
    "tensorflow.keras.backend.zeros": "tf.zeros(shape)",
    "tensorflow.keras.backend.ones": "tf.ones(shape)",
}


@rule(
    id="NPU925",
    title="Variable made in the pipeline",
    matches=tuple(_INSTEAD),
    why="The pipeline runs on the host, variables live on the device; keras.backend.zeros and ones make variables too.",
    done_when="`tf2npu run` reads a batch, and no function of the pipeline makes or reads a variable.",
    source="TensorFlow adapter porting guide: constants in the place of variables in preprocessing",
    examples=(
        Example.same(
            "def f(x):\n    return x * tf.Variable(2.0)\nd = tf.data.Dataset.range(3).map(f)",
            note="f is mapped",
            level="unsupported",
            write="def f(x):\n    return x * tf.constant(2.0)\nd = tf.data.Dataset.range(3).map(f)",
        ),
        Example.same("def f(x):\n    return x * tf.Variable(2.0)\ny = f(a)", note="not in a pipeline"),
        Example.same("d = tf.data.Dataset.range(3).map(lambda x: x * tf.constant(2))", note="a constant"),
    ),
)
def pipeline_variable(call: Call) -> None:
    """Reports variables made in functions that a dataset's methods call."""
    functions = pipeline_functions(call.script)
    scope = call.scope
    while scope.parent is not None:
        if id(scope) in functions:
            call.unsupported(f"A variable must not be part of the input pipeline: write {_INSTEAD[call.name]}.", _constant(call))
            return
        scope = scope.parent


def _constant(call: Call) -> str:
    """The constant with the value of the variable; its type is that of the value where none is given."""
    tf, value = call.script.tensorflow_name, given(call, "initial_value", 0)
    if call.name != "tensorflow.Variable" or not tf or not value:
        return ""
    kind = given(call, "dtype", 4)
    return f"{tf}.constant({value}{f', {kind}' if kind else ''})"
