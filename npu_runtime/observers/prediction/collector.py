"""Waits until a script has made its training steps, writes the prediction, and stops the script."""

from __future__ import annotations

import os
from collections.abc import Mapping

from npu_formats.documents.prediction_request import PredictionRequest, read_request
from npu_formats.environment import TF2NPU_PREDICT
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.prediction.exit_script import listen
from npu_runtime.observers.prediction.step_document import document_of
from npu_runtime.observers.prediction.training_steps import MetBatches, TrainingSteps, put_document
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.simulation.cost_of_task import Ranks


class PredictionCollector(SessionObserver):
    """request: what is asked for.  rank: of this process; only rank 0 writes."""

    def __init__(self, request: PredictionRequest, ranks: Ranks, rank: int = 0) -> None:
        self.request, self.ranks, self.rank = request, ranks, rank
        self.computes = not request.shapes_only
        self._steps = TrainingSteps(request.steps)

    def after(self, step: RanStep) -> None:
        """Count a step.  Raises: SystemExit behind the last one, in every thread that runs another."""
        self._steps.count(step, self._write)

    def _write(self, step: RanStep, met: MetBatches) -> None:
        if self.rank == 0:
            put_document(self.request.out, document_of(step, self.request, self.ranks, met.n_steps))


_COLLECTORS: dict[str, PredictionCollector] = {}
"""The collector of this process, by the text of the request."""


def prepare(environment: Mapping[str, str] = os.environ) -> None:
    """Make ready for the end of a script that is predicted, before it starts threads."""
    if environment.get(TF2NPU_PREDICT):
        listen()


def collector(environment: Mapping[str, str] = os.environ) -> PredictionCollector | None:
    """The one collector of this process, None where nobody asks for a prediction.

    Raises: InvalidArgument for a request, a rank or a number of ranks that is none.
    """
    try:
        request = read_request(environment)
    except ValueError as error:
        raise InvalidArgument(str(error)) from None
    if request is None:
        return None
    listen()
    text = repr(request)
    if text not in _COLLECTORS:
        rank, n_ranks = _number(environment, "RANK_ID", 0), _number(environment, "RANK_SIZE", 1)
        _COLLECTORS[text] = PredictionCollector(request, Ranks(n_ranks), rank)
    return _COLLECTORS[text]


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isdecimal() or len(text) > 9:
        raise InvalidArgument(f"{name}={text!r} is no number: export what the launcher gave this process, or unset it")
    return int(text)
