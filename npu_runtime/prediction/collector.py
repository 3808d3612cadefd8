"""Waits until a script has made its training steps, writes the prediction, and stops the script."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Hashable, Mapping
from pathlib import Path

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Graph
from npu_runtime.prediction.request import REQUEST_VARIABLE, PredictionRequest, read_request
from npu_runtime.prediction.step_document import document_of
from npu_runtime.prediction.stop import listen, stop
from npu_runtime.simulation.compiled_model import Ranks, is_training_update
from npu_runtime.simulation.ran_step import RanStep
from npu_runtime.whole_file import put_text


class PredictionCollector:
    """request: what is asked for.  rank: of this process; only rank 0 writes.  n_steps: of each training program so far."""

    def __init__(self, request: PredictionRequest, ranks: Ranks, rank: int = 0) -> None:
        self.request, self.ranks, self.rank = request, ranks, rank
        self.computes = not request.shapes_only
        self.n_steps: Counter[Hashable] = Counter()
        self._lock = threading.Lock()
        self._is_done = False

    def after(self, step: RanStep) -> None:
        """Count a step.  Raises: SystemExit behind the last one, in every thread that runs another."""
        if not is_training(step.graph):
            return
        with self._lock:  # whoever ends here meanwhile waits until the document is there
            self.n_steps[step.program] += 1
            is_last = not self._is_done and self.n_steps[step.program] >= self.request.steps
            self._is_done |= is_last
            if is_last and self.rank == 0:
                self._write(step)
        if self._is_done:
            stop(is_first=is_last)

    def _write(self, step: RanStep) -> None:
        text = json.dumps(document_of(step, self.request, self.ranks), sort_keys=True, allow_nan=False)
        out = Path(self.request.out)
        put_text(out.parent, out.name, text)


def is_training(graph: Graph) -> bool:
    """Whether a program updates variables as an optimizer does."""
    return any(is_training_update(node.op) for node in graph)


_COLLECTORS: dict[str, PredictionCollector] = {}
"""The collector of this process, by the text of the request."""


def prepare(environment: Mapping[str, str] = os.environ) -> None:
    """Make ready for the end of a script that is predicted, before it starts threads."""
    if environment.get(REQUEST_VARIABLE):
        listen()


def collector(environment: Mapping[str, str] = os.environ) -> PredictionCollector | None:
    """The one collector of this process, None where nobody asks for a prediction.

    Raises: InvalidArgument for a request, a rank or a number of ranks that is none.
    """
    request = read_request(environment)
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
    if not text.isdecimal():
        raise InvalidArgument(f"{name}={text!r} is no number: export what the launcher gave this process, or unset it")
    return int(text)
