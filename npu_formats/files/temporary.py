"""A folder of this process alone, below the system's one for temporary files, that is removed when it is no longer needed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder that only this user can enter; it goes with all that is in it, links in it but not what they lead to.

    Raises: OSError where it cannot be made.
    """
    with tempfile.TemporaryDirectory(prefix="tf2npu-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()
