"""Cells of losses."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class _Loss(Cell):
    """A loss, of which get_loss takes the mean, the sum or nothing."""

    def __init__(self, reduction: str | None = "mean") -> None:
        super().__init__()
        reduction = check.one_of("none" if reduction is None else reduction, ("mean", "sum", "none"), "reduction", self.cls_name)
        self.average, self.reduce = reduction != "sum", reduction != "none"
        self.reduce_mean, self.reduce_sum = P.ReduceMean(), P.ReduceSum()

    def get_axis(self, x: Any) -> tuple[int, ...]:
        """All axes of a tensor."""
        return tuple(range(len(x.shape)))

    def get_loss(self, x: Any) -> Any:
        """The mean or the sum of the losses of all elements, or these."""
        if not self.reduce:
            return x
        return (self.reduce_mean if self.average else self.reduce_sum)(x, self.get_axis(x))


class L1Loss(_Loss):
    """The distance of each element."""

    def construct(self, base: Any, target: Any) -> Any:
        return self.get_loss(P.Abs()(base - target))


class MSELoss(_Loss):
    """The square of the distance of each element."""

    def construct(self, base: Any, target: Any) -> Any:
        return self.get_loss(F.square(base - target))


class SmoothL1Loss(_Loss):
    """The distance of each element, and half its square over beta below beta; it is not reduced."""

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self.beta = beta
        self.smooth_l1_loss = P.SmoothL1Loss(beta)

    def construct(self, base: Any, target: Any) -> Any:
        return self.smooth_l1_loss(base, target)


class SoftmaxCrossEntropyWithLogits(_Loss):
    """The cross entropy of rows.  With "none", the default, the gradient of a step is that of the sum."""

    def __init__(self, sparse: bool = False, reduction: str | None = "none") -> None:
        super().__init__(reduction)
        self.sparse, self.reduction = sparse, reduction
        self.softmax_cross_entropy, self.one_hot = P.SoftmaxCrossEntropyWithLogits(), P.OneHot()
        self.on_value, self.off_value = Tensor(1.0, float32), Tensor(0.0, float32)

    def construct(self, logits: Any, labels: Any) -> Any:
        if self.sparse:
            labels = self.one_hot(labels, logits.shape[-1], self.on_value, self.off_value)
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class BCELoss(_Loss):
    """The cross entropy of chances."""

    def __init__(self, weight: Any = None, reduction: str | None = "none") -> None:
        super().__init__()
        self.binary_cross_entropy = P.BinaryCrossEntropy(reduction="none" if reduction is None else reduction)
        self.weight = weight

    def construct(self, inputs: Any, labels: Any) -> Any:
        return self.binary_cross_entropy(inputs, labels, F.ones_like(inputs) if self.weight is None else self.weight)


class CosineEmbeddingLoss(_Loss):
    """1 - cosine of pairs of label 1; what the cosine is above a margin for those of label -1."""

    def __init__(self, margin: float = 0.0, reduction: str | None = "mean") -> None:
        super().__init__(reduction)
        if not -1 <= check.a_float(margin, "margin", "CosineEmbeddingLoss") <= 1:
            raise ValueError(f"CosineEmbeddingLoss(margin={margin}): a number from -1 to 1 is needed")
        self.margin = margin

    def construct(self, x1: Any, x2: Any, y: Any) -> Any:
        F.same_type_shape(x1, x2)
        product, one, other = (self.reduce_sum(pair, (1,)) for pair in (x1 * x2, F.square(x1), F.square(x2)))
        cosine = product / F.sqrt(one * other)
        zeros = F.zeros_like(cosine)
        of_equal = F.select(F.equal(y, 1), 1.0 - cosine, zeros)
        return self.get_loss(of_equal + F.select(F.equal(y, -1), P.Maximum()(cosine - self.margin, 0.0), zeros))


class SampledSoftmaxLoss(_Loss):
    """The cross entropy of the true classes among some others, which are drawn."""

    def __init__(
        self, num_sampled: int, num_classes: int, num_true: int = 1, sampled_values: Any = None,
        remove_accidental_hits: bool = True, seed: int = 0, reduction: str | None = "none",
    ) -> None:  # fmt: skip
        super().__init__(reduction)
        if not 1 <= num_true <= num_classes or num_sampled > num_classes or seed < 0:
            raise ValueError(
                f"SampledSoftmaxLoss(num_sampled={num_sampled}, num_classes={num_classes}, num_true={num_true}, seed={seed}): "
                "num_true is 1 or more, both are at most num_classes, and the seed is 0 or more"
            )
        if sampled_values is not None and len(sampled_values) != 3:
            raise ValueError(f"SampledSoftmaxLoss(sampled_values={sampled_values!r}): (classes, counts, counts) is needed")
        self.num_true, self.sampled_values = num_true, sampled_values
        self.remove_accidental_hits = remove_accidental_hits
        self.sampler = P.UniformCandidateSampler(num_true, num_sampled, True, num_classes, seed)

    def construct(self, weights: Any, biases: Any, labels: Any, inputs: Any) -> Any:
        labels = F.reshape(labels, (-1, self.num_true))
        sampled, true_counts, counts = self.sampled_values or self.sampler(labels)
        sampled = F.cast(sampled, labels.dtype)
        true_rows = F.gather(weights, F.reshape(labels, (-1,)), 0)
        dots = self.reduce_sum(P.ExpandDims()(inputs, 1) * F.reshape(true_rows, (-1, self.num_true, inputs.shape[1])), 2)
        true_logits = dots + F.gather(biases, labels, 0) - P.Log()(true_counts)
        logits = P.MatMul(False, True)(inputs, F.gather(weights, sampled, 0)) + F.gather(biases, sampled, 0) - P.Log()(counts)
        if self.remove_accidental_hits:
            logits = logits - _hits(labels, sampled) * 1e37
        wanted = P.Concat(1)((F.ones_like(true_logits) / float(self.num_true), F.zeros_like(logits)))
        whole = P.Concat(1)((true_logits, logits))
        return P.Neg()(self.reduce_sum(wanted * P.LogSoftmax(1)(whole), 1))


def _hits(labels: Any, sampled: Any) -> Any:
    """1.0 where a drawn class is a true one of the row."""
    equal = F.equal(P.ExpandDims()(labels, 2), F.reshape(sampled, (1, 1, -1)))
    return F.cast(P.ReduceAny()(equal, 1), float32)


__all__ = [
    "BCELoss", "CosineEmbeddingLoss", "L1Loss", "MSELoss", "SampledSoftmaxLoss", "SmoothL1Loss", "SoftmaxCrossEntropyWithLogits",
]  # fmt: skip
