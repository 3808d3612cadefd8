"""Versions that are compared as texts or decimals: "1.15" comes before "1.4" there."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import takes_part
from tf2npu.rules.facts.tree_search import nodes_in
from tf2npu.scanner.sites import Site

_VERSIONS = {
    "tensorflow.__version__": ("1.15.0",), "tensorflow.VERSION": ("1.15.0",), "tensorflow.version.VERSION": ("1.15.0",),
    "numpy.__version__": ("1.18.5", "1.26.4"), "numpy.version.version": ("1.18.5", "1.26.4"),
    "scipy.__version__": ("1.4.1", "1.11.4"), "sklearn.__version__": ("0.24.2", "1.4.2"),
    "keras.__version__": ("2.3.1", "2.15.0"), "PIL.__version__": ("7.2.0", "10.4.0"), "h5py.__version__": ("2.10.0", "3.11.0"),
    "sys.version": ("3.7.5 (default", "3.11.9 (main"),
    "torch.__version__": ("1.13.1", "2.2.0"), "cv2.__version__": ("4.5.5", "4.10.0"),
}  # fmt: skip
"""Values on a host with TensorFlow 1.15, and in a simulated run, which calls itself 1.15.0 too."""
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_TITLE = "Version compared as a text"

# What is compared, with V for the version: how it reads the version, and how many numbers of it.
_READINGS: dict[str, tuple[Any, int]] = {
    "V": (lambda v: v, 9),
    "V[:3]": (lambda v: v[:3], 2),
    "V[0:3]": (lambda v: v[:3], 2),
    "float(V[:3])": (lambda v: float(v[:3]), 2),
    "float(V[0:3])": (lambda v: float(v[:3]), 2),
    "float('.'.join(V.split('.')[:2]))": (lambda v: float(".".join(v.split(".")[:2])), 2),
    "float(V.rsplit('.',1)[0])": (lambda v: float(v.rsplit(".", 1)[0]), 2),
}
_WORDS = re.compile(r"__version__|\bVERSION\b|\bsys\s*\.\s*version\b|\bversion\s*\.\s*version\b")
_PARTS = frozenset(("version", "VERSION", "__version__"))
"""Names that the code has where it has a version: without them the text is not read for the words, which takes longer."""
_SAFE = 2
"""Numbers of a version that are always digits: the third may be `0-rc1`."""
_OPERATORS: dict[type, tuple[str, Any]] = {
    cst.LessThan: ("<", lambda a, b: a < b), cst.LessThanEqual: ("<=", lambda a, b: a <= b),
    cst.GreaterThan: (">", lambda a, b: a > b), cst.GreaterThanEqual: (">=", lambda a, b: a >= b),
}  # fmt: skip


@rule(
    id="NPU985",
    title=_TITLE,
    on="module",
    matches=tuple(_VERSIONS),
    why="As texts or decimals 1.15 is less than 1.4, so the test goes the wrong way or ends the program.",
    done_when="With TensorFlow 1.15 and in `tf2npu run` the comparison gives what the numbers of the versions give.",
    source="comparison of texts in the Python language reference; versions of the Python packages of TensorFlow 1.15's time",
    examples=(
        Example(
            "assert '1.4' <= tf.__version__, 'too old'",
            "assert (1, 4) <= tuple(map(int, tf.__version__.split('.')[:2])), 'too old'",
        ),
        Example(
            "if float(tf.__version__[:3]) < 1.4:\n    raise ValueError",
            "if tuple(map(int, tf.__version__.split('.')[:2])) < (1, 4):\n    raise ValueError",
        ),
        Example.same("rnn = a if tf.__version__ < '1.2' else b", note="ran with the branch it took", level="info"),
        Example.same(
            "import numpy as np\nimport tensorflow as tf\nx = a if np.__version__ > version else b", note="nobody knows what with"
        ),
        Example.same("if tf.__version__ < '1.0':\n    raise ValueError", note="is true of both or of neither"),
        Example.same("if tf.__version__ == '1.4':\n    raise ValueError", note="nothing is less or more"),
        Example.same("if LooseVersion(tf.__version__) < LooseVersion('1.4'):\n    raise ValueError", note="by its numbers"),
    ),
)
def version_text(site: Site) -> None:
    """Has versions compared by their numbers where a text or a decimal gives another answer, and a program ends by it."""
    script = site.script
    if _PARTS.isdisjoint(script.tree.tokens) or not _WORDS.search(script.text) or not takes_part(site):
        return
    for comparison in nodes_in(script.tree.module, cst.Comparison):
        if len(comparison.comparisons) == 1 and not script.is_switched_off(site.fix.rule, comparison):
            site.fix.site = script.tree.span(comparison)
            _look_at(site, comparison)


def _look_at(site: Site, comparison: cst.Comparison) -> None:
    """Say what there is to say of one comparison."""
    left, target = comparison.left, comparison.comparisons[0]
    limit = _limit(left)
    version, other = (left, target.comparator) if limit is None else (target.comparator, left)
    limit, node = _limit(other), _version_in(site, version)
    if node is None or limit is None or type(target.operator) not in _OPERATORS:
        return
    name, reading = site.script.name_of(node, site.script.module_scope) or "", _READINGS.get(_shape(site, version, node))
    sign, compare = _OPERATORS[type(target.operator)]
    numbers = tuple(int(n) for n in str(limit).split("."))
    if sign == (">=" if other is not left else "<=") and numbers[_SAFE:] == (0,):
        numbers = numbers[:_SAFE]  # 1.4.0 is the first 1.4
    if reading is None or not _goes_wrong(name, reading, (limit, numbers), compare if other is not left else _turned(compare)):
        return
    if len(numbers) > _SAFE or name == "sys.version" or not _may_end(site, comparison):
        return site.info(
            f"{site.source(comparison)} compares texts or decimals, in which 1.15 is less than 1.4. If the other branch "
            f"is meant, compare the numbers: tuple(map(int, version.split('.')[:2])) {sign} (1, 4)."
        )
    site.replace(version, f"tuple(map(int, {site.source(node)}.split('.')[:{len(numbers)}]))")
    site.replace(other, f"({', '.join(map(str, numbers))}{',' * (len(numbers) == 1)})")
    return site.fixed("Texts and decimals have 1.15 below 1.4: the versions are compared by their numbers now.")


def _version_in(site: Site, expression: cst.BaseExpression) -> cst.BaseExpression | None:
    """The version that an expression reads."""
    node: cst.Attribute
    for node in nodes_in(expression, cst.Attribute):
        if site.script.name_of(node, site.script.module_scope) in _VERSIONS:
            return node
    return None


def _shape(site: Site, expression: cst.CSTNode, version: cst.CSTNode) -> str:
    """An expression without blanks, with V in the place of the version."""
    text = site.source(expression).replace(site.source(version), "V", 1)
    return re.sub(r"\s", "", text).replace('"', "'")


def _limit(node: cst.BaseExpression) -> str | float | None:
    """The version that is compared with, as it is written: a text or a decimal."""
    if isinstance(node, cst.Float):
        return float(node.value)
    if isinstance(node, cst.SimpleString):
        value = node.evaluated_value
        return value if isinstance(value, str) and _NUMBERS.fullmatch(value) else None
    return None


def _turned(compare: Any) -> Any:
    return lambda a, b: compare(b, a)


def _goes_wrong(name: str, reading: tuple[Any, int], limits: tuple[Any, tuple[int, ...]], compare: Any) -> bool:
    """Whether some version that may be installed compares otherwise as it is read than by its numbers."""
    read, n_read = reading
    limit, numbers = limits
    for version in _VERSIONS[name]:
        value, found = read(version), _NUMBERS.match(version)
        if isinstance(value, str) is not isinstance(limit, str) or found is None:
            return False
        known = tuple(int(n) for n in found.group().split("."))[: min(n_read, len(numbers))]
        if compare(value, limit) is not compare(known, numbers):
            return True
    return False


def _may_end(site: Site, comparison: cst.CSTNode) -> bool:
    """Whether a comparison decides over the program's end; elsewhere the branch that was taken so far stays."""
    for around in site.script.walked.ancestors(comparison):
        if isinstance(around, cst.Assert):
            return True
        if isinstance(around, cst.If):
            return _ends_program(around.body)
        if isinstance(around, (cst.BaseStatement, cst.IfExp)):
            return False
    return False


def _ends_program(block: cst.BaseSuite) -> bool:
    """Whether the last line of a block raises, or leaves the program."""
    line = block.body[-1] if isinstance(block, cst.IndentedBlock) else None
    last = line.body[-1] if isinstance(line, cst.SimpleStatementLine) else None
    call = last.value if isinstance(last, cst.Expr) else None
    function = call.func if isinstance(call, cst.Call) else None
    is_exit = isinstance(function, cst.Name) and function.value in ("exit", "quit")
    return isinstance(last, cst.Raise) or is_exit or (isinstance(function, cst.Attribute) and function.attr.value == "exit")
