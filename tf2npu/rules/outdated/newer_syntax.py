"""Syntax that the Python of the target does not know."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.config import Config, Target
from tf2npu.frameworks.tensorflow1.dialect import is_for_2
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_GENERICS = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})
# A text in which none of these is found holds nothing newer than Python 3.6; the tree is looked at only where one is. Words to
# search for come first: looking for a word is many times faster than looking for a pattern. Before them come the names and signs
# of which the code must have one as a token.
_HINTS = tuple(
    (frozenset(tokens), words, re.compile(pattern, re.MULTILINE))
    for tokens, words, pattern in (
        ((":=",), (":=",), r":="),
        (("/",), (",/", ", /"), r",\s*/\s*[,):]"),
        (("}",), ("=}", "= }", "=!", "= !", "=:", "= :"), r"=\s*(?:![rsa])?(?::[^{}\n]*)?\}"),
        (("except",), ("except*", "except *"), r"\bexcept\s*\*"),
        (("with",), ("with(", "with ("), r"\bwith\s*\("),
        (("|",), (" | ",), r"(?::|->)\s*['\"\w.\[\], ]+\s\|\s"),
        (("match",), ("match ",), r"^[ \t]*match\s.*:"),
        (("type",), ("type ",), r"^[ \t]*type\s+\w+.*="),
        (_GENERICS, ("list[", "dict[", "tuple[", "set[", "type["), r"(?::|->)\s*(?:list|dict|tuple|set|frozenset|type)\["),
    )
)
_Found = tuple[tuple[int, int], str, str]  # version, what it is, what to write


@rule(
    id="NPU950",
    title="Syntax newer than the target",
    on="module",
    why="TensorFlow 1.15 runs on Python 3.7 at most: there the file is not even read to its end.",
    done_when="`python3.7 -m py_compile` reads the file without an error.",
    source="What's New in Python 3.8 to 3.14; Python language reference",
    examples=(
        Example.same(
            "import tensorflow as tf\nif (n := f()) > 1:\n    print(n)",
            level="unsupported",
            write="import tensorflow as tf\nn = f()\nif n > 1:\n    print(n)",
        ),
        Example.same("import tensorflow as tf\nprint(f'{x=}')", level="unsupported"),
        Example.same("import tensorflow as tf\ndef f(x: int | None):\n    pass", level="unsupported"),
        Example.same(
            "import tensorflow as tf\nif (n := f()) > 1:\n    print(n)",
            config=Config(target=Target("3.8")),
            note="the target has it",
        ),
        Example.same("import tensorflow as tf\nprint(f'{x}')", note="in Python 3.6 already"),
        Example.same(
            "from __future__ import annotations\nimport tensorflow as tf\ndef f(x: int | None):\n    pass", note="not evaluated"
        ),
    ),
)
def newer_syntax(site: Site) -> None:
    """Reports syntax that the Python of the target does not know."""
    script = site.script
    target = script.config.target
    if not uses_tensorflow(script) or not _may_hold_newer(script) or is_for_2(script):
        return
    for node in _nodes(script):
        for version, what, instead in _newer(script, node):
            if version > target.python_version:
                site.fix.site = script.tree.span(node)
                needed = ".".join(map(str, version))
                site.unsupported(f"{what} came with Python {needed}, the target is {target.python}: write {instead}.")


def _may_hold_newer(script: Script) -> bool:
    walked, text = script.walked, script.text
    if any(f.type_parameters is not None for f, _, _ in walked.functions) or any(c.type_parameters for c, _, _ in walked.classes):
        return True
    if any(isinstance(node, cst.TemplatedString) for node in walked.strings):
        return True
    hints = (hint for hint in _HINTS if not hint[0].isdisjoint(script.tree.tokens))
    return any(any(word in text for word in words) and pattern.search(text) for _, words, pattern in hints)


def _nodes(script: Script) -> list[Any]:
    """Every node that has children, in source order."""
    seen: dict[int, Any] = {}
    for parent in script.walked.parents.values():
        seen.setdefault(id(parent), parent)
    return list(seen.values())


def _newer(script: Script, node: Any) -> list[_Found]:
    look = _LOOK.get(type(node))
    return look(script, node) if look is not None else []


def _walrus(script: Script, node: cst.NamedExpr) -> list[_Found]:
    return [((3, 8), "`:=`", "an assignment on a line of its own")]


def _parameters(script: Script, node: Any) -> list[_Found]:
    found: list[_Found] = []
    if node.params.posonly_params:
        found.append(((3, 8), "`/` in parameters", "the parameters without it"))
    if getattr(node, "type_parameters", None) is not None:
        found.append(((3, 12), "`[T]` behind a name", "typing.TypeVar"))
    if isinstance(node, cst.FunctionDef) and not _has_future_annotations(script):
        annotations = [p.annotation for p in [*node.params.params, *node.params.kwonly_params] if p.annotation is not None]
        annotations += [node.returns] if node.returns is not None else []
        found += [problem for a in annotations for problem in _annotation(script, a.annotation)]
    return found


def _class(script: Script, node: cst.ClassDef) -> list[_Found]:
    return [((3, 12), "`[T]` behind a name", "typing.TypeVar")] if node.type_parameters is not None else []


def _annotated(script: Script, node: cst.AnnAssign) -> list[_Found]:
    return [] if _has_future_annotations(script) else _annotation(script, node.annotation.annotation)


def _annotation(script: Script, node: Any) -> list[_Found]:
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
        return [((3, 10), "`X | Y` in an annotation", "typing.Optional or typing.Union, or `from __future__ import annotations`")]
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name) and node.value.value in _GENERICS:
        name = node.value.value
        return [
            ((3, 9), f"`{name}[...]` in an annotation", f"typing.{name.capitalize()}, or `from __future__ import annotations`")
        ]
    return []


def _has_future_annotations(script: Script) -> bool:
    return "from __future__ import annotations" in script.text


def _expression(script: Script, node: cst.FormattedStringExpression) -> list[_Found]:
    return [((3, 8), "`{x=}` in a text", "the name and the value: f'x={x!r}'")] if node.equal is not None else []


def _with(script: Script, node: cst.With) -> list[_Found]:
    several = len(node.items) > 1 or any(item.asname is not None for item in node.items)
    if isinstance(node.lpar, cst.LeftParen) and several:
        return [((3, 9), "`with (...)` around several items", "the items without parentheses, lines ended by a backslash")]
    return []


def _one(version: tuple[int, int], what: str, instead: str) -> Any:
    return lambda script, node: [(version, what, instead)]


_LOOK: dict[type, Any] = {
    cst.NamedExpr: _walrus,
    cst.FunctionDef: _parameters,
    cst.Lambda: _parameters,
    cst.ClassDef: _class,
    cst.AnnAssign: _annotated,
    cst.FormattedStringExpression: _expression,
    cst.With: _with,
    cst.Match: _one((3, 10), "`match`", "if and elif"),
    cst.TryStar: _one((3, 11), "`except*`", "except, on one exception at a time"),
    cst.TypeAlias: _one((3, 12), "`type X = ...`", "an assignment"),
    cst.TemplatedString: _one((3, 14), "a t-string", "an f-string"),
}
