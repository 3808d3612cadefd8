"""The examples of the rules in other surroundings: inside functions, branches and guards, twice, on one line with other code.

What a rule does in the plainest place is tested with the rule; the same code is met in all of these.
"""

from __future__ import annotations

import ast
import random
import textwrap
from functools import lru_cache

from tf2npu.rules import all_rules

_AROUND = (
    "def fun(a=1):\n<>\n    return a\n",
    "class Cls:\n    def method(self):\n    <>\n",
    "if condition:\n<>\n",
    "if condition:\n<>\nelse:\n<>\n",
    "try:\n<>\nexcept ImportError:\n    pass\n",
    "for i in range(3):\n<>\n",
    "with open('f') as f:\n<>\n",
    "def main():\n<>\nif __name__ == '__main__':\n    main()\n",
    "if __name__ == '__main__':\n<>\n",
    "if condition:\n    if other:\n    <>\n",
)
_IMPORTS = ("import tensorflow.compat.v1 as tf", "import tensorflow as tf, os", "from tensorflow.compat import v1 as tf")
_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.With, ast.If, ast.For, ast.Return)


def program(rng: random.Random) -> bytes:
    """One to three examples of any rules, each somewhere else than in its documentation."""
    text = "".join(_elsewhere(rng, rng.choice(_examples())) for _ in range(rng.randrange(1, 4)))
    if rng.random() < 0.3:
        text = text.replace("import tensorflow as tf\n", f"{rng.choice(_IMPORTS)}\n")
    if rng.random() < 0.5 and not _has_lines_of_its_own(text):
        text = _with_comments(rng, text)
    return (text.replace("\n", "\r\n") if rng.random() < 0.1 else text).encode()


@lru_cache(maxsize=1)
def _examples() -> tuple[str, ...]:
    found = []
    for rule in all_rules():
        for example in rule.examples:
            text = example.before if "import" in example.before else f"import tensorflow as tf\n{example.before}"
            if "__future__" not in text and _tree(text) is not None:
                found.append(text.rstrip("\n") + "\n")
    return tuple(found)


def _elsewhere(rng: random.Random, text: str) -> str:
    for change in (_twice, _beside, _inside):
        changed = change(rng, text) if rng.random() < 0.5 else text
        text = changed if _tree(changed) is not None else text
    return text


def _twice(rng: random.Random, text: str) -> str:
    """One statement once more."""
    lines, (first, last) = text.splitlines(keepends=True), _lines_of_a_statement(rng, text)
    return "".join(lines[:last] + lines[first:last] + lines[last:])


def _beside(rng: random.Random, text: str) -> str:
    """Other code on the line of a statement."""
    lines, (first, last) = text.splitlines(keepends=True), _lines_of_a_statement(rng, text)
    if first == last or _has_lines_of_its_own(text):
        return text
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    before = rng.choice(("", "x = 1; ", "if condition: ", "try: "))
    after = rng.choice(("", ";", "; y = 2", "  # why", "#", ";# end", "; y = 2  # why"))
    lines[first] = indent + before + lines[first][len(indent) :]
    lines[last - 1] = f"{lines[last - 1].rstrip()}{after}\n" + (f"{indent}finally: pass\n" if before == "try: " else "")
    return "".join(lines)


def _inside(rng: random.Random, text: str) -> str:
    """All of it in a block."""
    if _has_lines_of_its_own(text):
        return text
    around = rng.choice(_AROUND)
    depth = "        " if "    <>" in around else "    "
    return around.replace("    <>", "<>").replace("<>\n", textwrap.indent(text, depth))


def _with_comments(rng: random.Random, text: str) -> str:
    lines = text.splitlines()
    marked = [
        f"{line}  # {n}" if line.strip() and "#" not in line and rng.random() < 0.3 else line for n, line in enumerate(lines)
    ]
    return "\n".join(marked) + "\n"


def _lines_of_a_statement(rng: random.Random, text: str) -> tuple[int, int]:
    """First line and the one behind the last of a statement that shares them with nothing; (0, 0) when none is chosen."""
    lines = text.splitlines()
    tree = _tree(text)
    nodes = [node for node in ast.walk(tree) if isinstance(node, _STATEMENTS)] if tree is not None else []
    if not nodes:
        return 0, 0
    node = rng.choice(nodes)
    first, last = node.lineno - 1, node.end_lineno or node.lineno
    shares = lines[first][: node.col_offset].strip() or lines[last - 1].encode()[node.end_col_offset or 0 :].strip()
    return (0, 0) if shares else (first, last)


def _has_lines_of_its_own(text: str) -> bool:
    """Whether lines of the text cannot be indented or added to: they may be inside a string."""
    return "'''" in text or '"""' in text or "\\\n" in text


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None
