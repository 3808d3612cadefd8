"""A squarified treemap of folders and files (Bruls, Huizing and van Wijk 2000): area stands for references to TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tf2npu.report.model.counts import n_places
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.work.labels import LABELS, label_of_work

WIDTH, HEIGHT = 1200.0, 420.0
"""The picture in its own units: about as wide as a screen's text, and low enough to leave room for what stands below."""
MOST_BOXES = 140
"""Boxes that are drawn, so that the page stays small; what has less area is added up as "others"."""
_HEAD = 16.0
"""Height of a folder's name above what it holds."""
_GAP = 1.5
"""Room between boxes."""
_LEAST_HEAD = 34.0
"""Width and height from which on a folder has its name above its contents."""


_MOST_FOLDERS = 60
"""Folders of a path that are told apart: more are no project's, and what is drawn one in the other grows with them."""


@dataclass
class Node:
    """A folder or a file.  weight: references.  open: places of work.  label: the worst of them, or ""."""

    name: str
    path: str
    weight: int = 0
    open: int = 0
    label: str = ""
    file: FileReport | None = None
    n_files: int = 0
    children: dict[str, Node] = field(default_factory=dict)

    def add(self, weight: int, open_: int, label: str) -> None:
        self.weight, self.open, self.n_files = self.weight + weight, self.open + open_, self.n_files + 1
        self.label = worst((self.label, label))


@dataclass(frozen=True)
class Box:
    """A node's place in the picture.  parent: number of the box that holds it, or -1.  depth: 0 for the whole tree."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    parent: int
    depth: int


def worst(labels: Iterable[str]) -> str:
    """The worst label, or "" where there is none."""
    found = set(labels)
    return next((label for label in LABELS if label in found), "")


def tree(report: Report) -> Node:
    """The files that refer to TensorFlow or have open work, in their folders; one that holds a folder only is one with it."""
    root = Node("", "")
    for file in report.files:
        labels = [(label, n_places([f])) for f in file.new_findings() if (label := label_of_work(file, f))]
        weight = max(file.references, 1 if labels else 0)
        if weight:
            _put(root, file, weight, sum(n for _, n in labels), worst(label for label, _ in labels))
    return _joined(root)


def _put(root: Node, file: FileReport, weight: int, open_: int, label: str) -> None:
    node, parts = root, file.path.split("/", _MOST_FOLDERS)
    root.add(weight, open_, label)
    for depth, part in enumerate(parts, 1):
        node = node.children.setdefault(part, Node(part, "/".join(parts[:depth])))
        node.add(weight, open_, label)
    node.file = file


def _joined(node: Node) -> Node:
    children = [_joined(child) for child in node.children.values()]
    if len(children) == 1 and children[0].file is None and node.path:
        only = children[0]
        only.name = f"{node.name}/{only.name}"
        return only
    node.children = {child.name: child for child in children}
    return node


def boxes(root: Node, others: str) -> list[Box]:
    """The box of each node that is drawn, parents before children; others: the name of what is too small to be drawn alone."""
    drawn = _largest(root, MOST_BOXES)
    found: list[Box] = []
    _place(root, (0.0, 0.0, WIDTH, HEIGHT), -1, 0, found, drawn, others)
    return found


def _largest(root: Node, most: int) -> set[int]:
    """The heaviest nodes: a node is among them only with its folder, which is as heavy."""
    every = sorted(_nodes(root, 0), key=lambda pair: (-pair[1].weight, pair[0], pair[1].path))
    return {id(node) for _, node in every[:most]}


def _nodes(node: Node, depth: int) -> Iterator[tuple[int, Node]]:
    yield depth, node
    for child in node.children.values():
        yield from _nodes(child, depth + 1)


def _place(
    node: Node, area: tuple[float, float, float, float], parent: int, depth: int, found: list[Box], drawn: set[int], others: str
) -> None:  # fmt: skip
    number = len(found)
    found.append(Box(node, *area, parent, depth))
    x, y, width, height = area
    head = _HEAD if depth and height > _LEAST_HEAD and width > _LEAST_HEAD else 0.0
    inner = x + _GAP, y + head + _GAP, width - 2 * _GAP, height - head - 2 * _GAP
    children = sorted(node.children.values(), key=lambda child: (-child.weight, child.path))
    shown = [child for child in children if id(child) in drawn]
    if not shown or min(inner[2:]) <= 2:
        return
    rest = [child for child in children if id(child) not in drawn]
    if rest:
        shown.append(_others(rest, others))
        shown.sort(key=lambda child: -child.weight)
    for child, place in zip(shown, squarified([child.weight for child in shown], inner), strict=True):
        _place(child, place, number, depth + 1, found, drawn, others)


def _others(rest: Sequence[Node], name: str) -> Node:
    node = Node(name, "", sum(n.weight for n in rest), sum(n.open for n in rest), worst(n.label for n in rest))
    node.n_files = sum(n.n_files for n in rest)
    return node


def squarified(weights: Sequence[int], area: tuple[float, float, float, float]) -> list[tuple[float, float, float, float]]:
    """Rectangles (x, y, width, height) near squares that fill an area, as large as their weights, which are positive and fall."""
    x, y, width, height = area
    total = sum(weights)
    sizes = [weight / total * width * height for weight in weights]
    found: list[tuple[float, float, float, float]] = []
    start = 0
    while start < len(sizes):
        end, side = start + 1, min(width, height)
        while end < len(sizes) and _worst_ratio(sizes[start : end + 1], side) <= _worst_ratio(sizes[start:end], side):
            end += 1
        row = sizes[start:end]
        across = sum(row) / side if side > 0 else 0.0
        at = 0.0
        for size in row:
            along = size / across if across > 0 else 0.0
            found.append((x, y + at, across, along) if width >= height else (x + at, y, along, across))
            at += along
        x, y, width, height = (
            (x + across, y, width - across, height) if width >= height else (x, y + across, width, height - across)
        )
        start = end
    return found


def _worst_ratio(row: Sequence[float], side: float) -> float:
    """The longest rectangle of a row along a side: its longer edge by its shorter one."""
    total = sum(row)
    if total <= 0 or side <= 0:
        return float("inf")
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))
