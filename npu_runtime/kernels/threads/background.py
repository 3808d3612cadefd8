"""Background calls: a worker makes one while the thread that asked for it goes on; whoever waits for it helps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from queue import SimpleQueue

from npu_runtime.device import float_status
from npu_runtime.kernels.threads import parallel


class Background:
    """`function()` on the first worker that is free, or on the thread that waits for it if none has begun by then.

    The step that the caller works on is the step that the worker works on (see float_status).
    """

    __slots__ = ("_error", "_function", "_offered", "_section", "_status", "_ticket", "is_done")

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._ticket = itertools.count()
        self._status = float_status.current()
        self._error: BaseException | None = None
        self.is_done = False
        """Whether the call has ended, by a return or by an error."""
        self._section: parallel.Helped | None = None
        self._offered: SimpleQueue[parallel.Helped | None] | None = None
        """Queue from which a waiting thread takes sections of this call, and None at its end. It is None while nobody waits."""

    def share(self, section: parallel.Helped | None) -> None:
        """A section begins, or has ended: see `parallel.Call`."""
        self._section = section
        if section is not None and self._offered is not None:
            self._offered.put(section)

    def help(self) -> None:
        """Makes the call on a worker; does nothing when a thread has begun it already."""
        if next(self._ticket) == 0:
            float_status.adopt(self._status)
            with parallel.working_for(self):
                self._run()

    def take(self) -> None:
        """Make the call on this thread if nobody has begun it."""
        if next(self._ticket) == 0:
            self._run()

    def wait(self) -> None:
        """Return when the call has ended.  Raises: what the call raised."""
        self.take()
        if not self.is_done:
            self._help_out()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._function()
        except BaseException as error:  # handed to the one who waits
            self._error = error
        finally:
            del self._function  # it keeps arrays alive
            self.is_done = True
            if self._offered is not None:
                self._offered.put(None)

    def _help_out(self) -> None:
        """Take part in its sections. The queue is there before the last look, so that nothing is missed."""
        offered: SimpleQueue[parallel.Helped | None] = SimpleQueue()
        self._offered = offered
        if (section := self._section) is not None:
            section.help()
        if not self.is_done:
            while (section := offered.get()) is not None:
                section.help()


def begin(function: Callable[[], object]) -> Background:
    """Call `function()` on a worker, side by side with what this thread does next."""
    background = Background(function)
    parallel.offer(background)
    return background
