"""Our children of a syntax node are those of the standard library, operators and contexts apart."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from tf2npu.scanner.syntax import children

pytestmark = pytest.mark.each_python

_LEFT_OUT = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_EVERY_KIND = """
global g
@decorated
async def f(a, /, b: int = 1, *args, c, d=2, **kw) -> None:
    nonlocal x, y
    async with a as b, c: await d
    async for i in j: yield i
    return {**a, 'b': [*c], **d}, f"{a!r:>{b}}", [x async for x in y if x], lambda: (yield from z)
match a:
    case {"k": v, **rest} | [1, *others] | Point(0, y=None) as p if p: del a[1:2, ...]
    case True: raise E from e
try: import a.b as c
except* E as e: a += -1 if not b < c <= d else (w := 2)
"""


def test_children_are_those_of_the_standard_library():
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:60]
    sources = [path.read_bytes() for path in files] + [_EVERY_KIND.replace("except*", "except").encode()]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    assert len(nodes) > 50_000
    for node in nodes:
        assert children(node) == [c for c in ast.iter_child_nodes(node) if not isinstance(c, _LEFT_OUT)]
