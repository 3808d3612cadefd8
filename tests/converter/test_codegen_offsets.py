"""The tree's offsets against LibCST's own position provider, and LibCST's code generation beside ours."""

import libcst as cst
import pytest
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from tf2npu.scanner.tree import parse

pytestmark = pytest.mark.each_python

SOURCES = {
    "expressions": "y = (a . b)(1, *c, k = (2), **d) [ i : j ]\nz = x if (x) else (yield_)\nt = a, b = 1,\n",
    "decorators": "@ a.b (1)\n@(c)\n@d\ndef f(x: int = 1, *, y=(2)) -> None:\n    # says why\n    return x ; pass\n",
    "blocks": "if a :  # why\n  b\nelse:\n  c\nwith (open(x) as f, g):\n    pass\ntry: pass\nexcept (A, B) as e: raise\n",
    "lines": "x = [  # first\n    1,\n    2,  # second\n]\n\n\nclass C (B , metaclass = M):\n\n    y: int = 3\n",
    "no last newline": "x = \\\n  f(\n    a)",
    "carriage returns": "if a:\r\n    b = f'{c . d}'\r\n",
}
_LAYOUT = (
    cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.Newline, cst.TrailingWhitespace, cst.EmptyLine, cst.Comment,
)  # fmt: skip


@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES)
def test_expressions_stand_where_libcst_says(text: str) -> None:
    """LibCST leaves out the parentheses around an expression; ours has them, so only those without are compared."""
    wanted = _places_of_libcst(text)
    tree = parse(text)
    plain = [n for n in _nodes(tree.module) if isinstance(n, cst.BaseExpression) and not n.lpar]
    assert [(type(n).__name__, *tree.span(n)) for n in plain] == wanted


@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES)
def test_every_node_but_layout_has_a_place(text: str) -> None:
    tree = parse(text)
    for node in _nodes(tree.module):
        if not isinstance(node, _LAYOUT):
            start, end = tree.span(node)
            assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES)
def test_code_generation_of_libcst_is_as_before(text: str) -> None:
    """Also of what LibCST alone writes: a node that is built without its signs gets them."""
    assert parse(text).module.code == text
    call = cst.Call(cst.Name("f"), [cst.Arg(cst.Name("a")), cst.Arg(cst.Name("b"), keyword=cst.Name("k"))])
    assert cst.Module([]).code_for_node(call) == "f(a, k = b)"


def _places_of_libcst(text: str) -> list[tuple[str, int, int]]:
    wrapper = MetadataWrapper(cst.parse_module(text))
    places = wrapper.resolve(ByteSpanPositionProvider)
    plain = [n for n in _nodes(wrapper.module) if isinstance(n, cst.BaseExpression) and not n.lpar]
    return [(type(n).__name__, places[n].start, places[n].start + places[n].length) for n in plain]


def _nodes(node: cst.CSTNode):
    yield node
    for child in node.children:
        yield from _nodes(child)
