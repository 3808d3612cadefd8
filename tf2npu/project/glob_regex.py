"""Regular expressions of .gitignore patterns, written so that they never try again what cannot succeed.

pathspec makes `[^/]*a[^/]*b` of `*a*b`. Where that fails, Python's `re` tries all ways to divide a name between the stars,
whose number grows with the power of the stars. The first place at which what stands between two stars fits is as good as any
later one, so the expression is told to keep it: by a group in a lookahead, whose match `re` does not take back.
"""

from __future__ import annotations

import re
from functools import lru_cache

_STAR, _ABOVE, _BETWEEN = "[^/]*", "(?:.+/)?", "(?:/.+)?"  # as pathspec writes `*`, and `**` in front and between
_TAILS = ("(?:(?P<ps_d>/)|$)", "(?P<ps_d>/)")
_ONE = re.compile(
    r"\[\^?\]?(?:\\.|[^\\\]])*\]\+?|\\.|[^\\\[\]()*+?|{}^$]", re.DOTALL
)  # what stands for one character, or a segment


@lru_cache(maxsize=4096)
def bounded(expression: re.Pattern[str]) -> re.Pattern[str]:
    """The same expression of pathspec's, whose time grows with the name only; itself where it is not of the known form."""
    parts = _parts(expression.pattern)
    if parts is None or (parts.count(_STAR) < 2 and parts.count(_BETWEEN) + parts.count(_ABOVE) < 2):
        return expression
    return re.compile("^" + _Writer(parts).written(), expression.flags)


def _parts(text: str) -> list[str] | None:
    """Stars, slashes, single characters and the rest of an expression; None where it is not of the known form."""
    found, position = [], 1
    while position < len(text):
        known = next((p for p in (_STAR, _ABOVE, _BETWEEN, *_TAILS) if text.startswith(p, position)), None)
        one = known or ((match := _ONE.match(text, position)) and match[0])
        if not one:
            return None
        found.append(f"(?!/){one}" if one.startswith("[^") and not one.startswith("[^/]") else one)  # as git has it
        position += len(one)
    return found if text.startswith("^") else None


class _Writer:
    """Writes the parts again. Each stretch up to a further star or `**` keeps the first place where it fits."""

    def __init__(self, parts: list[str]) -> None:
        self.parts = parts
        self.n_groups = 0

    def written(self) -> str:
        folders = [n for n, part in enumerate(self.parts) if part in (_ABOVE, _BETWEEN)]
        first, *others = folders or [0]
        written = self._segments(self.parts[:first])
        for start, end in zip([first, *others], [*others, len(self.parts)], strict=True):
            if start not in folders or end == len(self.parts):
                written += self._segments(self.parts[start:end])
            else:
                shortest = {_ABOVE: "(?:.+?/)??", _BETWEEN: "(?:/.+?)??"}[self.parts[start]]
                written += self._kept(shortest + self._segments(self.parts[start + 1 : end]) + "(?=/)")
        return written

    def _segments(self, parts: list[str]) -> str:
        """Segments of a path: in each, all stars but the last keep the first place where what follows fits."""
        written = ""
        position = 0
        while position < len(parts):
            end = next((n for n in range(position + 1, len(parts)) if not self._is_within(parts[n])), len(parts))
            if parts[position] == _STAR and end < len(parts) and parts[end] == _STAR:
                between = "".join(parts[position + 1 : end])
                written += self._kept("[^/]*?" + between) if between else ""
            else:
                written += "".join(parts[position:end])
            position = end
        return written

    @staticmethod
    def _is_within(part: str) -> bool:
        """Whether a part lies inside a segment, between two stars."""
        return part not in (_STAR, "/", _ABOVE, _BETWEEN, *_TAILS)

    def _kept(self, expression: str) -> str:
        self.n_groups += 1
        return f"(?=(?P<kept{self.n_groups}>{expression}))(?P=kept{self.n_groups})"
