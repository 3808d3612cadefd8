"""Prints, as JSON, the APIs that the converter sees in each Python file of a folder: {path: {name: number of references}}.

null stands for a file that could not be converted, which the converter says itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import Status


def main(folder: Path) -> None:
    """Both phases over every file, in order of paths."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if path.is_file())
    project = ProjectFacts.merge(gather_facts(path, (folder / path).read_bytes()) for path in paths)
    seen: dict[str, dict[str, int] | None] = {}
    for path in paths:
        result = convert_file(path, (folder / path).read_bytes(), Config(), project)
        counts: dict[str, int] = {}
        for use in result.apis:
            counts[use.name] = counts.get(use.name, 0) + use.count
        seen[path] = None if result.status is Status.FAILED else counts
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
