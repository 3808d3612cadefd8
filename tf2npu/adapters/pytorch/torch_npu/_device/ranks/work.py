"""The handle of a collective operation that has been started."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .lane import Outcome

_NO_LIMIT = timedelta(0)


class HcclWork(dist.Work):
    """outcomes: of all calls that it stands for.  results: tensors that hold what the operation gives, once it has ended."""

    def __init__(self, outcomes: Sequence[Outcome], results: Sequence[Any]) -> None:
        super().__init__()
        self.outcomes = list(outcomes)
        self.results = list(results)

    def wait(self, timeout: timedelta = _NO_LIMIT) -> bool:
        """Wait for the operation.  Raises: DistBackendError where a rank is late, has ended or does something else."""
        seconds = timeout.total_seconds() if timeout > _NO_LIMIT else None
        for outcome in self.outcomes:
            if not outcome.wait(seconds):
                raise dist.DistBackendError(f"hccl: the operation has not ended within {seconds:g} s, the timeout of wait()")
        return True

    def synchronize(self) -> None:
        """As `wait`: nothing goes on beside the script behind it."""
        self.wait()

    def is_completed(self) -> bool:
        """Whether the operation has ended, well or not."""
        return all(outcome.has_ended for outcome in self.outcomes)

    def is_success(self) -> bool:
        """Whether the operation has ended well."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """The error that the operation raised, None for nothing."""
        return next((outcome.error for outcome in self.outcomes if outcome.error is not None), None)

    def result(self) -> list[Any]:
        """The tensors of the operation, once it has ended."""
        self.wait()
        return self.results

    def get_future(self) -> torch.futures.Future:
        """The operation as a future that has ended, so that what is hung on it is called in the script's thread."""
        future: torch.futures.Future = torch.futures.Future()
        try:
            self.wait()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(self.results)
        return future

    def source_rank(self) -> int:
        """HCCL receives from a rank that is named, so that nobody has to ask.  Raises: RuntimeError."""
        raise RuntimeError("hccl: source_rank is of what was received from any rank, which HCCL cannot do: name the rank in recv")

    _source_rank = source_rank


class FinishedWork(HcclWork):
    """A work that has nothing to do."""

    def __init__(self, results: Sequence[Any] = ()) -> None:
        super().__init__((), results)
