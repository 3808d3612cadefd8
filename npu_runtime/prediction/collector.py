"""Waits until a script has made its training steps, writes the prediction, and stops the script."""

from __future__ import annotations

import _thread
import json
import os
import threading
from collections import Counter
from collections.abc import Hashable, Mapping
from pathlib import Path

from npu_runtime.graph.ir import Graph
from npu_runtime.prediction.request import PredictionRequest, read_request
from npu_runtime.prediction.step_document import document_of
from npu_runtime.simulation.compiled_model import Ranks
from npu_runtime.simulation.ran_step import RanStep
from npu_runtime.whole_file import put_text


class PredictionDone(SystemExit):
    """The prediction is written; the script is not needed any longer."""


class PredictionCollector:
    """request: what is asked for.  n_steps: of each training program so far."""

    def __init__(self, request: PredictionRequest, ranks: Ranks) -> None:
        self.request, self.ranks = request, ranks
        self.computes = not request.shapes_only
        self.n_steps: Counter[Hashable] = Counter()
        self._lock = threading.Lock()
        self._is_done = False

    def after(self, step: RanStep) -> None:
        """Count a step.  Raises: PredictionDone behind the last one."""
        if not is_training(step.graph):
            return
        with self._lock:
            self.n_steps[step.program] += 1
            is_last = not self._is_done and self.n_steps[step.program] >= self.request.steps
            self._is_done |= is_last
        if is_last:
            self._write(step)
        if self._is_done:
            self._stop()

    def _write(self, step: RanStep) -> None:
        text = json.dumps(document_of(step, self.request, self.ranks), sort_keys=True, allow_nan=False)
        out = Path(self.request.out)
        put_text(out.parent, out.name, text)

    def _stop(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            _thread.interrupt_main()
        raise PredictionDone(0)


def is_training(graph: Graph) -> bool:
    """Whether a program updates variables as an optimizer does."""
    return any("Apply" in node.op for node in graph)


_COLLECTORS: dict[str, PredictionCollector] = {}
"""The collector of this process, by the text of the request."""


def collector(environment: Mapping[str, str] = os.environ) -> PredictionCollector | None:
    """The one collector of this process, None where nobody asks for a prediction."""
    request = read_request(environment)
    if request is None:
        return None
    text = repr(request)
    if text not in _COLLECTORS:
        _COLLECTORS[text] = PredictionCollector(request, Ranks(int(environment.get("RANK_SIZE") or 1)))
    return _COLLECTORS[text]
