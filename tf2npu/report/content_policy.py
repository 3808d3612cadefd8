"""What a page's content security policy names."""

from __future__ import annotations

import base64
import hashlib


def hash_source(text: str) -> str:
    """The source expression of a content security policy that admits exactly this inline text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
