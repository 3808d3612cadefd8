"""Choosing boxes: with scores that fall for covered neighbours, by given overlaps, for all classes of a batch at once."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.image.boxes import SCALARS, WIDE, _check, _corners, _overlap, _select, _some, check_limit
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray


def _padded(numbers: Array, limit: int, pad: bool) -> Array:
    """Zeros behind the numbers up to the limit, if asked for."""
    if not pad:
        return numbers
    made = np.zeros(limit, numbers.dtype)
    made[: len(numbers)] = numbers
    return made


def _selected_shape(limit: Spec, pad: bool) -> tuple[int | None]:
    known = constant_ints(limit) if pad else None
    return (known[0] if known and known[0] >= 0 else None,)


def _v4_shape(boxes: Spec, scores: Spec, limit: Spec, *others: Spec, pad_to_max_output_size: bool = False) -> list[Shape]:
    return [_selected_shape(limit, pad_to_max_output_size), ()]


@kernel(
    "NonMaxSuppressionV4",
    unit="vector",
    shape=_v4_shape,
    dtypes=WIDE,
    estimate=per_input_element(10),
    ranks=SCALARS,
)
def non_max_suppression_v4(
    boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array, /, *,
    pad_to_max_output_size: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """As V3, padded with zeros on demand: (numbers (n,) int32, how many of them count () int32).

    Source: TensorFlow op `NonMaxSuppressionV4`.
    """
    chosen = _select(boxes, scores, int(max_output_size), iou_threshold, score_threshold)
    return _padded(chosen, int(max_output_size), pad_to_max_output_size), np.array(len(chosen), np.int32)


def _v5_shape(boxes: Spec, scores: Spec, limit: Spec, *others: Spec, pad_to_max_output_size: bool = False) -> list[Shape]:
    some = _selected_shape(limit, pad_to_max_output_size)
    return [some, some, ()]


@kernel(
    "NonMaxSuppressionV5",
    unit="vector",
    shape=_v5_shape,
    dtypes={"T": frozenset({"float32"})},
    estimate=per_input_element(10),
    ranks={**SCALARS, "soft_nms_sigma": 0},
)
def non_max_suppression_v5(
    boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array, soft_nms_sigma: Array,
    /, *, pad_to_max_output_size: bool = False,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """As V4, and the scores: a covered neighbour's falls with exp(-overlap^2 / (2 sigma)); sigma 0 leaves out what V3 does.

    Returns: numbers (n,) int32, their scores (n,), how many count () int32.  Source: TensorFlow op `NonMaxSuppressionV5`.
    """
    limit = int(max_output_size)
    if not float(soft_nms_sigma) >= 0:
        raise InvalidArgument("soft_nms_sigma_val must be >= 0")
    if float(soft_nms_sigma) > 0:
        _check(boxes, scores, float(iou_threshold), limit)
        chosen, kept = _select_softly(boxes, scores, limit, score_threshold, np.float32(soft_nms_sigma))
    else:
        chosen = _select(boxes, scores, limit, iou_threshold, score_threshold)
        kept = scores[chosen]
    count = np.array(len(chosen), np.int32)
    return _padded(chosen, limit, pad_to_max_output_size), _padded(kept, limit, pad_to_max_output_size), count


def _select_softly(boxes: Array, scores: Array, limit: int, score_threshold: Any, sigma: np.float32) -> tuple[Array, Array]:
    """Source: TensorFlow core/kernels/image/non_max_suppression_op.cc, DoNonMaxSuppressionOp."""
    corners = _corners(boxes)
    waiting = [(-scores[box], box, 0) for box in np.flatnonzero(scores > score_threshold)]
    heapq.heapify(waiting)
    chosen: list[int] = []
    kept: list[np.float32] = []
    scale = np.float32(-0.5) / sigma
    while waiting and len(chosen) < limit:  # each choice depends on those before it
        negative, box, begin = heapq.heappop(waiting)
        score = -negative
        overlaps = _overlap(corners[:, box, None], corners[:, chosen[: begin - 1 if begin else None : -1]])
        for overlap in overlaps:
            score *= np.exp(scale * overlap * overlap)
            if score <= score_threshold:
                break
        if score == -negative:
            chosen.append(int(box))
            kept.append(score)
        elif score > score_threshold:
            heapq.heappush(waiting, (-score, box, len(chosen)))
    return np.array(chosen, np.int32), np.array(kept, np.float32)


@kernel(
    "NonMaxSuppressionWithOverlaps",
    unit="vector",
    shape=_some,
    estimate=per_input_element(1),
    ranks={"max_output_size": 0, "overlap_threshold": 0, "score_threshold": 0},
)
def non_max_suppression_with_overlaps(
    overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array, score_threshold: Array, /
) -> Array:
    """As V3, with overlaps (N, N) in the place of boxes.  Source: TensorFlow op `NonMaxSuppressionWithOverlaps`."""
    if overlaps.shape != (len(scores), len(scores)):
        raise InvalidArgument(f"overlaps must be square of the scores' size, got {shape_text(overlaps.shape)}")
    check_limit(int(max_output_size))
    order = np.argsort(-scores, kind="stable")
    waiting = order[scores[order] > score_threshold]
    chosen: list[int] = []
    while waiting.size and len(chosen) < int(max_output_size):  # each choice depends on those before it
        best, waiting = waiting[0], waiting[1:]
        chosen.append(int(best))
        waiting = waiting[overlaps[waiting, best] <= overlap_threshold]
    return np.array(chosen, np.int32)


def _combined_shape(boxes: Spec, scores: Spec, per_class: Spec, total: Spec, *others: Spec, **attrs: Any) -> list[Shape]:
    batch = None if boxes.shape is None else boxes.shape[0]
    return [(batch, None, 4), (batch, None), (batch, None), (batch,)]


@kernel(
    "CombinedNonMaxSuppression",
    unit="vector",
    shape=_combined_shape,
    estimate=per_input_element(10),
    ranks={"max_output_size_per_class": 0, "max_total_size": 0, "iou_threshold": 0, "score_threshold": 0},
)
def combined_non_max_suppression(
    boxes: Array, scores: Array, max_output_size_per_class: Array, max_total_size: Array, iou_threshold: Array,
    score_threshold: Array, /, *, pad_per_class: bool = False, clip_boxes: bool = True,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """The best boxes of every image over all classes.

    boxes: (B, N, 1 or classes, 4).  scores: (B, N, classes).  Returns: boxes (B, n, 4), scores (B, n), classes (B, n) fp32,
    how many count (B,) int32; n is max_total_size, with pad_per_class at most max_output_size_per_class * classes.
    Source: TensorFlow op `CombinedNonMaxSuppression`.
    """
    limit, total, n_classes = int(max_output_size_per_class), int(max_total_size), scores.shape[2]
    if limit <= 0:
        raise InvalidArgument("max_size_per_class must be positive")
    if total <= 0:
        raise InvalidArgument("max_total_size must be > 0")
    n = min(total, limit * n_classes) if pad_per_class else total
    made = np.zeros((len(boxes), n, 4), np.float32), np.zeros((len(boxes), n), np.float32), np.zeros((len(boxes), n), np.float32)
    counts = np.zeros(len(boxes), np.int32)
    for image, (of_image, image_scores) in enumerate(zip(boxes, scores, strict=True)):
        found = _best_of_image(of_image, image_scores, limit, iou_threshold, score_threshold)
        counts[image] = min(n, len(found[1]))
        for target, values in zip(made, found, strict=True):
            target[image, : counts[image]] = values[:n]
    chosen = np.clip(made[0], np.float32(0), np.float32(1)) if clip_boxes else made[0]
    return chosen, made[1], made[2], counts


def _best_of_image(
    boxes: Array, scores: Array, limit: int, iou_threshold: Any, score_threshold: Any
) -> tuple[Array, Array, Array]:
    """(boxes, scores, classes) of all classes, best score first; of equal scores that of the lower class."""
    of_class = [boxes[:, min(c, boxes.shape[1] - 1)] for c in range(scores.shape[1])]
    chosen = [_select(b, scores[:, c], limit, iou_threshold, score_threshold) for c, b in enumerate(of_class)]
    kept = np.concatenate([scores[numbers, c] for c, numbers in enumerate(chosen)])
    classes = np.concatenate([np.full(len(numbers), c, np.float32) for c, numbers in enumerate(chosen)])
    found = np.concatenate([b[numbers] for b, numbers in zip(of_class, chosen, strict=True)])
    order = np.argsort(-kept, kind="stable")
    return found[order], kept[order], classes[order]
