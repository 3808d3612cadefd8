"""Counts the steps of training programs, and ends the script behind the last that is wanted."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from npu_runtime.analysis.training_updates import is_training_update
from npu_runtime.graph.ir import Graph
from npu_runtime.prediction.stop import stop
from npu_runtime.simulation.ran_step import RanStep
from npu_runtime.whole_file import put_text


class TrainingSteps:
    """n_wanted: steps of one training program before the script is stopped."""

    def __init__(self, n_wanted: int) -> None:
        self.n_wanted = n_wanted
        self._n_steps: Counter[Hashable] = Counter()
        self._lock = threading.Lock()
        self._is_done = False

    def count(self, step: RanStep, write: Callable[[], None]) -> None:
        """Count a step, if it trains.  write: leaves what was asked for, behind the last step.

        Raises: SystemExit behind the last one, in every thread that runs another.
        """
        if not is_training(step.graph):
            return
        with self._lock:  # whoever ends here meanwhile waits until the document is there
            self._n_steps[step.program] += 1
            is_last = not self._is_done and self._n_steps[step.program] >= self.n_wanted
            self._is_done |= is_last
            if is_last:
                write()
        if self._is_done:
            stop(is_first=is_last)


def is_training(graph: Graph) -> bool:
    """Whether a program updates variables as an optimizer does."""
    return any(is_training_update(node.op) for node in graph)


def put_document(out: str, document: dict[str, Any]) -> None:
    """Put a document into the file `out`, the same bytes for the same document.  Raises: OSError."""
    place = Path(out)
    put_text(place.parent, place.name, json.dumps(document, sort_keys=True, allow_nan=False))
