"""The request of `tf2npu predict` to the simulated device, as the environment hands it to the process of the script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from npu_formats.environment import TF2NPU_PREDICT


@dataclass(frozen=True)
class PredictionRequest:
    """out: the file for the document.  socs: chips, the first of which runs the script.  steps: of the training graph.

    precision: a precision_mode, None for the script's own or the chip's.  iterations_per_loop: steps that one issue of the host
    makes, None for the script's own.  shapes_only: the shapes are computed, the numbers are not.  batch: further batch sizes to
    predict.  devices: numbers of them, for the scaling.  from_batch: of a script for PyTorch, its own batch, in whose place its
    inputs have the first of `batch`, in a run of shapes alone.

    The device writes the prediction to `out` when `steps` steps have run, and then ends the script; of several ranks rank 0 does.
    """

    out: str
    socs: tuple[str, ...]
    steps: int = 3
    precision: str | None = None
    iterations_per_loop: int | None = None
    shapes_only: bool = False
    batch: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()
    from_batch: int | None = None

    def as_json(self) -> str:
        """The value of TF2NPU_PREDICT."""
        return json.dumps(asdict(self), sort_keys=True)


def read_request(environment: Mapping[str, str]) -> PredictionRequest | None:
    """The request, None where there is none.  Raises: ValueError for a text that is none."""
    text = environment.get(TF2NPU_PREDICT)
    if not text:
        return None
    try:
        given: dict[str, Any] = json.loads(text)
        known = {field.name for field in fields(PredictionRequest)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in given.items() if name in known
        }
        return PredictionRequest(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{TF2NPU_PREDICT} is no request of tf2npu predict ({error}): unset it") from None
