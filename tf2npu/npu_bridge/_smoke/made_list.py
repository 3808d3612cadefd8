"""The list of what was made up, in which many files of a folder are one line."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from itertools import chain

_MOST = 4
"""Files of a folder and of one content that are named each for itself."""


def told_of(made: Mapping[str, str]) -> list[dict[str, str]]:
    """The entries of a report.  made: what was made, by path."""
    alike = defaultdict[tuple[str, str, str], list[str]](list)
    for path, content in made.items():
        folder, name = os.path.split(path)
        alike[folder, os.path.splitext(name)[1], content].append(path)
    told = [
        [(path, content) for path in paths] if len(paths) <= _MOST
        else [(os.path.join(folder, f"*{suffix}"), f"{len(paths)} times {content}")]
        for (folder, suffix, content), paths in alike.items()
    ]  # fmt: skip
    return [{"path": path, "content": content} for path, content in sorted(chain.from_iterable(told))]
