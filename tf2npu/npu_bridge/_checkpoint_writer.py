"""One writer for a folder that several ranks save checkpoints in: the first of them that does.

Every rank of an Estimator with a fixed model_dir has a hook that saves there. On a host they replace and merge each other's files
while these are written, which rule NPU425 reports; here the ranks agree. Each notes in the folder that the ranks of a run share
where its savers write. The n-th saver of each rank is one of all, as the n-th collective call is, so a rank need not wait for
more than the n-th note of the ranks below it to know whether it writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from npu_bridge._log import log, once
from npu_bridge._method_patches import replace_methods, restore_methods
from tensorflow.python.training import basic_session_run_hooks

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_formats.files.directory import Directory
from npu_formats.files.draft import replacing

PATIENCE_SECONDS = 60.0
"""Seconds to wait for another rank's note or checkpoint. It comes within one where all ranks run the same steps; where they do
not, one that waited on would keep the others in a collective operation."""
LOOK_SECONDS = 0.02
"""Seconds between two looks: a small part of the time that a checkpoint takes."""

_HOOK = basic_session_run_hooks.CheckpointSaverHook
_original: dict[str, Callable[..., Any]] = {}
_numbers = count()


class SavingRank:
    """One saver of this rank: where it writes, and which rank writes there.

    folder: that of the run.  rank: of this process.  number: of the saver, counted from 0.  target: of the checkpoints.
    """

    def __init__(self, folder: str, rank: int, number: int, target: str) -> None:
        self._folder, self._rank, self._number, self._target = Path(folder), rank, number, _real(target)
        self._last_step = -1
        self._absent: set[int] = set()
        self._note("saver", self._target)

    def writer(self) -> int:
        """The lowest rank with this saver's folder."""
        return next((rank for rank in range(self._rank) if self._saves_here(rank)), self._rank)

    def _saves_here(self, rank: int) -> bool:
        noted = self._noted("saver", rank)
        if noted is None and rank not in self._absent:
            noted = self._wait(lambda: self._noted("saver", rank))
        if noted is None and rank not in self._absent:
            self._absent.add(rank)
            log.warning("rank %d has no checkpoint hook after %g s: rank %d writes its own", rank, PATIENCE_SECONDS, self._rank)
        return noted == self._target

    def save(self, saver: Any, session: Any, path: str, step: Any, has_readers: bool, **more: Any) -> str:
        """Write, where this rank is the writer, else leave it to that; the checkpoint's path.

        has_readers: whether the checkpoint is read at once, and so has to be there.
        """
        self._last_step = int(step)
        writer = self.writer()
        if writer == self._rank:
            written = saver.save(session, path, global_step=step, **more)
            self._note("saved", str(self._last_step))
            return str(written)
        if self._rank == writer + 1:
            once(f"rank {writer} writes the checkpoints in {self._target} for all ranks that save there", key=self._target)
        if has_readers:
            self.wait_for_last()
        return f"{path}-{step}"

    def wait_for_last(self) -> None:
        """Wait until what was saved last is written, by whichever rank does."""
        writer = self.writer()
        if self._last_step >= 0 and writer != self._rank and not self._wait(lambda: self._is_written(writer)):
            log.warning("rank %d has not written step %d in %g s", writer, self._last_step, PATIENCE_SECONDS)

    def _is_written(self, writer: int) -> bool:
        return int(self._noted("saved", writer) or "-1") >= self._last_step

    def _wait(self, look: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := look()) and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
        return found

    def _note(self, kind: str, text: str) -> None:
        with Directory.followed(self._folder) as folder, replacing(folder, f"{kind}-{self._rank}-{self._number}") as file:
            file.write(os.fsencode(text))

    def _noted(self, kind: str, rank: int) -> str | None:
        with suppress(OSError), Directory.followed(self._folder) as folder:
            return os.fsdecode(folder.read(f"{kind}-{rank}-{self._number}"))
        return None


def _real(target: str) -> str:
    """A folder by its one name; one of another file system, as of a cloud, has no other."""
    return target if "://" in target else os.path.realpath(target)


class _SharedSaver:
    """A saver of which one rank writes; everything else is that saver's own."""

    def __init__(self, saver: Any, saving: SavingRank, has_readers: bool) -> None:
        self._saver, self._saving, self._has_readers = saver, saving, has_readers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._saver, name)

    def save(self, session: Any, path: str, global_step: Any, **more: Any) -> str:
        """Save as the rank's turn is."""
        return self._saving.save(self._saver, session, path, global_step, self._has_readers, **more)


def _begin(hook: Any) -> None:
    _original["begin"](hook)
    _, _, folder = os.environ[TF2NPU_COLLECTIVES].partition("|")
    hook._npu_saving = SavingRank(folder, int(os.environ["RANK_ID"]), next(_numbers), hook._checkpoint_dir)


def _get_saver(hook: Any) -> Any:
    saver = _original["_get_saver"](hook)
    saving = getattr(hook, "_npu_saving", None)
    return saver if saving is None or saver is None else _SharedSaver(saver, saving, bool(hook._listeners))


def _end(hook: Any, session: Any) -> None:
    """Whoever reads the folder next, as an evaluation, finds what the training has saved."""
    _original["end"](hook, session)
    hook._npu_saving.wait_for_last()


def install() -> None:
    """Let one rank write what several save in one folder; with one rank nothing changes."""
    if os.environ.get(TF2NPU_COLLECTIVES) and not _original:
        replace_methods(_HOOK, {"begin": _begin, "_get_saver": _get_saver, "end": _end}, _original)


def uninstall() -> None:
    """Give the hook its own methods back."""
    restore_methods(_HOOK, _original)
