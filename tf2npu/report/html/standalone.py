"""Pages that need nothing but themselves: templates, the page's one style and script, and the policy that allows no other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import tf2npu
from tf2npu import report
from tf2npu.report.html.content_policy import page_policy

_FILES = Path(report.__file__).parent / "htmlfiles"
_REPORT_CSS = _FILES / "assets" / "report.css"
VIRTUAL_TABLE = _FILES / "virtual_table.js"
"""The script of tables with more rows than a document holds."""


def standalone_environment(name: str, folders: Sequence[Path], libraries: Sequence[Path] = ()) -> Environment:
    """Templates that find `policy`, `style`, `script` and `version`.

    name: of the style and of the script, without their endings.  folders: of templates; the first has style and script, too.
    libraries: scripts that stand before it.
    """
    environment = Environment(
        loader=FileSystemLoader(folders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = _REPORT_CSS.read_text(encoding="utf-8") + (folders[0] / f"{name}.css").read_text(encoding="utf-8")
    script = "".join(path.read_text(encoding="utf-8") for path in (*libraries, folders[0] / f"{name}.js"))
    environment.globals |= {
        "policy": page_policy(style, script), "style": Markup(style), "script": Markup(script), "version": tf2npu.__version__,
    }  # fmt: skip
    return environment


def as_data(data: dict[str, Any]) -> Markup:
    """JSON that can stand in an element of a page: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
