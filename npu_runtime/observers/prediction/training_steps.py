"""Counts the steps of training programs, and ends the script behind the last that is wanted.

Each combination of shapes that are fed is a program.  Of a script whose batches change size none may run as often as is wanted,
so what was asked for is also left when all of them together have; the script goes on for a while, as one of them may yet.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from npu_formats.files.whole_file import put_text
from npu_runtime.analysis.training_updates import is_training_update
from npu_runtime.graph.ir import Graph
from npu_runtime.observers.prediction.exit_script import stop
from npu_runtime.observers.ran_step import RanStep

PATIENCE = 4
"""Factor on the wanted number of steps within which shapes may change: enough for one batch of another size at the end of each of
a few short epochs, and few where no two batches are alike."""
Shapes = tuple[tuple[int, ...], ...]


@dataclass
class MetBatches:
    """The steps of one request with all shapes.  n_steps: by the shapes of what is fed, in the order in which they came.
    likeliest: a step of those that came most often, and of these the largest.
    """

    n_steps: Counter[Shapes] = field(default_factory=Counter)
    likeliest: RanStep | None = None

    def meet(self, step: RanStep) -> None:
        """Count a step."""
        shapes = tuple(step.shapes)
        self.n_steps[shapes] += 1
        if self.likeliest is None or self._rank(shapes) >= self._rank(tuple(self.likeliest.shapes)):
            self.likeliest = step

    def _rank(self, shapes: Shapes) -> tuple[int, int]:
        return self.n_steps[shapes], sum(map(prod, shapes))


Write = Callable[[RanStep, MetBatches], None]
"""write(step, met): leaves what was asked for.  step: that stands for all of its program.  met: the shapes that these had."""


class TrainingSteps:
    """n_wanted: steps of one training program before the script is stopped."""

    def __init__(self, n_wanted: int) -> None:
        self.n_wanted = n_wanted
        self._met: defaultdict[str, MetBatches] = defaultdict(MetBatches)
        self._lock = threading.Lock()
        self._is_done = False

    def count(self, step: RanStep, write: Write) -> None:
        """Count a step, if it trains.  write: called behind the last step, and before it when steps enough have passed.

        Raises: SystemExit behind the last one, in every thread that runs another.
        """
        if not (is_training(step.graph) or step.trains_eagerly):
            return
        with self._lock:  # whoever ends here meanwhile waits until the document is there
            met = self._met[step.name]
            met.meet(step)
            n_all, n_same = met.n_steps.total(), met.n_steps[tuple(step.shapes)]
            is_last = not self._is_done and (n_same >= self.n_wanted or n_all >= PATIENCE * self.n_wanted)
            if is_last or (not self._is_done and n_all == self.n_wanted):
                assert met.likeliest is not None
                write(step if n_same >= self.n_wanted else met.likeliest, met)
            self._is_done |= is_last
        if self._is_done:
            stop(is_first=is_last)


def is_training(graph: Graph) -> bool:
    """Whether a program updates variables as an optimizer does."""
    return any(is_training_update(node.op) for node in graph)


def put_document(out: str, document: dict[str, Any]) -> None:
    """Put a document into the file `out`, the same bytes for the same document.  Raises: OSError."""
    place = Path(out)
    put_text(place.parent, place.name, json.dumps(document, sort_keys=True, allow_nan=False))
