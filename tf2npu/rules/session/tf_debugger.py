"""TensorFlow's debugger."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_BY_MODULE = {
    "": (
        "LocalCLIDebugWrapperSession", "TensorBoardDebugWrapperSession", "DumpingDebugWrapperSession", "GrpcDebugWrapperSession",
        "LocalCLIDebugHook", "TensorBoardDebugHook", "DumpingDebugHook", "GrpcDebugHook", "watch_graph",
    ),
    ".wrappers.local_cli_wrapper": ("LocalCLIDebugWrapperSession",),
    ".wrappers.dumping_wrapper": ("DumpingDebugWrapperSession",),
    ".wrappers.grpc_wrapper": ("GrpcDebugWrapperSession", "TensorBoardDebugWrapperSession"),
    ".wrappers.hooks": ("LocalCLIDebugHook", "TensorBoardDebugHook", "DumpingDebugHook", "GrpcDebugHook"),
    ".lib.debug_utils": ("watch_graph",),
}  # fmt: skip


@rule(
    id="NPU942",
    title="TensorFlow debugger",
    matches=tuple(f"tensorflow.python.debug{module}.{name}" for module, names in _BY_MODULE.items() for name in names),
    why="The debugger watches ops that TensorFlow runs one by one; on the NPU they are one compiled graph.",
    done_when="`tf2npu run` comes to the end without the wrapper, and the dump holds the tensors that are looked for.",
    source="tf_debug of TensorFlow 1.15; dump options of the NPU session config",
    examples=(
        Example.same(
            "from tensorflow.python import debug as tf_debug\nsess = tf_debug.LocalCLIDebugWrapperSession(sess)",
            level="unsupported",
            write="print(sess.run(suspect, feed))",
        ),
        Example.same(
            "from my import debug as tf_debug\nsess = tf_debug.LocalCLIDebugWrapperSession(sess)", note="the user's own"
        ),
        Example.same("tf.logging.set_verbosity(tf.logging.DEBUG)", note="only messages"),
    ),
)
def tf_debugger(call: Call) -> None:
    """Reports sessions and hooks of TensorFlow's debugger."""
    call.unsupported(
        "Leave the wrapper out on the NPU. To see tensors there, set enable_dump, dump_path and dump_step in the session's "
        "config or DumpConfig, or fetch them. `tf2npu dump reference` writes those of the script as it was, to compare with."
    )
