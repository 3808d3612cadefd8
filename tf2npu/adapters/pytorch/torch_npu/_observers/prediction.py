"""`tf2npu predict`: writes the document when enough training steps have run, and ends the script."""

from __future__ import annotations

import os

from npu_formats.documents.prediction_request import PredictionRequest, read_request


def begin() -> None:
    """Take part where a prediction is asked for.  Raises: ValueError for a request that is none."""
    request = read_request(os.environ)
    if request is not None:
        _begin(request)


def _begin(request: PredictionRequest) -> None:
    from npu_runtime.importers.pytorch.operator_call import OperatorCall
    from npu_runtime.observers.prediction.exit_script import listen, stop
    from npu_runtime.observers.prediction.training_steps import put_document
    from npu_runtime.simulation.eager_step_document import EagerStep, document_of

    from .._device import module_moves
    from .._device.memory import POOLS
    from .step_recorder import StepRecorder

    n_left = [request.steps]

    def ended(calls: list[OperatorCall]) -> None:
        """Count a step.  Raises: SystemExit behind the last one."""
        n_left[0] -= 1
        if n_left[0] > 0:
            return
        if _number("RANK", 0) == 0:
            index = calls[0].device if calls else 0
            own = [call for call in calls if call.device == index]
            step = EagerStep(own, POOLS[index].peak, _number("WORLD_SIZE", 1))
            put_document(request.out, document_of(step, request.socs))
        stop(is_first=True)

    listen()
    module_moves.install()
    StepRecorder(ended, n_optimizers=int(request.steps == 1)).begin()


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else default
