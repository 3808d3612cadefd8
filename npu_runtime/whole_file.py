"""Atomic writes into a folder that the user named: whole or not at all, and never through a link that stands there."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def put_text(folder: Path, name: str, text: str) -> None:
    """Put a text into the file `name` of a folder, which is made where it is missing.  Raises: OSError.

    The tool has the same in `tf2npu.files`; the runtime knows nothing of the tool.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    draft = f".draft-{secrets.token_hex(8)}"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=place)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
    finally:
        with suppress(OSError):
            os.unlink(draft, dir_fd=place)
        os.close(place)
