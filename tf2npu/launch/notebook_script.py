"""The script of a notebook's cells, as a smoke run starts it: nobody sits at a browser there."""

from __future__ import annotations

import posixpath
from pathlib import Path

from tf2npu.report.runs.record import RunRecord
from tf2npu.runs.stale_files import digest
from tf2npu.scanner.notebooks.cells import Notebook
from tf2npu.scanner.notebooks.path import is_notebook

_SUFFIX = "_cells.py"
_FIRST_LINE = "display = print  # IPython's\n"
"""The one name that notebooks have without an import and that is not a line for IPython, which the cells are given without."""


def started_for(project: Path, path: str) -> str:
    """The script to start for an entry of a project: itself, or one of a notebook's cells, written beside it.

    Raises: SourceError for a notebook that cannot be read; OSError.
    """
    if not is_notebook(path):
        return path
    folder, name = posixpath.split(posixpath.splitext(path)[0])
    script = posixpath.join(folder, name.replace(" ", "_") + _SUFFIX)
    (project / script).write_text(_FIRST_LINE + Notebook((project / path).read_bytes()).code, encoding="utf-8")
    return script


def tell_of_notebook(made: RunRecord, path: str, script: str, root: str) -> None:
    """Let the record of a run name the notebook in place of the script of its cells.  root: folder of the project's files."""
    files = made["run"]["files"]
    files.pop(script, None)
    made["run"].update(script=path, files={**files, path: digest(root, path)})
