"""`DataFrame.sort`, which pandas took out."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.sites import Call

_HEAD = "import pandas as pd\nimport tensorflow as tf\n"


@part_of(
    removed_part,
    on="unknown_method",
    matches=("sort",),
    why="A table has no method sort since pandas 0.20, which came out in 2017: the program ends there.",
    source="release notes of pandas 0.17 and 0.20",
    examples=(
        Example(
            f"{_HEAD}data.sort(['user', 'time'], inplace=True)",
            f"{_HEAD}data.sort_values(['user', 'time'], inplace=True)",
        ),
        Example(f"{_HEAD}data = data.sort(columns='time')", f"{_HEAD}data = data.sort_values(by='time')"),
        Example.same(f"{_HEAD}names.sort()", note="a list"),
        Example.same(f"{_HEAD}rows.sort(key=len)", note="a list"),
        Example.same("values.sort(['a'])", note="no pandas here"),
    ),
)
def table_sort(call: Call) -> None:
    """Sorts tables by `sort_values`, which takes the same arguments."""
    first = call.args[0] if call.args else None
    keywords = {arg.keyword.value: arg for arg in call.args if arg.keyword is not None}
    by_name = first is not None and first.keyword is None and isinstance(first.value, (cst.List, cst.SimpleString))
    if not (by_name or "columns" in keywords) or "pandas" not in call.script.text:
        return
    if not isinstance(call.node.func, cst.Attribute) or not takes_part(call) or is_guarded(call):
        return
    call.replace(call.node.func.attr, "sort_values")
    if "columns" in keywords:
        call.rename_keyword(keywords["columns"], "by")
    call.fixed("A table has no method sort since pandas 0.20: sort_values does the same.")
