"""The distributions that a project says it needs: the words of its files of requirements."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from npu_formats.files.bounded_read import MOST_SETTINGS_BYTES

_NAME = re.compile(r"(?i)^(?:.*requirements?.*\.(?:txt|in)|environment.*\.ya?ml|pipfile|conda.*\.ya?ml)$")
_OTHERS = frozenset(("setup.py", "setup.cfg", "pyproject.toml"))
_WORD = re.compile(r"[A-Za-z_][\w.-]*")


def is_requirements(path: str) -> bool:
    """Whether a file that is no source says what a project needs."""
    return _NAME.match(PurePosixPath(path).name) is not None


def names_requirements(path: str) -> bool:
    """Whether a file may name distributions, be it among other things."""
    return is_requirements(path) or PurePosixPath(path).name in _OTHERS


def named_distributions(data: bytes) -> frozenset[str]:
    """The words of a file, in the form that names of distributions and modules share."""
    if len(data) > MOST_SETTINGS_BYTES:
        return frozenset()
    return frozenset(normalized(word) for word in _WORD.findall(data.decode("utf-8", "replace")))


def normalized(name: str) -> str:
    """A name of a module or a distribution as both are compared."""
    return re.sub(r"[-_.]+", "_", name).lower()
