"""Ranks that wait for cases: processes that are started once, as importing PyTorch takes longer than most cases."""

from __future__ import annotations

import importlib
import multiprocessing
import traceback
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 60


class RankPool:
    """n_ranks processes in one group of hccl.  meeting: file by which they find each other."""

    def __init__(self, n_ranks: int, meeting: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._lines: list[Connection] = []
        self._processes = []
        for rank in range(n_ranks):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, rank, n_ranks, str(meeting)), daemon=True)
            process.start()
            self._lines.append(here)
            self._processes.append(process)

    def run(self, case: Callable[[], Any]) -> list[Any]:
        """Call a function of a module in every rank; what each has returned.  Raises: AssertionError."""
        for line in self._lines:
            line.send((case.__module__, case.__name__))
        answers = [line.recv() for line in self._lines]
        failed = [f"rank {rank}: {value}" for rank, (is_good, value) in enumerate(answers) if not is_good]
        assert not failed, "\n".join(failed)
        return [value for _, value in answers]

    def close(self) -> list[int | None]:
        """End the ranks; their exit codes."""
        for line in self._lines:
            line.send(None)
        for process in self._processes:
            process.join(TIMEOUT_SECONDS)
        return [process.exitcode for process in self._processes]


def _serve(line: Connection, rank: int, n_ranks: int, meeting: str) -> None:
    import tests.legs.torch.conftest  # noqa: F401, I001
    import torch
    import torch.distributed as dist

    timeout = timedelta(seconds=TIMEOUT_SECONDS)
    dist.init_process_group("hccl", init_method=f"file://{meeting}", rank=rank, world_size=n_ranks, timeout=timeout)
    torch.npu.set_device(rank)
    while (asked := line.recv()) is not None:
        module, case = asked
        try:
            line.send((True, getattr(importlib.import_module(module), case)()))
        except Exception:  # the test shows it
            line.send((False, traceback.format_exc()))
    dist.destroy_process_group()
