"""Comments that keep code as it is: on a line, from one line to another, or for the whole file.

`# tf2npu: ignore`, `# tf2npu: ignore[NPU101, NPU2]`; `# tf2npu: off` ... `# tf2npu: on`, with or without ids;
`# tf2npu: ignore-file`, with or without ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_PRAGMA = re.compile(r"#\s*tf2npu:\s*(ignore-file|ignore|off|on)\b(?:\[([^\]]*)\])?")
_EVERY_RULE = ("",)
"""Prefixes of ids that a comment without ids stands for: every id begins so, whatever its framework."""
_ALSO_EVERY_RULE = ("NPU",)
"""Prefixes that a comment can name and mean the same: those of the tool's own findings, which every file has."""


@dataclass
class Pragma:
    """Rules that are switched off from the first to the last line, both 1-based, and the text of the comment."""

    first_line: int
    last_line: int
    ids: tuple[str, ...]
    start: int
    end: int
    is_for_file: bool = False
    is_used: bool = False

    @property
    def is_for_every_rule(self) -> bool:
        """Whether the comment leaves no rule on."""
        return self.ids in (_EVERY_RULE, _ALSO_EVERY_RULE)


class Pragmas:
    """The comments by which a person switched rules off, and the lines that they are for."""

    def __init__(self, text: str, is_in_string: Callable[[int], bool]) -> None:
        self.all: list[Pragma] = []
        self._wide: list[Pragma] = []  # of several lines
        self._by_line: dict[int, list[Pragma]] = {}
        if "tf2npu:" in text:
            self._read(text, is_in_string)

    def _read(self, text: str, is_in_string: Callable[[int], bool]) -> None:
        offset, number = 0, 0
        open_blocks: list[Pragma] = []
        lines = re.split(r"(\r\n|\r|\n)", text)
        for number, line in enumerate(lines[::2], 1):
            match = _PRAGMA.search(line)
            if match and not is_in_string(offset + match.start()):
                kind, written = match.groups()
                ids = tuple(i.strip() for i in written.split(",") if i.strip()) if written else _EVERY_RULE
                if kind == "on":
                    for block in open_blocks:
                        block.last_line = number
                    open_blocks = []
                else:
                    pragma = Pragma(number, number, ids, offset + match.start(), offset + match.end(), kind == "ignore-file")
                    self.all.append(pragma)
                    open_blocks += [pragma] if kind == "off" else []
            offset += len(line) + (len(lines[2 * number - 1]) if 2 * number - 1 < len(lines) else 0)
        still_open = set(map(id, open_blocks))
        for pragma in self.all:
            if id(pragma) in still_open or pragma.is_for_file:
                pragma.first_line, pragma.last_line = (1 if pragma.is_for_file else pragma.first_line), number
            if pragma.first_line == pragma.last_line:
                self._by_line.setdefault(pragma.first_line, []).append(pragma)
            else:
                self._wide.append(pragma)

    def ignores(self, rule: str, first_line: int, last_line: int) -> bool:
        """Whether a pragma on a line of the site names this rule, a prefix of it, or every rule; notes that it was of use."""
        near = [p for p in self._wide if p.first_line <= last_line and first_line <= p.last_line]
        lines = range(first_line, last_line + 1) if last_line - first_line < len(self._by_line) else self._by_line
        near += [p for line in lines if first_line <= line <= last_line for p in self._by_line.get(line, ())]
        hits = [p for p in near if _names(p, rule)]
        for pragma in hits:
            pragma.is_used = True
        return bool(hits)

    def ignores_in_file(self, rule: str) -> bool:
        """Whether a rule is switched off for the whole file."""
        return any(p.is_for_file and _names(p, rule) for p in self.all) and self.ignores(rule, 1, 1)

    @property
    def whole_file(self) -> Pragma | None:
        """The pragma that switches off every rule for the file."""
        return next((p for p in self.all if p.is_for_file and p.is_for_every_rule), None)

    @property
    def unused(self) -> list[Pragma]:
        """Pragmas that kept nothing as it was."""
        return [p for p in self.all if not p.is_used]


def _names(pragma: Pragma, rule: str) -> bool:
    return any(rule.startswith(prefix) for prefix in pragma.ids)
