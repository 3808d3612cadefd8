"""Connectionist temporal classification: the loss of a labelling whose alignment is unknown, and its gradient.

Source: Graves, "Supervised sequence labelling with recurrent neural networks" (2012), chapter 7, for the recursions;
TensorFlow core/util/ctc/ctc_loss_calculator.h for the rules of labels and lengths.  The last class is the blank.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
ZERO = np.float32(-np.inf)
"""The logarithm of nothing."""


class Labels(NamedTuple):
    """The labels of each row, without blanks.  classes: (B, longest) int64, 0 behind the end.  lengths: (B,), the labels
    that count.  given: (B,), labels before repeated ones and blanks were dropped.
    """

    classes: Array
    lengths: Array
    given: Array


class States(NamedTuple):
    """The states of an alignment: blank, label, blank, label ... blank.

    classes: (B, U).  exists: (B, U).  stays: whether a state may follow itself.  skips: whether it may follow the label before.
    """

    classes: Array
    exists: Array
    stays: Array
    skips: Array


def _check(inputs: Array, indices: Array, values: Array, lengths: Array) -> None:
    """Raises: InvalidArgument in TensorFlow's words."""
    for name, given, ndim, kind in (
        ("inputs", inputs, 3, "3-Tensor"), ("sequence_length", lengths, 1, "vector"),
        ("labels_indices", indices, 2, "matrix"), ("labels_values", values, 1, "vector"),
    ):  # fmt: skip
        if given.ndim != ndim:
            raise InvalidArgument(f"{name} is not a {kind}")
    n_steps, batch, _ = inputs.shape
    if batch != lengths.size:
        raise InvalidArgument(f"len(sequence_length) != batch_size.  len(sequence_length):  {lengths.size} batch_size: {batch}")
    if len(indices) != len(values):
        both = f"{shape_text(indices.shape)} vs. {shape_text(values.shape)}"
        raise InvalidArgument(f"labels_indices and labels_values must contain the same number of rows, but saw shapes: {both}")
    if batch == 0:
        raise InvalidArgument("batch_size must not be 0")
    if (lengths > n_steps).any():
        raise InvalidArgument(f"sequence_length({int(np.argmax(lengths > n_steps))}) <= {n_steps}")
    if (lengths < 0).any():
        raise InvalidArgument(f"seq_len({int(np.argmax(lengths < 0))}) < 0")


def _check_order(indices: Array, batch: int) -> None:
    steps = np.diff(indices, axis=0)
    wrong = (indices < 0).any(axis=1) | (indices[:, 0] >= batch)
    wrong[1:] |= (steps[:, 0] < 0) | ((steps[:, 0] == 0) & (steps[:, 1] <= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidArgument(
            f"label SparseTensor is not valid: indices[{place}] = {shape_text(indices[place])} is out of bounds, out of order "
            "or repeated"
        )


def read_labels(indices: Array, values: Array, steps: Array, n_classes: int, collapses: bool, ignores_longer: bool) -> Labels:
    """Labels by row. Classes from the blank on end a row; collapses: a label like the one before it is dropped.

    steps: (B,), the time of each row.  Raises: InvalidArgument for the first row without labels, with a label below 0 or
    behind the end of its labels, or with more labels than time unless those are ignored.
    """
    row, batch = indices[:, 0], len(steps)
    given = np.bincount(row, minlength=batch)
    kept = np.ones(values.size, bool)
    if collapses:
        kept[1:] = (values[1:] != values[:-1]) | (row[1:] != row[:-1])
    kept_row, kept_values = row[kept], values[kept]
    counts = kept_values < n_classes - 1
    too_long = np.zeros(batch, bool) if ignores_longer else given > steps
    wrong = np.stack([given == 0, *_wrong_labels(kept_row, kept_values, counts, batch), too_long])
    if wrong.any():
        at = int(np.argmax(wrong.any(axis=0)))
        here = kept_row == at
        raise _refusal(int(np.argmax(wrong[:, at])), at, n_classes, values[row == at], kept_values[here], int(steps[at]))
    counted = kept_row[counts]
    lengths = np.bincount(counted, minlength=batch)
    classes = np.zeros((batch, lengths.max(initial=0)), np.int64)
    classes[np.arange(classes.shape[1]) < lengths[:, None]] = kept_values[counts]
    return Labels(classes, lengths, given)


def _wrong_labels(row: Array, values: Array, counts: Array, batch: int) -> tuple[Array, Array]:
    """Whether each row has a label behind a blank, and whether it has one below 0.  row, values, counts: of each label."""
    restarts = counts[1:] & ~counts[:-1] & (row[1:] == row[:-1])
    rows = np.arange(batch)
    return np.isin(rows, row[1:][restarts]), np.isin(rows, row[values < 0])


def _refusal(kind: int, at: int, n_classes: int, labels: Array, kept: Array, steps: int) -> InvalidArgument:
    """The error of a row.  kind: in the order in which TensorFlow looks.  labels: all of the row; kept: without repeated ones."""
    blank = int(np.argmax(kept >= n_classes - 1)) if kept.size else 0
    return InvalidArgument(
        (
            f"Labels length is zero in batch {at}",
            f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {at} num_classes: {n_classes} "
            f"labels: {_joined(labels)} labels seen so far: {_joined(kept[:blank])}",
            f"All labels must be nonnegative integers, batch: {at} labels: {_joined(kept[kept < n_classes - 1])}",
            f"Not enough time for target transition sequence (required: {len(labels)}, available: {steps}){at}"
            "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs",
        )[kind]
    )


def _joined(values: Array) -> str:
    return ",".join(str(v) for v in values)


def make_states(labels: Labels, blank: int, merges: bool) -> States:
    """merges: equal labels in a row are one unless a blank is between them."""
    batch, longest = labels.classes.shape
    classes = np.full((batch, 2 * longest + 1), blank, np.int64)
    classes[:, 1::2] = labels.classes
    exists = np.arange(2 * longest + 1) < (2 * labels.lengths + 1)[:, None]
    is_label = np.zeros(classes.shape, bool)
    is_label[:, 1::2] = True
    skips = is_label.copy()
    skips[:, :2] = False
    if merges:
        skips[:, 2:] &= classes[:, 2:] != classes[:, :-2]
    return States(classes, exists, ~is_label | merges, skips)


def _shifted(x: Array, by: int) -> Array:
    """x moved along the last axis, nothing moved in."""
    made = np.full_like(x, ZERO)
    if by > 0:
        made[:, by:] = x[:, :-by]
    else:
        made[:, :by] = x[:, -by:]
    return made


def _arriving(x: Array, states: States) -> Array:
    """The log probabilities of the states one step later, without that step's emission, x being those of the states now."""
    stay = np.where(states.stays, x, ZERO)
    step = np.logaddexp(stay, _shifted(x, 1))
    return np.logaddexp(step, np.where(states.skips, _shifted(x, 2), ZERO))


def _leaving(x: Array, states: States) -> Array:
    """The log probability of the rest from each state, x being that of the states one step later."""
    stay = np.where(states.stays, x, ZERO)
    step = np.logaddexp(stay, _shifted(x, -1))
    return np.logaddexp(step, _shifted(np.where(states.skips, x, ZERO), -2))


def _forward(emitted: Array, states: States) -> Array:
    """log alpha (T, B, U): all beginnings that end in a state at a time.  emitted: (T, B, U) log probabilities."""
    alpha = np.full_like(emitted, ZERO)
    alpha[0, :, :2] = emitted[0, :, :2]
    for time in range(1, len(emitted)):
        alpha[time] = _arriving(alpha[time - 1], states) + emitted[time]
    return alpha


def _backward(emitted: Array, states: States, lengths: Array) -> Array:
    """log beta (T, B, U): all endings after a state at a time.  lengths: (B,) steps of each row."""
    last_state = states.exists.sum(axis=1, keepdims=True) - 1
    number = np.arange(states.classes.shape[1])
    ending = np.where((number == last_state) | (number == last_state - 1), np.float32(0), ZERO)
    beta = np.full_like(emitted, ZERO)
    for time in range(len(emitted) - 1, -1, -1):
        if time + 1 < len(emitted):
            beta[time] = _leaving(beta[time + 1] + emitted[time + 1], states)
        beta[time] = np.where((lengths == time + 1)[:, None], ending, beta[time])
    return beta


def _softmax(inputs: Array) -> Array:
    shifted = np.exp(inputs - inputs.max(axis=2, keepdims=True))
    return shifted / shifted.sum(axis=2, keepdims=True)


def _outputs_shape(inputs: Spec, indices: Spec, values: Spec, lengths: Spec, /, **attrs: Any) -> list[Shape]:
    return [lengths.shape, inputs.shape]


@kernel("CTCLoss", unit="vector", shape=_outputs_shape, dtypes=frozenset({"float32"}), estimate=per_input_element(40))
def ctc_loss(
    inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, /, *,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """-log P(labels | inputs) of each row and its gradient by the inputs.

    inputs: (T, B, classes) fp32, before softmax; the last class is the blank.  labels_indices: (n, 2) int64, row and place.
    labels_values: (n,) int32.  sequence_length: (B,) int32.  Returns: (B,) fp32; (T, B, classes) fp32, 0 behind the end.
    Raises: InvalidArgument for inputs that do not fit, or more labels than steps unless they are to be ignored.
    Source: TensorFlow op `CTCLoss`.
    """
    _check(inputs, labels_indices, labels_values, sequence_length)
    _, batch, n_classes = inputs.shape
    _check_order(labels_indices, batch)
    labels = read_labels(
        labels_indices, labels_values, sequence_length, n_classes, preprocess_collapse_repeated, ignore_longer_outputs_than_inputs
    )
    is_too_long = labels.given > sequence_length
    counts = (sequence_length > 0) & ~is_too_long
    return _loss_and_gradient(inputs, make_states(labels, n_classes - 1, ctc_merge_repeated), sequence_length, counts)


def _loss_and_gradient(inputs: Array, states: States, lengths: Array, counts: Array) -> tuple[Array, Array]:
    """counts: rows that have a loss; the others give 0."""
    chances = _softmax(inputs)
    if not len(chances):
        return np.zeros(lengths.shape, np.float32), chances
    picked = np.take_along_axis(chances, np.broadcast_to(states.classes, (len(inputs), *states.classes.shape)), axis=2)
    with np.errstate(divide="ignore"):
        emitted = np.log(np.where(states.exists, picked, np.float32(0)))
    joint = _forward(emitted, states) + _backward(emitted, states, lengths)
    log_chance = np.logaddexp.reduce(joint[0], axis=1)
    is_possible = np.isfinite(log_chance)
    safe = np.where(is_possible, log_chance, np.float32(0))[:, None]
    share = np.exp(joint - safe)
    of_class = (states.classes[:, :, None] == np.arange(inputs.shape[2])).astype(np.float32)
    gradient = chances - np.matmul(share.swapaxes(0, 1), of_class).swapaxes(0, 1)
    inside = (np.arange(len(inputs))[:, None] < lengths) & counts
    loss = np.where(counts, -log_chance, np.float32(0))
    return loss, np.where(inside[:, :, None], gradient, np.float32(0))
