"""Ops that come out of a shared library."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.dialect import is_for_2
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU947",
    title="Custom op library",
    matches=("tensorflow.load_op_library", "tensorflow.load_library", "tensorflow.contrib.util.loader.load_op_library"),
    why="A library of ops holds kernels for CPU and GPU; the NPU has none for them, and one compiled with CUDA cannot be loaded.",
    done_when="`tf2npu run` passes without loading the library, or its log names the library's ops among those on the host.",
    source="tf.load_op_library of TensorFlow 1.15",
    examples=(
        Example.same(
            "m = tf.load_op_library('roi.so')",
            level="unsupported",
            write="y = tf.image.crop_and_resize(x, boxes, indices, [7, 7])  # TensorFlow's own op",
        ),
        Example.same("m = tf.load_op_library('roi.so')", level="unsupported", config=Config(dialect="tf2")),
        Example.same("m = ctypes.CDLL('x.so')", note="no TensorFlow ops"),
        Example.same("m = tf.keras.models.load_model('m.h5')", note="a model"),
    ),
)
def custom_op_library(call: Call) -> None:
    """Reports libraries of custom ops."""
    if is_for_2(call.script):
        call.unsupported(
            "Write these ops with TensorFlow's own, or as a custom operator for the NPU; compiled for the CPU they run on the "
            "host."
        )
        return
    call.unsupported(
        "Write these ops with TensorFlow's own, or as a custom operator for the NPU; compiled for the CPU they run on the host "
        "with mix_compile_mode=True."
    )
