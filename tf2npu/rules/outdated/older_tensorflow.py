"""TensorFlow names and calls that releases before 1.15 had, most of them before 1.0."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.api_support.table import shown
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.file_uses import uses
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.sites import Call, Site

_BATCHED = (
    "matmul", "cholesky", "cholesky_solve", "self_adjoint_eig", "self_adjoint_eigvals", "svd", "fft", "fft2d", "fft3d",
    "ifft", "ifft2d", "ifft3d", "matrix_determinant", "matrix_inverse", "matrix_solve", "matrix_solve_ls",
    "matrix_triangular_solve", "matrix_transpose", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "matrix_band_part",
)  # fmt: skip
_INSTEAD = {
    "mul": "tf.multiply", "sub": "tf.subtract", "neg": "tf.negative", "inv": "tf.reciprocal", "pack": "tf.stack",
    "unpack": "tf.unstack", "select": "tf.where", "complex_abs": "tf.abs", "listdiff": "tf.setdiff1d",
    "list_diff": "tf.setdiff1d", "scalar_summary": "tf.summary.scalar", "histogram_summary": "tf.summary.histogram",
    "image_summary": "tf.summary.image", "audio_summary": "tf.summary.audio", "merge_summary": "tf.summary.merge",
    "merge_all_summaries": "tf.summary.merge_all", "train.SummaryWriter": "tf.summary.FileWriter",
    "image.per_image_whitening": "tf.image.per_image_standardization", "nn.rnn": "tf.nn.static_rnn",
    "nn.bidirectional_rnn": "tf.nn.static_bidirectional_rnn", "nn.state_saving_rnn": "tf.nn.static_state_saving_rnn",
    "nn.seq2seq": "tf.contrib.legacy_seq2seq", "python.ops.seq2seq": "tf.contrib.legacy_seq2seq",
    "nn.rnn_cell._linear": "tf.layers.dense of tf.concat(args, 1)",
    "python.ops.rnn_cell_impl._linear": "tf.layers.dense of tf.concat(args, 1)",
    "python.ops.rnn_cell_impl._Linear": "tf.contrib.rnn.python.ops.core_rnn_cell._Linear",
    "models": "an import of the files of the repository tensorflow/models, put beside the script",
    **{f"batch_{name}": f"tf.{name}" for name in _BATCHED},
}  # fmt: skip
OLD_NAMES = {f"tensorflow.{name}": instead for name, instead in _INSTEAD.items()}
LOSSES = tuple(f"tensorflow.nn.{kind}_cross_entropy_with_logits" for kind in ("softmax", "sparse_softmax", "sigmoid"))
_WORDS = re.compile(rf"\b(?:{'|'.join(sorted({name.rpartition('.')[2] for name in _INSTEAD}))})\b")
_TITLE = "Name or call of an earlier TensorFlow"
_WHY = "Earlier releases of TensorFlow had it; with 1.15, which the NPU's adapter works with, the program ends there."
_SOURCE = "release notes of TensorFlow 1.0 and later, compared with the public API of 1.15.0"


@rule(
    id="NPU969",
    title=_TITLE,
    once=True,
    on="module",
    matches=tuple(OLD_NAMES),
    why=_WHY,
    source=_SOURCE,
    examples=(
        Example.same("y = tf.mul(a, b)", level="unsupported", write="y = tf.multiply(a, b)"),
        Example.same("from tensorflow.python.ops import seq2seq", level="unsupported"),
        Example.same("y = tf.multiply(a, b)", note="the name of 1.15"),
        Example.same("init = tf.initialize_all_variables()", note="an old name that is still there"),
        Example.same("try:\n    mul = tf.mul\nexcept AttributeError:\n    mul = tf.multiply", note="has another way"),
    ),
)
def old_name(site: Site) -> None:
    """Reports names that TensorFlow 1.15 has no more, and says what it has."""
    if not site.script.uses_tensorflow or not _WORDS.search(site.script.text):
        return
    for name in uses(site, _part):
        site.unsupported(f"TensorFlow 1.15 has no {shown(name)} any more: write {OLD_NAMES[name]}.")


def _part(name: str) -> str | None:
    """The name that is gone in a qualified one, which may lead further (`tf.nn.seq2seq.rnn_decoder`)."""
    if not name.startswith("tensorflow."):
        return None
    parts = name.split(".")
    return next((head for n in range(2, len(parts) + 1) if (head := ".".join(parts[:n])) in OLD_NAMES), None)


@rule(
    id="NPU969",
    title=_TITLE,
    matches=("tensorflow.concat", "tensorflow.split"),
    why=_WHY,
    source=_SOURCE,
    examples=(
        Example.same("y = tf.concat(1, [a, b])", level="unsupported", write="y = tf.concat([a, b], 1)"),
        Example.same("a, b = tf.split(1, 2, y)", level="unsupported", write="a, b = tf.split(y, 2, 1)"),
        Example.same("y = tf.concat([a, b], 1)", note="the order of 1.15"),
    ),
)
def old_order(call: Call) -> None:
    """Reports calls with the arguments in the order of before 1.0: a number cannot be what is joined or split."""
    first = call.args[0] if call.args and call.args[0].keyword is None else None
    value = first.value if first is not None and not first.star else None
    is_number = isinstance(value.expression if isinstance(value, cst.UnaryOperation) else value, cst.Integer)
    if is_number and len(call.args) > 1 and not is_guarded(call):
        order = "tf.concat(values, axis)" if call.name.endswith("concat") else "tf.split(value, num_or_size_splits, axis)"
        call.unsupported(f"These are the arguments of before TensorFlow 1.0; in 1.15: {order}.")


@rule(
    id="NPU969",
    title=_TITLE,
    matches=LOSSES,
    why=_WHY,
    source=_SOURCE,
    examples=(
        Example.same(
            "l = tf.nn.sigmoid_cross_entropy_with_logits(y, t)",
            level="unsupported",
            write="l = tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=y)",
        ),
        Example.same("l = tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=y)", note="by name, as 1.15 wants it"),
    ),
)
def positional_losses(call: Call) -> None:
    """Reports losses whose labels and logits are not given by name, which 1.15 refuses, as they changed places."""
    if call.args and call.args[0].keyword is None and not call.args[0].star and not is_guarded(call):
        call.unsupported(
            "TensorFlow 1.15 refuses these arguments without their names: write labels=... and logits=..., which come in "
            "this order there; before 1.0 the logits came first."
        )
