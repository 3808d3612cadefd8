"""The paths of notebooks; apart from their parser, which a conversion from the cache does not need."""

from __future__ import annotations


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return path.lower().endswith(".ipynb")
