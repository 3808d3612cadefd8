"""Finds every text that the page of a comparison says, as templates with {} for each value."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from tf2npu.comparison import page

PACKAGE = Path(page.__file__).parent
CATALOGUE = PACKAGE / "locale" / "zh.json"
SHARED = PACKAGE.parent / "prediction" / "htmlfiles" / "base.html"
_CALL = re.compile(r'\bt\(\s*"((?:[^"\\]|\\.)*)"')


def templates() -> set[str]:
    """Every template."""
    files = [PACKAGE / "page.py", *(PACKAGE / "htmlfiles").glob("*.html"), SHARED]
    called = {found for file in files for found in _CALL.findall(file.read_text(encoding="utf-8"))}
    return called | set(page.SCRIPT_TEXTS) | set(page.COLUMNS) - set(page.FIGURES) - set(page._MEASURED) | _sentences()


def _sentences() -> set[str]:
    """Sentences on the inputs of the first operator: the texts that the function returns."""
    tree = ast.parse((PACKAGE / "as_text.py").read_text(encoding="utf-8"))
    (function,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "inputs_of"]
    returned = [node for found in ast.walk(function) if isinstance(found, ast.Return) for node in ast.walk(found)]
    return {node.value for node in returned if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def missing() -> list[str]:
    known = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return sorted(text for text in templates() if not known.get(text))
