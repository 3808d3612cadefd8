"""The content security policies of pages."""

from __future__ import annotations

import base64
import hashlib

FOLDER_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""The policy of a page whose style sheet, scripts and data are files beside it. Chromium takes 'self' at file:// for files."""


def hash_source(text: str) -> str:
    """The source expression of a content security policy that admits exactly this inline text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def page_policy(style: str, script: str) -> str:
    """The policy of a page that needs nothing but itself: its one style, its one script, and pictures that stand in it."""
    policy = f"default-src 'none'; style-src {hash_source(style)}; script-src {hash_source(script)}; img-src data:"
    return f"{policy}; base-uri 'none'; form-action 'none'"
