"""The machines that the ranks of one job are on."""

from __future__ import annotations

import socket
from dataclasses import dataclass

FIRST_PORT = 60000
"""Port of the coordinator of several machines; if it is taken, the next free one.  Source: the default of HCCL_IF_BASE_PORT."""
LEAST_KEY_CHARACTERS = 16
"""Least length of the key of a job: whoever has it can join, so it must not be guessed."""


@dataclass(frozen=True)
class Servers:
    """of_ranks: the address of each rank's machine.  port: the first one where the coordinator may listen, beside rank 0.

    key: of the job; never part of a message.
    """

    of_ranks: tuple[str, ...]
    port: int
    key: str

    @property
    def chief(self) -> str:
        """The address of rank 0's machine."""
        return self.of_ranks[0]

    def __repr__(self) -> str:
        return f"Servers({self.of_ranks}, {self.port})"


def is_here(address: str) -> bool:
    """Whether an address, or a name, is one of this machine's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
