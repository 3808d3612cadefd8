"""Write a file whole or not at all."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable
from pathlib import Path


def put_whole(path: Path, pieces: Iterable[str]) -> bool:
    """Put a text into a file, which is the old one or the new one at any moment; True when it held something else before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.tf2npu-draft")
    with draft.open("wb") as stream:
        for piece in pieces:
            stream.write(piece.encode("utf-8", "backslashreplace"))
    is_new = not path.is_file() or not filecmp.cmp(path, draft, shallow=False)
    os.replace(draft, path)
    return is_new
