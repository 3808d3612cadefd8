"""Arguments of a call that are given by their positions."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.sites import Call


def positional_args(call: Call) -> list[cst.Arg]:
    """Arguments without a name, in source order; `*args` and `**kwargs` are among them."""
    return [arg for arg in call.args if arg.keyword is None]
