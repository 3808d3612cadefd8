"""The process manager of this rank's MPI: what `mpiexec` is to processes that it has started.

MPI learns from it which rank it is and how the others are reached.  Ranks here are started one by one, and what they tell each
other goes through the coordinator, which lets in whoever has the key; a manager of MPI's own listens to anybody.
Source: the wire protocol of PMI-1 (process management interface) in MPICH's documentation, without its calls for new processes.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from itertools import groupby
from threading import Thread

from npu_runtime.errors import FailedPrecondition

_LONGEST_NAME, _LONGEST_KEY, _LONGEST_VALUE = 256, 64, 4096
"""Bytes; MPI cuts longer values into pieces."""

Exchange = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Brings this rank's new keys to all ranks, and gives those of all.  Raises: FailedPrecondition."""


class ProcessManager:
    """Answers one MPI library, which reads and writes at a socket in the same process.

    job: a name that no other job has, as MPI names its files in memory after it.  size: ranks of the job.
    exchange: called at each barrier.
    """

    def __init__(self, job: str, rank: int, size: int, exchange: Exchange) -> None:
        self._name = f"kvs_{job}"
        self._rank, self._size, self._exchange = rank, size, exchange
        self._values: dict[str, str] = {}
        self._new: dict[str, str] = {}
        self._ours, self._theirs = socket.socketpair()
        self.error: FailedPrecondition | None = None
        Thread(target=self._serve, name="process manager", daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables by which MPI finds the manager."""
        return {"PMI_FD": str(self._theirs.fileno()), "PMI_RANK": str(self._rank), "PMI_SIZE": str(self._size)}

    def place(self, servers: list[str]) -> None:
        """Say which machine each rank is on, before MPI starts."""
        self._values["PMI_process_mapping"] = process_mapping(servers)

    def _serve(self) -> None:
        """Answers the requests of MPI. If the other ranks cannot be reached, it closes the socket, and MPI gives up."""
        with self._ours, self._ours.makefile("rw", encoding="ascii", errors="replace", newline="\n") as lines:
            try:
                for line in lines:
                    lines.write(self._answer(_words(line)) + "\n")
                    lines.flush()
            except FailedPrecondition as error:
                self.error = error
            except OSError:
                return

    def _answer(self, words: Mapping[str, str]) -> str:
        match words.get("cmd"):
            case "init":
                return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
            case "get_maxes":
                return f"cmd=maxes kvsname_max={_LONGEST_NAME} keylen_max={_LONGEST_KEY} vallen_max={_LONGEST_VALUE}"
            case "get_appnum":
                return "cmd=appnum appnum=0"
            case "get_my_kvsname":
                return f"cmd=my_kvsname kvsname={self._name}"
            case "get_universe_size":
                return f"cmd=universe_size size={self._size} rc=0"
            case "put":
                self._new[words["key"]] = words.get("value", "")
                return "cmd=put_result rc=0 msg=success"
            case "get":
                value = self._values.get(words["key"], self._new.get(words["key"]))
                return (
                    "cmd=get_result rc=-1 msg=unknown_key" if value is None else f"cmd=get_result rc=0 msg=success value={value}"
                )
            case "barrier_in":
                self._values.update(self._exchange(self._new))
                return "cmd=barrier_out rc=0"
            case "finalize":
                return "cmd=finalize_ack rc=0"
        return f"cmd={words.get('cmd')} rc=-1 msg=unknown_command"


def _words(line: str) -> dict[str, str]:
    """A value is the last word, and may have blanks in it."""
    before, has_value, value = line.rstrip("\n").partition(" value=")
    words = dict(word.partition("=")[::2] for word in before.split())
    return {**words, "value": value} if has_value else words


def process_mapping(servers: list[str]) -> str:
    """The ranks that share a machine, as MPI writes it: (first node, nodes, ranks on each) for each block of ranks.

    Source: the form of PMI_process_mapping in MPICH's documentation.
    """
    nodes = {server: number for number, server in enumerate(dict.fromkeys(servers))}
    blocks = [(nodes[server], len(list(ranks))) for server, ranks in groupby(servers)]
    return f"(vector,{','.join(f'({node},1,{n_ranks})' for node, n_ranks in blocks)})"
