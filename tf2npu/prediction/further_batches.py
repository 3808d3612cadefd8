"""Further batches of a script for PyTorch: each is a run of shapes alone, in which its inputs have another first extent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from npu_formats.documents.prediction import Alternative, ChipStep, Document
from npu_formats.documents.prediction_request import PredictionRequest

Predict = Callable[[PredictionRequest], Document | None]
"""The document of a request, None where the script ended before it was there."""


def add_batches(made: Document, request: PredictionRequest, predict: Predict) -> None:
    """Put the bounds and the memory of each further batch beside those of the script's own, and the largest that fits.

    request: of the own batch, with the others in `batch`.
    """
    own = made.batch
    if own is None:
        _note(made, "There is no prediction for another batch: the step takes no tensors from the host.")
        return
    for batch in sorted({*request.batch} - {own}):
        out = str(Path(request.out).with_name(f"batch-{batch}.json"))
        found = predict(replace(request, out=out, batch=(batch,), from_batch=own, shapes_only=True))
        if found is None:
            _note(made, f"There is no prediction for a batch of {batch}: the script, given such inputs, ended before its steps.")
            continue
        for step, other in zip(made.steps, found.steps, strict=True):
            step.alternatives.append(_alternative(other, batch))
            step.largest_batch = _largest(step, own, other, batch)
    _repeat_first(made)


def _alternative(step: ChipStep, batch: int) -> Alternative:
    return Alternative(
        soc=step.soc or "", precision=step.precision or "", batch=batch, bounds_ms=step.bounds_ms,
        memory_peak_bytes=step.memory_peak_bytes,
    )  # fmt: skip


def _largest(step: ChipStep, own: int, other: ChipStep, batch: int) -> int | None:
    """The batch that fills the chip's memory on the line through both peaks; None where memory does not grow."""
    before, behind, total = step.memory_peak_bytes, other.memory_peak_bytes, step.hbm_bytes
    if before is None or behind is None or total is None:
        return None
    growth = (behind - before) / (batch - own)
    return int(own + (total - before) / growth) if growth > 0 else None


def _note(made: Document, text: str) -> None:
    for step in made.steps:
        step.notes.append(text)
    _repeat_first(made)


def _repeat_first(made: Document) -> None:
    """The document repeats its first chip."""
    first = made.steps[0]
    made.alternatives, made.largest_batch, made.notes = first.alternatives, first.largest_batch, first.notes
