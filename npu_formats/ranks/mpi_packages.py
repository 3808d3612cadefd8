"""The packages that the engine mpi needs: mpi4py and mpich."""

from __future__ import annotations

import importlib.util

INSTALL = 'pip install "tf2npu[mpi]"'
"""Command that installs the engine."""


def why_not() -> str | None:
    """The reason that this engine cannot be used, a missing package; None for none."""
    missing = [name for name in ("mpi4py", "mpich") if importlib.util.find_spec(name) is None and not _is_there(name)]
    return f"the engine mpi needs {' and '.join(missing)}, which {_are(missing)} not installed: {INSTALL}" if missing else None


def _is_there(name: str) -> bool:
    """mpich is a library without a module of Python's."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
