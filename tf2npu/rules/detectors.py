"""Things a person has to look at: found, located and explained, but not changed."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pipeline import in_pipeline
from tf2npu.scanner.sites import Call, Site

_GUIDE = "TensorFlow adapter porting guide"


@rule(
    id="NPU912",
    title="Python code in the graph",
    matches=(
        *(f"tensorflow.{name}" for name in ("py_func", "numpy_function", "py_function")),
        "tensorflow.contrib.eager.py_func", "tensorflow.contrib.framework.py_func",
        "tensorflow.compat.v2.numpy_function", "tensorflow.compat.v2.py_function",
    ),
    why="Python runs on the host: the graph is cut there, which needs mixed computing outside of the input pipeline.",
    source=f"{_GUIDE}: mix_compile_mode",
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
            "In a tf.data pipeline this stays; elsewhere the session needs mix_compile_mode=True, or TensorFlow ops instead."
        )


@rule(
    id="NPU915",
    title="Variable and iterator initialised together",
    matches=("tensorflow.group",),
    why="Variables live on the device and iterators on the host; one run that initialises both may do it in either order.",
    source=f"{_GUIDE}: separate sess.run calls for variables and iterator.initializer",
    examples=(
        Example.same(
            "op = tf.group(tf.global_variables_initializer(), it.initializer)",
            level="manual",
            write="sess.run(tf.global_variables_initializer())\nsess.run(it.initializer)",
        ),
        Example.same("op = tf.group(a, b)", note="other ops"),
    ),
)
def mixed_initializers(call: Call) -> None:
    """Reports one op that initialises variables and an iterator."""
    sources = [call.source(arg.value) for arg in call.args]
    makes_variables = any("variables_initializer" in s or "initialize_all_variables" in s for s in sources)
    if makes_variables and any(s.endswith(".initializer") for s in sources):
        call.manual("Run the variables' initializer and the iterator's initializer in two calls of sess.run.")


@rule(
    id="NPU916",
    title="Test session",
    matches=("tensorflow.test.TestCase().test_session", "tensorflow.test.TestCase().session"),
    why="A test case makes its sessions itself; they run on the NPU once npu_bridge.npu_init is imported.",
    source="npu_bridge.npu_init: replaces Session.__init__ on import",
    examples=(
        Example.same(
            "class T(tf.test.TestCase):\n    def test(self):\n        with self.test_session() as s:\n            s.run(a)",
            level="info",
            write="import npu_bridge.npu_init\nimport tensorflow as tf\nclass T(tf.test.TestCase):\n"
            "    def test(self):\n        with self.test_session() as s:\n            s.run(a)",
        ),
        Example.same("class T(object):\n    def test(self):\n        self.test_session()", note="no TensorFlow test case"),
    ),
)
def test_session(call: Call) -> None:
    """Reports sessions of test cases in files that do not import npu_bridge."""
    is_imported = call.script.is_entry and call.script.config.is_enabled("NPU100")
    if "npu_bridge" not in call.script.text and not is_imported:
        call.info("This session runs on the NPU when npu_bridge.npu_init is imported before it is made.")


@rule(
    id="NPU917",
    title="Executed text",
    matches=("builtins.exec", "builtins.eval"),
    why="TensorFlow code inside a text is not converted.",
    source="docs/adding_a_rule.md",
    examples=(
        Example.same("s = 'tf.Session()'\nexec(s)", level="info", write="s = tf.Session(config=npu_config_proto())"),
        Example.same("exec(open('model.py').read())", level="info"),
        Example.same("exec('print(1)')", note="no TensorFlow in it"),
    ),
)
def executed_text(call: Call) -> None:
    """Reports exec and eval of text that uses TensorFlow."""
    node: Any = call.args[0].value if call.args else None
    if isinstance(node, cst.Name):
        bindings = call.scope.lookup(node.value)
        node = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) and "tf." in call.source(node):
        call.info("The text that is executed here uses TensorFlow; it is not converted.")
    elif (
        call.name == "builtins.exec"
        and isinstance(node, cst.Call)
        and call.script.uses_tensorflow
        and re.search(r"\.read\w*\(|\bopen\(", call.source(node))
    ):
        call.info("The file that is executed here is not seen: convert it too, and see that it is the converted one that runs.")


@rule(
    id="NPU918",
    title="Variable in the input pipeline",
    matches=("tensorflow.data.Dataset().batch", "tensorflow.data.Dataset().padded_batch"),
    why="The pipeline runs on the host, variables live on the device.",
    source=f"{_GUIDE}: constants in the place of variables in preprocessing",
    examples=(
        Example.same(
            "bs = tf.Variable(8)\nd = tf.data.Dataset.range(9).batch(bs)",
            level="unsupported",
            write="d = tf.data.Dataset.range(9).batch(8)",
        ),
        Example.same("d = tf.data.Dataset.range(9).repeat().batch(4, True)", note="a constant"),
    ),
)
def variable_in_pipeline(call: Call) -> None:
    """Reports a dataset whose batch size is a variable."""
    value = call.value("batch_size", 0)
    if value is not None and call.resolve(value) in ("tensorflow.Variable()", "tensorflow.get_variable()"):
        call.unsupported("A variable must not be part of the input pipeline: use a constant or a placeholder.")


_DEVICE_LISTS = (
    "tensorflow.python.client.device_lib.list_local_devices",
    "tensorflow.config.experimental.list_physical_devices",
)


@rule(
    id="NPU919",
    title="Device list helper",
    on="reference",
    matches=_DEVICE_LISTS,
    why="Code that counts GPUs finds none on an NPU host and may take another path.",
    source="tf.config of TensorFlow 1.15",
    examples=(
        Example.same(
            "f = tf.config.experimental.list_physical_devices", level="info", write="n_gpus = 0  # an NPU host has none"
        ),
        Example.same("def check_available_gpus():\n    return [1]\ng = check_available_gpus()", note="the user's own"),
    ),
)
@rule(
    id="NPU919",
    title="Device list helper",
    matches=_DEVICE_LISTS,
    why="Code that counts GPUs finds none on an NPU host and may take another path.",
    source="tf.config of TensorFlow 1.15",
    examples=(
        Example.same(
            "n = len(tf.config.experimental.list_physical_devices('GPU'))", level="info", write="n = 0  # an NPU host has none"
        ),
        Example.same(
            "from tensorflow.python.client import device_lib\n"
            "gpus = [d.name for d in device_lib.list_local_devices() if d.device_type == 'GPU']",
            level="info",
            write="gpus = []  # an NPU host has none",
        ),
        Example.same("def list_local_devices():\n    return [1]\nn = len(list_local_devices())", note="the user's own"),
    ),
)
def device_list(site: Site) -> None:
    """Reports a look at the devices of the host."""
    site.info("There is no GPU on an NPU host, so this list is shorter: check what the program does then.")


_GPU_QUESTIONS = tuple(
    f"tensorflow.test.{name}"
    for name in ("is_gpu_available", "is_built_with_cuda", "is_built_with_gpu_support", "gpu_device_name")
)


@rule(
    id="NPU919",
    title="Device list helper",
    matches=_GPU_QUESTIONS,
    why="Code that counts GPUs finds none on an NPU host and may take another path.",
    source="tf.test of TensorFlow 1.15",
    examples=(
        Example.same("if tf.test.is_gpu_available():\n    x = f(x)", level="info"),
        Example.same("assert tf.test.is_gpu_available()", note="ends the program", level="manual", write="assert True"),
        Example.same("def is_gpu_available():\n    return True\nok = is_gpu_available()", note="the user's own"),
        Example.same("s = tf.test.mock.patch('x')", note="another part of tf.test"),
    ),
)
def gpu_question(call: Call) -> None:
    """Reports questions whether there is a GPU, above all where the program ends when there is none."""
    if _ends_without(call):
        call.manual("There is no GPU on an NPU host, so the program ends here: take this out.")
    else:
        answer = "this is empty" if call.name.endswith("gpu_device_name") else "this is False"
        call.info(f"There is no GPU on an NPU host, so {answer}: check what the program does then.")


_DENIED = re.compile(r"not\b|.*(?:==\s*(?:''|\"\"|False)|is\s+False)\s*$|.*!=\s*['\"]/")


def _ends_without(call: Call) -> bool:
    """Whether an assert, or an if that raises or exits, hangs on the answer."""
    below: cst.CSTNode = call.node
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Assert):
            return True
        if isinstance(ancestor, cst.If):
            block: Any = ancestor.body if _DENIED.match(call.source(ancestor.test)) else ancestor.orelse
            is_asked = below is ancestor.test and not isinstance(block, (cst.If, type(None)))
            return is_asked and re.search(r"\braise\b|\bexit\(", call.source(block)) is not None
        if isinstance(ancestor, cst.BaseStatement):
            return False
        below = ancestor
    return False
