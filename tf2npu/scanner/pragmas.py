"""`# tf2npu: ignore` and `# tf2npu: ignore[NPU101, NPU2]` comments."""

from __future__ import annotations

import re

_PRAGMA = re.compile(r"#\s*tf2npu:\s*ignore(?:\[([^\]]*)\])?")


class Pragmas:
    """Which rules a person switched off on which lines."""

    def __init__(self, text: str) -> None:
        self._lines: dict[int, tuple[str, ...]] = {}
        if "tf2npu:" in text:
            for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
                match = _PRAGMA.search(line)
                if match:
                    ids = match.group(1)
                    self._lines[number] = tuple(i.strip() for i in ids.split(",")) if ids else ("NPU",)

    def ignores(self, rule: str, first_line: int, last_line: int) -> bool:
        """Whether a pragma on a line of the site names this rule, a prefix of it, or every rule."""
        if not self._lines:
            return False
        prefixes = (p for line in range(first_line, last_line + 1) for p in self._lines.get(line, ()))
        return any(p and rule.startswith(p) for p in prefixes)
