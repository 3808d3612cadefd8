"""Element types in scripts for TensorFlow 2 that the NPU does not have."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_TYPES = ("float64", "double", "complex64", "complex128")
_COMPLEX = tuple(
    f"tensorflow.signal.{name}"
    for name in ("fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d", "rfft", "rfft2d", "rfft3d", "irfft", "stft", "inverse_stft")
)
_DTYPE_AT = {"cast": 1, "constant": 1, "zeros": 1, "ones": 1, "convert_to_tensor": 1, "Variable": 4}
_ADVICE = "The NPU has no {}: {}, or the function runs on the CPU as a whole or in parts."


@rule(
    id="NPU809",
    title="Types that the NPU lacks",
    once=True,
    on="reference",
    matches=tuple(f"tensorflow.{kind}" for kind in _TYPES),
    why="The NPU computes in float32 and float16: what is float64 or complex runs on the CPU and cuts a function in parts.",
    done_when="The log of a run names no op of the training step that ran on the CPU for its type.",
    source="TensorFlow 2 adapter porting guide: float64, complex64, complex128 and DT_VARIANT are not supported",
    examples=(
        Example.same(
            "x = tf.cast(y, tf.float64)", level="manual", config=_TF2, write="x = tf.cast(y, tf.float32)",
        ),
        Example.same("x = tf.cast(y, tf.float32)", note="the NPU's own type", config=_TF2),
        Example.same("is_double = y.dtype == tf.float64", note="only compared", config=_TF2),
        Example.same("d = tf.data.Dataset.range(3).map(lambda i: tf.cast(i, tf.float64))", note="on the CPU", config=_TF2),
    ),
)  # fmt: skip
def type_of_2(site: Site) -> None:
    """Reports element types that the NPU does not have."""
    parent = site.script.walked.parents.get(id(site.node))
    if not in_pipeline(site) and not isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
        _say(site, site.name.rpartition(".")[2])


def _say(site: Site, kind: str) -> None:
    instead = "compute with two real float32 tensors" if kind.startswith("complex") else "write tf.float32"
    site.manual(_ADVICE.format(kind, instead))


@part_of(
    type_of_2,
    matches=(*(f"tensorflow.{name}" for name in _DTYPE_AT), "tensorflow.keras.backend.set_floatx"),
    examples=(
        Example.same("x = tf.zeros([2], 'float64')", level="manual", config=_TF2),
        Example.same("tf.keras.backend.set_floatx('float64')", level="manual", config=_TF2),
        Example.same("x = tf.zeros([2], 'float32')", note="the NPU's own type", config=_TF2),
    ),
)
def type_by_its_name(call: Call) -> None:
    """Reports calls that are given such a type as a text."""
    name = call.name.removeprefix("tensorflow.")
    value = call.value("value", 0) if name not in _DTYPE_AT else call.value("dtype", _DTYPE_AT[name])
    kind = text_of(value, call.scope) if value is not None else None
    if kind in _TYPES and not in_pipeline(call):
        _say(call, kind)


@part_of(
    type_of_2,
    matches=_COMPLEX,
    examples=(
        Example.same("s = tf.signal.stft(x, 256, 128)", level="manual", config=_TF2),
        Example.same("d = tf.data.Dataset.range(3).map(lambda x: tf.signal.rfft(x))", note="on the CPU", config=_TF2),
    ),
)
def complex_result(call: Call) -> None:
    """Reports transforms whose numbers are complex."""
    if not in_pipeline(call):
        call.manual(
            "Its numbers are complex, which the NPU has not: the function runs on the CPU as a whole or in parts. Move it into "
            "the dataset, or compute with real matrices."
        )
