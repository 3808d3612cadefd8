"""Operations that initialise variables and an iterator together."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU915",
    title="Variable and iterator initialised together",
    matches=("tensorflow.group",),
    why="Variables live on the device and iterators on the host; one run that initialises both may do it in either order.",
    done_when="`tf2npu run` passes both initializers, and no call of sess.run gets both of them.",
    source="TensorFlow adapter porting guide: separate sess.run calls for variables and iterator.initializer",
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
