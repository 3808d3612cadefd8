"""Workers that a killed process leaves behind: they would hold its locks, and wait for work for ever."""

from __future__ import annotations

import multiprocessing
import os
import threading


def watch_main_process() -> None:
    """End this worker as soon as the process that started it is gone."""
    threading.Thread(target=end_with_main_process, daemon=True).start()


def end_with_main_process() -> None:
    """A worker whose main process was killed would wait for its next files for ever: its siblings hold the queue open."""
    main = multiprocessing.parent_process()
    if main is not None:
        main.join()
        os._exit(1)
