"""Engines that move the tensors of a call that the coordinator has let through: its own memory, or MPI between the ranks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.reduce_ops import Arrays, check

EMBEDDED, MPI = "embedded", "mpi"
MOST_TAGS = 1 << 20
"""Calls after which their tags begin anew; a job has far fewer on their way.  Source: MPI_TAG_UB is 2^26 or more in MPICH."""


class MessageEngine:
    """The coordinator's part where ranks send tensors to each other: it looks at what they are, and names the messages."""

    def __init__(self) -> None:
        self._numbers = count()

    def settle(self, call: Call, brought: Sequence[Arrays]) -> list[np.ndarray]:
        """The tag of the call's messages, for each rank.  brought: as combine has it, without values.

        Raises: InvalidArgument where the ranks do not fit together.
        """
        check(call, brought)
        return [self.tag()] * len(brought)

    def tag(self) -> np.ndarray:
        """int64 [1], another one for each call."""
        return np.array([next(self._numbers) % MOST_TAGS])
