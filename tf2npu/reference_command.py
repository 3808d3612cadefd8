"""What `dump reference` does: the original script on TensorFlow's CPU, and its tensors in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tf2npu.refused_request import RefusedRequest


def reference(words: Sequence[str], *, out: Path, steps: str | None) -> int:
    """`tf2npu dump reference`; returns the exit code.  words: the script and its arguments."""
    if not words:
        raise RefusedRequest("name a SCRIPT")
    raise RefusedRequest(f"the reference of {words[0]} for {out} ({steps}) is not made yet")
