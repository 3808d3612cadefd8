"""The parameters that a step uses: on this rank by its graph, and on any rank by a count of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch


def unused_places(outputs: Iterable[torch.Tensor], accumulators: Sequence[Any]) -> list[int]:
    """Numbers of the parameters that no output depends on.  accumulators: the node that gathers the gradient of each."""
    waiting = [output.grad_fn for output in outputs if output.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in seen:
                seen.add(node)
                waiting.append(node)
    return [place for place, node in enumerate(accumulators) if node not in seen]


class UsedMap:
    """The number of ranks that have a gradient for each parameter in this step.  device: of the tensor that counts them."""

    def __init__(self, n_parameters: int, device: torch.device) -> None:
        self._device = device
        self._here = [0] * n_parameters
        self.everywhere = torch.zeros(n_parameters, dtype=torch.int32, device=device)
        self._counts: list[int] = []
        self._work: Any = None

    def note(self, place: int) -> None:
        """This rank has a gradient for a parameter."""
        self._here[place] = 1

    def share(self, group: Any) -> None:
        """Begin to count over the ranks."""
        self.everywhere = torch.tensor(self._here, dtype=torch.int32).to(self._device)
        self._work = group.allreduce([self.everywhere])

    def is_used(self, place: int) -> bool:
        """Whether any rank has a gradient for a parameter; waits for the count only where this rank has none."""
        if self._here[place]:
            return True
        if self._work is not None:
            self._work.wait()
            self._work = None
            self._counts = self.everywhere.tolist()
        return bool(self._counts[place])

    def forget(self) -> None:
        """Begin another step."""
        if self._work is not None:
            self._work.wait()
            self._work = None
        self._here = [0] * len(self._here)
