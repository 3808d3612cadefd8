"""Code that has to stay, so that the fix which takes it out is not made."""

from __future__ import annotations

from tf2npu.rules import hooks
from tf2npu.rules.facts.relied_on_code import needed_elsewhere
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix

_REASONS = {
    "decides": "{} was not applied: the code it takes out decides how other code is converted; convert this place by hand",
    "name": "{} was not applied: the code it takes out gives a name by `:=`; convert this place by hand",
}


@hooks.keeps_code
def reason_to_keep(script: Script, fix: Fix) -> str:
    """The reason to keep code that a fix takes out: it gives a name that may be used further on, or other fixes rely on it."""
    for change in fix.changes:
        if change.replaces:
            old = script.text[change.start : change.end]
            is_callee = change.start == fix.site[0] and old.replace(".", "").isidentifier()
            reason = "" if is_callee else needed_elsewhere(script, change.start, change.end, change.new, fix.site[0])
            if reason:
                return _REASONS[reason]
    return ""
