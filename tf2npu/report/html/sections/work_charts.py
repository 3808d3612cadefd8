"""Pictures of where the work is: folders and files, workflows and rules, projects; each with its figures as text."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View, page_name
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.treemap import HEIGHT, WIDTH, Box, boxes, tree
from tf2npu.report.work.breakdown import Bar, first_and_others, of_projects, of_rules, of_workflows

_RULES, _PROJECTS = 10, 20
"""Bars of a picture: what a person compares at a look; the rest is added up."""
_ROWS = 60
"""Rows of the table that says what the treemap shows; the list of files has all."""
_LETTER, _LINE = 6.6, 14.0
"""Width of a letter and height of a line of the treemap's labels, in its units."""


def section(view: View) -> Section | None:
    root = tree(view.report)
    if not root.weight:
        return None
    drawn = boxes(root, view.texts.text("others"))
    values = {
        "width": WIDTH, "height": HEIGHT, "boxes": [_box(view, number, box) for number, box in enumerate(drawn)],
        "rows": [_box(view, number, box) for number, box in enumerate(drawn) if box.depth][:_ROWS],
        "bars": [bars for bars in _bars(view) if bars["bars"]],
    }  # fmt: skip
    return Section("pictures", view.texts.text("Where the work is"), values)


def _box(view: View, number: int, box: Box) -> dict[str, Any]:
    node, texts = box.node, view.texts
    name = node.path or (node.name if box.depth else texts.text("all files"))
    open_ = texts.counted(node.open, "open place")
    return {
        "number": number, "parent": box.parent, "x": f"{box.x:.1f}", "y": f"{box.y:.1f}",
        "width": f"{max(box.width - 1, 0.5):.1f}", "height": f"{max(box.height - 1, 0.5):.1f}",
        "label": node.label, "path": name, "name": node.name if box.depth else "", "references": node.weight, "open": node.open,
        "said": f"{name}: {texts.counted(node.weight, 'reference')}, {open_}",
        "text": _fitting(node.name, box) if box.depth else "", "text_x": f"{box.x + 4:.1f}", "text_y": f"{box.y + 12:.1f}",
        "href": page_name(node.file.path) if node.file is not None and node.file.has_page else "",
        "is_folder": bool(node.children),
    }  # fmt: skip


def _fitting(name: str, box: Box) -> str:
    """The part of a name that a box has room for."""
    room = int((box.width - 8) / _LETTER)
    if box.height < _LINE or room < 3:
        return ""
    return name if len(name) <= room else f"{name[: room - 1]}\u2026"


def _bars(view: View) -> list[dict[str, Any]]:
    texts, report = view.texts, view.report
    others = texts.text("others")
    workflows = [Bar(texts.text(bar.name), bar.done, bar.open) for bar in of_workflows(report)]
    return [
        _picture(view, "workflows", "Places by workflow", workflows),
        _picture(view, "rules", "Places by rule", first_and_others(of_rules(report), _RULES, others)),
        _picture(view, "projects", "Places by project", first_and_others(of_projects(report), _PROJECTS, others)),
    ]


def _picture(view: View, name: str, title: str, bars: list[Bar]) -> dict[str, Any]:
    most = max((bar.total for bar in bars), default=0) or 1
    rows = [
        {
            "name": bar.name or view.texts.text("(top folder)"), "done": bar.done, "open": bar.open,
            "href": f"rules.html#{anchor}" if bar.rule and (anchor := view.rules.anchor(bar.rule)) else "",
            "title": view.rules.title(bar.rule) if bar.rule else "",
            "done_width": f"{100 * bar.done / most:.1f}", "open_width": f"{100 * bar.open / most:.1f}",
        }
        for bar in bars
    ]  # fmt: skip
    return {"name": name, "title": view.texts.text(title), "bars": rows}
