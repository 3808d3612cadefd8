"""What `tf2npu predict` asks for, from the environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from npu_runtime.errors import InvalidArgument

REQUEST_VARIABLE = "TF2NPU_PREDICT"
"""Name of the variable with a JSON object of the fields of PredictionRequest."""


@dataclass(frozen=True)
class PredictionRequest:
    """out: file for the document.  socs: chips.  steps: of the training graph before the script is stopped.  precision: mode, ""
    for the script's own or the chip's.  iterations_per_loop: steps that one issue of the host makes, 0 for the script's own.
    shapes_only: whether nothing is computed.  batch: further sizes to predict.  devices: numbers of them, for the scaling.
    """

    out: str
    socs: tuple[str, ...]
    steps: int = 3
    precision: str = ""
    iterations_per_loop: int = 0
    shapes_only: bool = False
    batch: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()


def read_request(environment: Mapping[str, str]) -> PredictionRequest | None:
    """The request, None where there is none.  Raises: InvalidArgument for a text that is none."""
    text = environment.get(REQUEST_VARIABLE)
    if not text:
        return None
    try:
        given: dict[str, Any] = json.loads(text)
        known = {field.name for field in fields(PredictionRequest)}
        values = {name: value for name, value in given.items() if name in known and value is not None}
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return PredictionRequest(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidArgument(f"{REQUEST_VARIABLE} is no request of tf2npu predict ({error}): unset it") from None
