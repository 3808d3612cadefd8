"""Defaults of the flags of a script's command line."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.facts.constant_values import integer_of, text_of
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, Site


def flag_default(site: Site, node: cst.BaseExpression) -> int | None:
    """The whole number that `FLAGS.name` is unless the command line says otherwise; None for all else."""
    owner, _, name = (site.resolve(node) or "").rpartition(".")
    return _defaults(site.script).get(name) if owner.endswith(".FLAGS") else None


@fact
def _defaults(script: Script) -> dict[str, int]:
    """The whole numbers that a file gives its flags, by the flag."""
    found = {}
    for node, scope in script.walked.calls:
        if not (script.name_of(node.func, scope) or "").rpartition(".")[2].startswith("DEFINE_"):
            continue
        call = Call(script, "", node, scope)
        name, default = call.value("name", 0), call.value("default", 1) or call.value("default_value", 1)
        text = text_of(name, scope) if name is not None else None
        number = integer_of(default, scope) if default is not None else None
        if text is not None and number is not None:
            found[text] = number
    return found
