"""Arrays of rows of different lengths."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.scanner.sites import Call

_IMPORT = "import tensorflow as tf\nimport numpy as np\n"


@rule(
    id="NPU959",
    title="Arrays of rows of different lengths",
    matches=("numpy.array", "numpy.asarray"),
    why="Up to NumPy 1.23 rows of different lengths became an array of objects; since 1.24 they are a ValueError. Here such an "
    "array is made as then.",
    source="NumPy release notes of 1.19 and 1.24",
    examples=(
        Example.same(
            f"{_IMPORT}data = np.array(list(zip(x, y)))",
            level="info",
            write=f"{_IMPORT}data = np.array(list(zip(x, y)), dtype=object)",
        ),
        Example.same(f"{_IMPORT}data = np.array(list(zip(x, y)), dtype=object)", note="says what it is"),
        Example.same(f"{_IMPORT}data = np.array(list(x))", note="rows of one thing are of one length"),
        Example.same("import numpy as np\ndata = np.array(list(zip(x, y)))", note="has nothing to do with TensorFlow"),
    ),
)
def ragged_array(call: Call) -> None:
    """Reports arrays of what zip gives, whose parts mostly differ in length."""
    rows = call.arg("object", 0) or call.arg("a", 0)
    if rows is None or call.arg("dtype", 1) is not None or call.has_star_args or not takes_part(call) or is_guarded(call):
        return
    if _is_zipped(rows.value if isinstance(rows, cst.Arg) else rows):
        name = call.name.rpartition(".")[2]
        call.info(
            f"If its parts differ in length, NumPy 1.24 and later refuse this: write np.{name}(..., dtype=object). "
            "With an older NumPy, as beside TF 1.15, it runs."
        )


def _is_zipped(rows: cst.BaseExpression) -> bool:
    """Whether an expression is `list(zip(...))` or `zip(...)`."""
    while isinstance(rows, cst.Call) and isinstance(rows.func, cst.Name):
        if rows.func.value == "zip":
            return True
        if rows.func.value not in ("list", "tuple") or len(rows.args) != 1:
            return False
        rows = rows.args[0].value
    return False
