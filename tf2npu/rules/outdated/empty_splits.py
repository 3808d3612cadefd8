"""`re.split` by patterns that match nothing at all: Python 3.7 splits there, earlier ones did not."""

from __future__ import annotations

import re
import warnings

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.old_libraries import takes_part
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.sites import Call

_OPTIONAL = re.compile(r"(?P<one>\((?!\?)[^()]*\)|\[[^\[\]]*\]|\\[wWsSdD])(?P<often>[?*])$")
"""One group, set or class that may be absent."""


@part_of(
    removed_part,
    matches=("re.split",),
    why="Since Python 3.7 a text is also split where the pattern matches nothing: between all letters, with None for its groups.",
    done_when="The pattern cuts a line of the data at the places that are meant, and nowhere else.",
    source="What's New in Python 3.7, re.split; bpo-25054",
    examples=(
        Example(
            "import re\nimport tensorflow as tf\nwords = re.split(r'(\\W+)?', line)",
            "import re\nimport tensorflow as tf\nwords = re.split(r'(\\W+)', line)",
        ),
        Example(
            "import re\nimport tensorflow as tf\nwords = re.split('\\\\W*', line)",
            "import re\nimport tensorflow as tf\nwords = re.split('\\\\W+', line)",
        ),
        Example.same(
            "import re\nimport tensorflow as tf\nwords = re.split('a*b*', line)",
            level="manual",
            write="import re\nimport tensorflow as tf\nwords = re.split('a+b*|b+', line)",
        ),
        Example.same("import re\nimport tensorflow as tf\nwords = re.split('\\\\W+', line)", note="always matches something"),
    ),
)
def empty_split(call: Call) -> None:
    """Takes the empty match out of patterns that a text is split by."""
    value = call.value("pattern", 0)
    pattern = text_of(value, call.scope) if value is not None else None
    if pattern is None or not takes_part(call) or not _matches_nothing(pattern):
        return
    found = _OPTIONAL.fullmatch(pattern)
    behind = "" if found is None or found["often"] == "?" else "+"
    if found is not None and isinstance(value, cst.SimpleString) and not _matches_nothing(f"{found['one']}{behind}"):
        quote = len(value.value) - len(value.value.rstrip("'\""))
        end = call.script.tree.span(value)[1] - quote
        call.replace_range(end - 1, end, behind)
        return call.fixed("Python 3.7 and later also split at matches of nothing: the pattern always matches something now.")
    return call.manual("Python 3.7 and later also split at matches of nothing: write a pattern that always matches something.")


def _matches_nothing(pattern: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return len(pattern) < 200 and re.compile(pattern).match("") is not None
        except (re.error, RecursionError, OverflowError):
            return False
