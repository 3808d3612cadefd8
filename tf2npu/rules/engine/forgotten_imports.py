"""Imports that a file forgot: of a module whose name other files of the project give the usual meaning."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tf2npu.scanner.imports import is_future
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.text.edits import Change

_ALWAYS_THERE = {
    "np": "numpy",
    **{name: name for name in ("os", "sys", "time", "math", "random", "json", "re", "copy", "argparse", "logging")},
}
"""Names that mean one module in nearly every program, of modules that are there wherever TensorFlow is."""
_MODULES = {"tf": "tensorflow", "plt": "matplotlib.pyplot", "pd": "pandas", **_ALWAYS_THERE}


def import_of(name: str) -> str:
    """The import that gives a name its usual meaning; "" for a name that has none."""
    module = _MODULES.get(name, "")
    return f"import {module} as {name}" if module != name and module else f"import {module}" if module else ""


def import_missing(script: Script, name: str, sites: Sequence[Site]) -> bool:
    """Add an import for a name that nothing in a file defines, and say so at the first of its places.

    Returns: whether it did. It does where another file of the project imports the module by this name, no file gives the name
    another meaning, and only attributes of it are used here: without the import Python ends at each of these places.
    """
    module = _ALWAYS_THERE.get(name)
    place = _place(script)
    if module is None or place is None or is_notebook(script.path) or not _means(script, name, module):
        return False
    if any(not isinstance(site.node, cst.Attribute) or site.fix.site[0] < place for site in sites):
        return False
    first = min(sites, key=lambda site: site.fix.site)
    line = import_of(name)
    first.fix.changes.append(Change(place, place, f"{line}{script.newline_at(place)}"))
    first.fixed(
        f"Nothing defines {name} here, so Python ends with a NameError. The conversion adds `{line}`, which other files of this "
        "project have."
    )
    return True


def _means(script: Script, name: str, module: str) -> bool:
    """Whether some other file of the project imports the module by the name, and none uses the name for something else."""
    others = [facts for path, facts in script.project.files.items() if path != script.path]
    targets = {facts.exports[name] for facts in others if name in facts.exports}
    return targets == {(0, module)} and not any(name in facts.definitions for facts in others)


def _place(script: Script) -> int | None:
    """The line of the first import at the top of a file; None where there is none with a line of its own."""
    for statement in script.tree.module.body:
        if isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], (cst.Import, cst.ImportFrom)):
            start = script.tree.span(statement)[0]
            if not is_future(statement.body[0]):
                return start if script.lines.line_start(start) == start else None
    return None
