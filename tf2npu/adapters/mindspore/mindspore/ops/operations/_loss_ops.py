"""Primitives that compute losses."""

from __future__ import annotations

from typing import Any

from mindspore._checkparam import one_of
from mindspore.ops.primitive import Primitive, primitive
from npu_bridge.npu_init import tf


def _same_shapes(owner: str, x: Any, y: Any) -> None:
    if x.shape.as_list() != y.shape.as_list():
        raise ValueError(
            f"{owner}: the shapes are {tuple(x.shape.as_list())} and {tuple(y.shape.as_list())}; they have to be equal"
        )


def _softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """(loss of each row, its gradient by the logits): softmax - labels, also for labels that do not sum to one."""
    _same_shapes("SoftmaxCrossEntropyWithLogits", logits, labels)
    labels = tf.stop_gradient(tf.cast(labels, logits.dtype))
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    return loss, tf.nn.softmax(logits) - labels


SoftmaxCrossEntropyWithLogits = primitive("SoftmaxCrossEntropyWithLogits", _softmax_cross_entropy)


def _sparse_cross_entropy(logits: Any, labels: Any, is_grad: bool) -> Any:
    """The mean of the losses; with is_grad its gradient by the logits."""
    labels = tf.cast(labels, tf.int32)
    if is_grad:
        wanted = tf.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
        return (tf.nn.softmax(logits) - wanted) / tf.cast(logits.shape[0], logits.dtype)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


SparseSoftmaxCrossEntropyWithLogits = primitive("SparseSoftmaxCrossEntropyWithLogits", _sparse_cross_entropy, is_grad=False)


def _sigmoid_cross_entropy(logits: Any, labels: Any) -> Any:
    _same_shapes("SigmoidCrossEntropyWithLogits", logits, labels)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(labels, logits.dtype), logits=logits)


SigmoidCrossEntropyWithLogits = primitive("SigmoidCrossEntropyWithLogits", _sigmoid_cross_entropy)


def _smooth_l1(prediction: Any, target: Any, beta: float) -> Any:
    """The loss of each element: half its square over beta below beta, else its size less half of beta."""
    _same_shapes("SmoothL1Loss", prediction, target)
    distance = tf.abs(prediction - target)
    return tf.where_v2(distance < beta, tf.square(distance) * (0.5 / beta), distance - 0.5 * beta)


SmoothL1Loss = primitive("SmoothL1Loss", _smooth_l1, beta=1.0)
L2Loss = primitive("L2Loss", tf.nn.l2_loss)


def _reduced(value: Any, reduction: Any, owner: str) -> Any:
    one_of(reduction, ("mean", "sum", "none"), "reduction", owner)
    return {"mean": tf.reduce_mean, "sum": tf.reduce_sum, "none": lambda x: x}[reduction](value)


def _divergence(x: Any, y: Any, reduction: str) -> Any:
    """y * (log y - x) of each element; 0 where y is 0."""
    _same_shapes("KLDivLoss", x, y)
    return _reduced(tf.math.xlogy(y, y) - y * x, reduction, "KLDivLoss")


KLDivLoss = primitive("KLDivLoss", _divergence, reduction="mean")


def _binary_cross_entropy(x: Any, y: Any, weight: Any = None, reduction: str = "mean") -> Any:
    _same_shapes("BinaryCrossEntropy", x, y)
    small = 1e-12
    loss = -(y * tf.math.log(tf.maximum(x, small)) + (1 - y) * tf.math.log(tf.maximum(1 - x, small)))
    return _reduced(loss if weight is None else loss * weight, reduction, "BinaryCrossEntropy")


BinaryCrossEntropy = primitive("BinaryCrossEntropy", _binary_cross_entropy, reduction="mean")


def _negative_likelihood(logits: Any, labels: Any, weight: Any, reduction: str) -> Any:
    """(loss, weight of all rows) of logarithms of chances."""
    labels = tf.cast(labels, tf.int32)
    weights = tf.gather(weight, labels)
    losses = -weights * tf.reduce_sum(tf.one_hot(labels, logits.shape[-1], dtype=logits.dtype) * logits, -1)
    total = tf.reduce_sum(weights)
    one_of(reduction, ("mean", "sum", "none"), "reduction", "NLLLoss")
    return {"mean": tf.reduce_sum(losses) / total, "sum": tf.reduce_sum(losses), "none": losses}[reduction], total


NLLLoss = primitive("NLLLoss", _negative_likelihood, reduction="mean")


class CTCLoss(Primitive):
    """(loss of each sequence, its gradient) of inputs (time, batch, classes), whose last class is the blank."""

    defaults = (
        ("preprocess_collapse_repeated", False), ("ctc_merge_repeated", True), ("ignore_longer_outputs_than_inputs", False),
    )  # fmt: skip

    @staticmethod
    def compute(inputs: Any, places: Any, values: Any, lengths: Any, **attrs: Any) -> Any:
        """The nodes of TensorFlow's operator of the same name."""
        return tf.raw_ops.CTCLoss(
            inputs=inputs, labels_indices=tf.cast(places, tf.int64), labels_values=values, sequence_length=lengths, **attrs
        )


CTCGreedyDecoder = primitive(
    "CTCGreedyDecoder",
    lambda inputs, lengths, merge_repeated: tuple(
        tf.raw_ops.CTCGreedyDecoder(inputs=inputs, sequence_length=lengths, merge_repeated=merge_repeated)
    ),
    merge_repeated=True,
)  # fmt: skip

__all__ = [
    "BinaryCrossEntropy", "CTCGreedyDecoder", "CTCLoss", "KLDivLoss", "L2Loss", "NLLLoss", "SigmoidCrossEntropyWithLogits",
    "SmoothL1Loss", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits",
]  # fmt: skip
