"""Draws docs/packages.svg, both halves layer by layer, and what both stand on: `python tools/draw_packages.py` (`make regen`).

The layers are those that import-linter keeps (`pyproject.toml`); what a package is for is the first line of its docstring.
"""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from npu_formats.toml_document import parsed

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "packages.svg"
WIDTH, GAP, LINE, MARGIN = 460, 10, 17, 20  # pixels: of a column, between boxes, of a line of text, around all
SHIM = 170  # pixels: width of the column between the halves
LETTERS = 62  # of a line of text: what fits into a box in a sans-serif type of 12 pixels
STYLE = (
    "text{font:12px sans-serif;fill:#1b1f24}.name{font:bold 13px monospace}.half{font:bold 15px sans-serif}"
    "rect{fill:#eef3f8;stroke:#6b7f94}.shim{fill:#fdf3e1;stroke:#b08b3e}path{stroke:#6b7f94;fill:none;marker-end:url(#tip)}"
)

SHIMS = ("npu_bridge", "npu_device", "hccl")
"""The packages that converted scripts import, between the two halves."""


def layers(half: str, contract: str) -> list[list[str]]:
    """Modules of each layer, the highest first, without the package of the half."""
    settings: dict[str, Any] = parsed((ROOT / "pyproject.toml").read_bytes())
    found = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["name"] == contract)
    return [[name.strip().removeprefix(f"{half}.") for name in row.split("|")] for row in found["layers"]]


def caption(half: str, module: str) -> str:
    """The first sentence of a module's or package's docstring."""
    path = ROOT / half / module.replace(".", "/")
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return text.partition(". ")[0].rstrip(".").replace("`", "")


def boxes(half: str, rows: list[list[str]], x: int) -> tuple[list[str], int]:
    """A column of boxes, one a layer, and where it ends."""
    y, drawn = MARGIN + 30, []
    for row in rows:
        lines = [line for module in row for line in _lines(half, module)]
        height = LINE * len(lines) + 14
        drawn.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="5"/>')
        drawn += [_text(x + 10, y + LINE * (n + 1), line, kind) for n, (line, kind) in enumerate(lines)]
        y += height + GAP
    return drawn, y


def _lines(half: str, module: str) -> list[tuple[str, str]]:
    words = textwrap.wrap(caption(half, module), LETTERS)
    return [(module, "name"), *((line, "") for line in words)]


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{marked}>{escape(text)}</text>'


def picture() -> str:
    """The picture as SVG text."""
    right = MARGIN + WIDTH + GAP * 2 + SHIM + GAP * 2
    tool, end = boxes("tf2npu", [row for row in layers("tf2npu", "rooms of the tool") if row != ["__main__"]], MARGIN)
    runtime, other_end = boxes("npu_runtime", layers("npu_runtime", "runtime layers"), right)
    ground, bottom = _ground(max(end, other_end), right + WIDTH - MARGIN)
    width, height = right + WIDTH + MARGIN, bottom + MARGIN
    middle = MARGIN + WIDTH + GAP * 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Layers of the tool and of the runtime, and the shim between them</title>",
        f'<style>{STYLE}</style><rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" style="fill:#6b7f94"/></marker></defs>',
        _text(MARGIN, MARGIN + 15, "the tool: tf2npu, without TensorFlow", "half"),
        _text(right, MARGIN + 15, "the runtime: npu_runtime", "half"),
        *tool,
        *runtime,
        *_shim(middle, right),
        *ground,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _ground(y: int, width: int) -> tuple[list[str], int]:
    """The package below both halves, as wide as both, and where it ends."""
    height = LINE * 2 + 14
    lines = [("npu_formats", "name"), (caption("npu_formats", ""), "")]
    drawn = [_text(MARGIN + 10, y + LINE * (n + 1), line, kind) for n, (line, kind) in enumerate(lines)]
    return [f'<rect x="{MARGIN}" y="{y}" width="{width}" height="{height}" rx="5"/>', *drawn], y + height


def _shim(x: int, right: int) -> list[str]:
    y, lines = MARGIN + 30, textwrap.wrap("what a converted script imports; sends its sessions and functions to the runtime", 24)
    height = LINE * (len(lines) + len(SHIMS)) + 14
    names = [_text(x + 10, y + LINE * (n + 1), name, "name") for n, name in enumerate(SHIMS)]
    return [
        f'<rect class="shim" x="{x}" y="{y}" width="{SHIM}" height="{height}" rx="5"/>',
        *names,
        *(_text(x + 10, y + LINE * (n + len(SHIMS) + 1), line) for n, line in enumerate(lines)),
        f'<path d="M{x + SHIM} {y + 30}H{right}"/>',
        f'<path d="M{x - GAP * 2} {y + 30}H{x}" style="stroke-dasharray:4"/>',
    ]


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
