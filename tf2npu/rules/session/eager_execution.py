"""Programs without a graph."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.frameworks.other_frameworks import OTHER_FRAMEWORKS
from tf2npu.frameworks.tensorflow1.dialect import is_for_2
from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name, uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.written_code import can_be_repeated
from tf2npu.scanner.sites import Call

_SWITCHES = (
    "enable_eager_execution", "enable_v2_behavior", "enable_v2_tensorshape", "enable_tensor_equality",
    "config.experimental_run_functions_eagerly", "contrib.eager.enable_eager_execution",
)  # fmt: skip
_EAGER_ONLY = (
    "GradientTape",
    "contrib.eager.GradientTape",
    "contrib.eager.implicit_gradients",
    "contrib.eager.implicit_value_and_gradients",
)
_OF_V2_ALONE = {
    "enable_v2_tensorshape": "Remove this call, which the list of the NPU does not support, and make numbers of dimensions where "
    "they are used: x.shape.as_list(), int(x.shape[1]).",
    "enable_tensor_equality": "Remove this call, which the list of the NPU does not support, and compare tensors by "
    "tf.equal(x, y).",
}
"""Parts of TensorFlow 2's behaviour that say nothing of graphs."""
_HAS_NUMPY = re.compile(rf"\bdef numpy\b|eager|\b(?:import|from) +(?:{'|'.join(OTHER_FRAMEWORKS)}|torch|pyspark|pyarrow|cupy)\b")
"""Signs in a file that `.numpy()` may have a meaning: eager execution, another framework, a method of the file's own."""
_OF_PYTORCH = tuple(f".{part}.numpy" for part in ("data", "detach()", "cpu()"))
"""Ways to ask a PyTorch tensor for its value. A script may get such a tensor from a module of another package."""
_OF_V2 = "tensorflow.compat.v2.enable_v2_behavior"


@rule(
    id="NPU944",
    title="Eager execution",
    once=True,
    matches=(*(f"tensorflow.{name}" for name in (*_SWITCHES, *_EAGER_ONLY)), _OF_V2),
    why="With TensorFlow 1.15 the NPU compiles graphs; what runs op by op stays on the host.",
    done_when="The summary of `tf2npu run` counts runs of a session on the device for what was computed eagerly.",
    source="the vendor's published support levels for TensorFlow 1.15",
    examples=(
        Example.same(
            "tf.enable_eager_execution()",
            level="unsupported",
            write="with tf.Session(config=npu_config_proto()) as s:\n    s.run(y)",
        ),
        Example.same(
            "tf.compat.v1.enable_v2_tensorshape()\nn = int(x.shape[1]) * 2", level="unsupported", write="n = int(x.shape[1]) * 2"
        ),
        Example.same("import tensorflow.contrib.eager as tfe\ng = tfe.implicit_gradients(f)", level="manual"),
        Example.same(
            "import tensorflow.compat.v2 as tf\ntf.enable_v2_behavior()\ne = tf.estimator.Estimator(**kw)", level="unsupported"
        ),
        Example.same("tf.disable_eager_execution()", note="graphs, as the NPU needs them"),
        Example.same("tf.disable_v2_behavior()", note="graphs, as the NPU needs them"),
    ),
)
def eager_execution(call: Call) -> None:
    """Reports eager execution and gradients taken by a tape."""
    if is_for_2(call.script):
        return
    name = call.name.removeprefix("tensorflow.")
    if name in _OF_V2_ALONE:
        call.unsupported(_OF_V2_ALONE[name])
    elif name in _EAGER_ONLY:
        call.manual(
            "A gradient tape is meant for eager execution, which stays on the host CPU. In the graph for the NPU write "
            "tf.gradients(loss, variables) or optimizer.minimize(loss).",
            _gradients_code(call, name),
        )
    else:
        call.unsupported(
            "Eager ops run on the host CPU, not on the NPU. Remove the call, and compute in a graph: by an Estimator, tf.keras "
            "without eager execution, or tf.Session.",
            _session_code(call),
        )


def _session_code(call: Call) -> str:
    """A session that computes what is fetched; `fetches` is the user's."""
    tf = tensorflow_name(call.script)
    lines = f"with {tf}.Session(config=npu_config_proto()) as sess:", f"    sess.run({tf}.global_variables_initializer())"
    return "\n".join([*lines, "    print(sess.run(fetches))  # fetches: what was printed or returned"]) if tf else ""


def _gradients_code(call: Call, name: str) -> str:
    """Code that gives gradients and variables in pairs, as the function of eager execution does; "" where none is known."""
    tf, loss = tensorflow_name(call.script), call.args[0].value if len(call.args) == 1 and not call.has_star_args else None
    if name != "contrib.eager.implicit_gradients" or not tf or not can_be_repeated(loss):
        return ""
    variables = f"{tf}.trainable_variables()"
    return f"lambda *args: list(zip({tf}.gradients({call.source(call.args[0].value)}(*args), {variables}), {variables}))"


@part_of(
    eager_execution,
    on="unknown_method",
    matches=("numpy",),
    why="With TensorFlow 1.15 the NPU compiles graphs, whose tensors have no values of their own.",
    done_when="The script runs past the line under `tf2npu run`, without an AttributeError of `numpy`.",
    source="tf.Tensor and tf.EagerTensor of TensorFlow 1.15",
    examples=(
        Example.same("def f(policy, x):\n    return policy(x).numpy()", level="manual",
            write="def f(policy, x):\n    return policy.predict(x)"),
        Example.same("import torch\nimport tensorflow as tf\ndef f(x):\n    return x.detach().numpy()", note="PyTorch's"),
        Example.same("def f(rows):\n    return next(rows)[0].data.numpy()", note="PyTorch's as well"),
        Example.same("import torch\nimport tensorflow as tf\ndef f(p, x):\n    return p(x).numpy()", note="beside PyTorch"),
        Example.same("def f(x):\n    if tf.executing_eagerly():\n        return x.numpy()", note="eager only"),
        Example.same("def f(x):\n    return x.numpy() if hasattr(x, 'numpy') else x", note="has another way"),
    ),
)  # fmt: skip
def value_of_tensor(call: Call) -> None:
    """Reports values that are asked of tensors, which those of a graph do not have."""
    script = call.script
    if call.args or not uses_tensorflow(script) or _HAS_NUMPY.search(script.text) or is_for_2(script):
        return
    tests = [a.test for a in script.walked.ancestors(call.node) if isinstance(a, (cst.If, cst.IfExp))]
    if any("numpy" in call.source(test) for test in tests) or call.source(call.node.func).endswith(_OF_PYTORCH):
        return
    call.manual(
        "Tensors of a graph have no numpy(), only those of eager execution: the program ends here where this is one. Write "
        "session.run(x), model.predict(x) in the place of model(x), or tf.keras.backend.get_value(x)."
    )
