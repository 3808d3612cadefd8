"""Enum flags whose values are one text, which absl took until 2019: a value is any part of the text."""

from __future__ import annotations

from typing import Any

from absl.flags import _argument_parser
from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal


def add(journal: Journal) -> None:
    """Let ``EnumParser`` take a text. Source: absl-py 0.7, whose parser asked ``argument in enum_values``."""
    parser = _argument_parser.EnumParser
    before = parser.__init__

    def init(self: Any, enum_values: Any, case_sensitive: bool = True) -> None:
        if not enum_values or not isinstance(enum_values, str):
            before(self, enum_values, case_sensitive)
            return
        once(f"an enum flag's values are the text {enum_values!r}; absl refuses that today: give a list of texts")
        before(self, [enum_values], case_sensitive)
        self.enum_values = enum_values

    parser.__init__ = init
    journal.on_undo(lambda: setattr(parser, "__init__", before))
