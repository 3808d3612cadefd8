"""Layout that the parser drops or refuses: such files are converted all the same, and keep every byte."""

from __future__ import annotations

import ast
import random

import libcst as cst
import pytest

from benchmarks.acceptance import properties
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Status
from tf2npu.scanner.edits import splice
from tf2npu.scanner.text.line_map import line_map, plainly_indented
from tf2npu.scanner.tree import parse

pytestmark = pytest.mark.each_python

IMPORT = "import tensorflow as tf\n"
CALL = "s = tf.Session()"
LAYOUTS = {
    "comments in the footer, each less indented": f"{IMPORT}def f():\n        {CALL}\n    # deep\n  # less\n",
    "blank line before such a comment": f"{IMPORT}if f:\n    {CALL}\n  \n # a\n# b\n",
    "no newline behind it": f"{IMPORT}if f:\n    {CALL}\n  # x\n # y",
    "with carriage returns": f"{IMPORT[:-1]}\r\nif f:\r\n    {CALL}\r\n  # x\r\n # y\r\n",
    "form feed before a statement": f"{IMPORT}\x0c{CALL}\n\x0cclass C: pass\n",
    "form feed before the import": f"\x0c{IMPORT}{CALL}\n",
    "form feed before an indented line": f"{IMPORT}if f:\n\x0c    {CALL}\n",
    "a backslash ends the last comment": f"{IMPORT}if f:\n    {CALL}\n# end\\\n",
    "a backslash on the first line": f"\\\n{IMPORT}{CALL}\n",
    "deeper by tabs before blanks": f"{IMPORT}def f():\n  if g:\n\t  t = '''\n\ta\n'''; {CALL}\n\t  g(1,\n\t2)\n  return 1\n",
    "a string that looks like the footer": f"{IMPORT}if f:\n    t = '''\n  # a\n'''; {CALL}\n    # deep\n  # a\n",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_it_is_converted_and_keeps_its_bytes(text: str) -> None:
    data = text.encode()
    result = convert_source(data, "m.py")
    assert result.status is Status.CONVERTED, result.findings
    assert result.after.count(b"tf.Session(config=npu_config_proto())") == 1
    assert splice(text, result.edits).encode() == result.after
    ast.parse(result.after)
    assert convert_source(result.after, "m.py").after == result.after
    assert not properties.comments_lost(data, result.after)
    kept = result.after.replace(b"config=npu_config_proto()", b"").splitlines(keepends=True)
    assert b"".join(line for line in kept if b"npu_bridge" not in line and b"atexit" not in line) == data


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_every_name_has_its_own_text(text: str) -> None:
    """The tree has a name at each place where Python's own parser sees one."""
    tree = parse(text)
    starts = [0]
    for line in text.splitlines(keepends=True) if "\x0c" not in text else text.replace("\x0c", " ").splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    wanted = {(starts[n.lineno - 1] + n.col_offset, n.id) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    names = [node for node in _nodes(tree.module) if isinstance(node, cst.Name)]
    assert wanted <= {(tree.span(node)[0], tree.source(node)) for node in names}


def _nodes(node):
    yield node
    for child in node.children:
        yield from _nodes(child)


def test_other_differences_are_refused() -> None:
    assert line_map("x = 1\ny = 2\n", "x = 1\n") is None
    assert line_map("x = 1\n", "x = 1\ny = 2\n") is None
    assert line_map("x = 'a'\n", "x = 'b'\n") is None
    assert plainly_indented("if x:\n\ty\n  z\n") is None


def test_whatever_is_dropped_each_line_of_code_keeps_its_place() -> None:
    rng = random.Random(3)
    for _ in range(300):
        lines = [rng.choice(("  # a\n", "# a\n", "\n", "  \n", "x = 1\n", "y = 2\n", "\x0cx = 1\n")) for _ in range(12)]
        code = "".join(line.lstrip("\x0c") for line in lines if line.strip().startswith(("x", "y")) or rng.random() < 0.5)
        text = "".join(lines)
        found = line_map(text, code)
        assert (found is None) == (not code)
        for at in range(len(code)) if found is not None else ():
            assert text[found.start(at)] == code[at] or not code[at].strip()
