"""The smoke run of this process: what was made up, which steps trained, what their losses were, and what failed."""

from __future__ import annotations

import atexit
import json
import re
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from npu_bridge._check import gradient_roots
from npu_bridge._smoke import known_datasets, library_readers, virtual_files, weights
from npu_bridge._smoke.graph_files import GraphFiles
from npu_bridge._smoke.made_files import MadeFiles, Missing
from npu_bridge._smoke.made_list import told_of
from npu_bridge._smoke.places import Places
from tensorflow.python.framework import errors_impl

from npu_formats.files.whole_file import put_text
from npu_runtime.observers.smoke_test import smoke_test
from npu_runtime.session import run_log

_ENDS = (errors_impl.OutOfRangeError, errors_impl.CancelledError)
"""Errors that end an epoch or a queue, and are no failures."""
_LOSS = re.compile(r"(?i)(loss|cost|cross_?entropy|xent|objective)")
_MOST_CHARACTERS = 300
"""Characters of a failure that are kept."""


class WatchedRun:
    """The smoke run that the environment asks for."""

    def __init__(self) -> None:
        test = smoke_test()
        assert test is not None
        self._test, self.request = test, test.request
        self._files = MadeFiles(Places(self.request.root, self.request.elsewhere), self.request.lessons)
        self._graph_files = GraphFiles(self._files)
        self._failure = ""
        self._roots: list[str] = []
        virtual_files.install(self._files)
        known_datasets.install(self._files)
        weights.install(self._files)
        library_readers.install(self._files)
        for path, how in self.request.asked:
            self._files.make_asked(Missing(self._files.places.taken(path), how))
        self._files.missing.clear()
        gradient_roots.install()
        self._watch_threads()
        test.tell = self.write
        atexit.register(self.write)

    def prepared(self, graph: Any, feeds: Sequence[Any]) -> Sequence[Any]:
        """The values that are fed to a run, of which all files that it reads are there from now on."""
        self._graph_files.prepare(graph)
        return [self._graph_files.fed(graph, value) if _is_text(value) else value for value in feeds]

    def note_failure(self, error: Exception) -> None:
        """Note an error of a run that was to train: nothing may fail before the steps are made, be it caught by the script."""
        was_training = self._test.has_open_step()
        if was_training and not isinstance(error, _ENDS) and not self._failure:
            self._failure = _in_short(error)

    def document(self) -> dict[str, Any]:
        """The entry of the report's document on this process."""
        first, last = self._losses()
        return {
            "wanted": self.request.steps, "steps": self._test.n_steps, "without_change": self._test.n_without_change,
            "on_host": self._test.n_on_host, "first_loss": first, "last_loss": last, "failure": self._failure,
            "made": told_of(self._files.made),
        }  # fmt: skip

    def write(self) -> None:
        """Write what is known by now, for the process that waits for this one."""
        missing = [[self._files.places.told(one.path), one.how] for one in self._files.missing.values()]
        out = Path(self.request.out)
        shown = self._files.places.shown
        texts = [[path, asdict(text.lines), shown(text.asker)] for path, text in self._files.texts.items()]
        put_text(out.parent, out.name, json.dumps({**self.document(), "missing": missing, "texts": texts}, sort_keys=True))

    def _losses(self) -> tuple[str, str]:
        """The first and the last value of the loss that the script fetched, "" where it fetched none."""
        programs = [p for session in run_log().sessions for p in session.programs if p.n_runs and p.kept is not None]
        roots = {root.name for _, root in gradient_roots._roots}
        found = [(name, curve, p.trains) for p in programs for name, curve in p.kept.numbers.items()]
        likely = [one for one in found if one[0] in roots] or [one for one in found if _LOSS.search(one[0])]
        if not likely:
            return "", ""
        _, curve, _ = max(likely, key=lambda one: (one[2], len(one[1].points)))
        return f"{curve.first:.5g}", f"{curve.last:.5g}"

    def _watch_threads(self) -> None:
        """Note an error that ends a thread: the script goes on, and its exit code says nothing of it."""
        before = threading.excepthook

        def hook(caught: Any) -> None:
            if caught.exc_type is not SystemExit and not issubclass(caught.exc_type, _ENDS) and not self._test.is_over:
                self._failure = self._failure or _in_short(caught.exc_value)
            before(caught)

        threading.excepthook = hook


def _is_text(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") in ("O", "S", "U")


def _in_short(error: BaseException | None) -> str:
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {line}"[:_MOST_CHARACTERS]
