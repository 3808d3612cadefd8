"""Comments for this program that switch nothing off."""

from __future__ import annotations

from tf2npu.findings import Edit, Finding, Level
from tf2npu.rules import hooks
from tf2npu.rules.run_findings import OF_RUNS
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix

_ID = "NPU904"


@hooks.after_edits
def unused_comments(script: Script, edits: list[Edit]) -> list[Fix]:
    """Findings on comments that switch off something that does not happen there; what runs show is known to reports alone."""
    of_code = [p for p in script.pragmas.unused if not all(i.startswith(OF_RUNS) for i in p.ids)]
    enabled = [p for p in of_code if p.is_for_every_rule or any(script.config.is_enabled(i) for i in p.ids)]
    message = "This comment switches nothing off: no rule has anything to say or to change there. Take it out."
    findings = [Finding(_ID, Level.INFO, script.span(p.start, p.end), message, before=script.text[p.start : p.end])
                for p in enabled]  # fmt: skip
    return [Fix(_ID, findings=[finding]) for finding in findings if script.config.is_enabled(_ID)]
