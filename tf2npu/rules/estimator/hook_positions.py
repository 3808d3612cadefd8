"""Hooks that are found by their place at the end of a list."""

from __future__ import annotations

import re

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_TF = Config(distributed="tf")
_INDEXED = re.compile(r"\b\w*(?:hooks|callbacks)(?:_list)?\[-\d+\]", re.IGNORECASE)


@rule(
    id="NPU931",
    title="Hook taken from the end of a list",
    on="module",
    why="--distributed tf appends a hook or callback of the NPU, so hooks[-1] is another one than before.",
    done_when="The hook that this line takes is the one it took before: print its class.",
    source="npu_bridge.npu_init.npu_hooks_append, npu_callbacks_append: both append to the list",
    examples=(
        Example.same(
            "train_hooks = [a, b]\nh = train_hooks[-1]",
            level="manual",
            config=_TF,
            write="train_hooks = [a, b]\nh = b",
        ),
        Example.same("train_hooks = [a, b]\nh = train_hooks[-1]", note="for one device nothing is appended"),
        Example.same("train_hooks = [a, b]\nh = train_hooks[0]", note="from the front, where nothing is added", config=_TF),
        Example.same("# hooks[-1] is the last one", note="a comment", config=_TF),
        Example.same("s = 'hooks[-1]'", note="a text", config=_TF),
    ),
)
def hook_position(site: Site) -> None:
    """Reports hooks and callbacks that are taken from the end of their list."""
    script = site.script
    if script.config.distributed != "tf":
        return
    if "hooks[-" not in script.text.lower() and "callbacks[-" not in script.text.lower() and "_list[-" not in script.text:
        return
    for match in _INDEXED.finditer(script.text):
        if uses_tensorflow(script) and not _is_text(script, match.start()):
            site.fix.site = match.span()
            site.manual("Keep this hook in a variable of its own: after conversion the last one may be the NPU's.")


def _is_text(script: Script, offset: int) -> bool:
    line_start = script.lines.line_start(offset)
    if script.comments(line_start, offset):
        return True
    return any(a <= offset < b for a, b in (script.tree.span(s) for s in script.walked.strings))
