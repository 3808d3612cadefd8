"""The calls of rules: every site of a script is shown to the rules that look for it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import libcst as cst

from tf2npu.api_support.uses import ApiUses
from tf2npu.config import Config
from tf2npu.findings import Finding, Level
from tf2npu.frameworks.base import Framework
from tf2npu.frameworks.registry import known
from tf2npu.rules import Rule, hooks, rule_parts
from tf2npu.rules.base import registered
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.text.edits import Fix, spliced_range, to_edits

_OF_UNKNOWN = ("unknown_method", "unknown_attribute", "foreign_method", "string")
"""Kinds of sites that are told by the name of a method or attribute, or by a text, alone. A foreign method is of an object of a
library that is no framework."""


def _is_near(script: Script, framework: Framework) -> bool:
    """Whether a file imports a framework, or holds what concerns it and is imported by a script of the framework."""
    if script.project.is_reaching(script.path, framework.name):
        return True
    return bool(framework.mention_where_reached) and script.path in script.project.reach[framework.name].reached


class RuleCalls:
    """Shows every site of a script to the rules that want to see it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        looking = tuple(start for f in script.frameworks for start in f.rule_ids)
        reached = tuple(start for f in script.frameworks if _is_near(script, f) for start in f.rule_ids)
        self.table = _table(replace(script.config, unsafe_at=frozenset()), looking, reached)
        self.fixes: list[Fix] = []
        self.uses = ApiUses(script)

    def ask(self) -> list[Fix]:
        walked, script = self.script.walked, self.script
        for call, scope in walked.calls:
            self._call(call, scope)
        for node, scope in walked.references_beside_calls():
            self._reference(node, scope)
        for target, _, scope in walked.attribute_assigns:
            self._every("assign", target, scope)
        for string, scope in zip(walked.strings, walked.string_scopes, strict=True) if "string" in self.table else ():
            self._every("string", string, scope)
        for function, outer, _ in walked.functions:
            self._every("function", function, outer, function.name.value)
        for lambda_, outer, _ in walked.lambdas:
            self._every("lambda", lambda_, outer)
        for statement, scope in walked.imports:
            self._every("import", statement, scope)
        self._every("module", script.tree.module, script.module_scope)
        return self.fixes

    def _call(self, call: cst.Call, scope: Scope) -> None:
        name = self.script.name_of(call.func, scope)
        self.uses.see(name, call.func, scope)
        if name is not None:
            for rule in self.table.get("call", {}).get(name, ()):
                self._run(rule, Call(self.script, rule.id, call, scope, name))
            if "foreign_method" in self.table and _is_foreign(name):
                for rule in self.table["foreign_method"].get(name.rpartition(".")[2], ()):
                    self._run(rule, Call(self.script, rule.id, call, scope, name))
        elif isinstance(call.func, cst.Attribute):
            for rule in self.table.get("unknown_method", {}).get(call.func.attr.value, ()):
                self._run(rule, Call(self.script, rule.id, call, scope, call.func.attr.value))

    def _reference(self, node: cst.BaseExpression, scope: Scope) -> None:
        name = self.script.name_of(node, scope)
        self.uses.see(name, node, scope)
        if name:
            for rule in self.table.get("reference", {}).get(name, ()):
                self._run(rule, Site(self.script, rule.id, node, scope, name))
        elif isinstance(node, cst.Attribute):
            for rule in self.table.get("unknown_attribute", {}).get(node.attr.value, ()):
                self._run(rule, Site(self.script, rule.id, node, scope, node.attr.value))

    def _every(self, kind: str, node: cst.CSTNode, scope: Scope, name: str = "") -> None:
        for rule in self.table.get(kind, {}).get("", ()):
            self._run(rule, Site(self.script, rule.id, node, scope, name))

    def _run(self, rule: Rule, site: Site) -> None:
        rule.check(site)
        site = self._with_unsafe_fix(rule, site)
        for hook in hooks.after_rule:
            site.fix = hook(site)
        fix = site.fix
        if not fix.changes and not fix.findings and not fix.must_go:
            return
        fix.part = rule.name if len(registered()[rule.id]) > 1 else ""
        span = self.script.span(*fix.site)
        pragmas = self.script.pragmas
        is_off = pragmas.ignores_in_file(rule.id) if rule.on == "module" else pragmas.ignores(rule.id, span.line, span.end_line)
        if is_off:
            message = f"{rule.id} ({rule.title}) is switched off here by a comment; the code stays as it is."
            before = self.script.text[slice(*fix.site)]
            fix = Fix(rule.id, findings=[Finding("NPU902", Level.SKIPPED, span, message, before=before)], site=fix.site)
        self.fixes.append(fix)

    def _with_unsafe_fix(self, rule: Rule, site: Site) -> Site:
        """The site with its unsafe fix where a person chose that; else with what the fix would write, to choose from."""
        script = self.script
        if not site.has_asked or script.config.allows_unsafe(rule.id):
            return site
        changed = type(site)(script, rule.id, site.node, site.scope, site.name)
        changed.is_allowed = True
        rule.check(changed)
        said = [finding for finding in site.fix.findings if finding not in changed.fix.findings]
        start, end = site.fix.site
        if not changed.fix.changes or any(c.start < start or end < c.end for c in changed.fix.changes):
            return site
        if any((rule.id, None, finding.span.line, finding.message) in script.config.unsafe_at for finding in said):
            return changed
        after = spliced_range(script.text, to_edits([changed.fix]), start, end)
        site.fix.findings = [replace(f, after=after, unsafe=True) if f in said else f for f in site.fix.findings]
        return site


def _is_foreign(name: str) -> bool:
    """Whether a name is that of a method of an object, and the object is of a library that is no framework."""
    return name.rpartition(".")[0].endswith("()") and ":" not in name and not known().is_known(name)


@lru_cache(maxsize=32)
def _table(config: Config, looking: tuple[str, ...], reached: tuple[str, ...]) -> dict[str, dict[str, tuple[Rule, ...]]]:
    """Enabled rules by kind of site and by the name they look for; "" holds those that look at every site of the kind.

    looking: how the ids of rules begin that look at the file.  reached: the same of frameworks that the file imports: only
    their rules look at texts, and at methods and attributes of objects that are not known.
    """
    table: dict[str, dict[str, list[Rule]]] = {}
    for part in rule_parts():
        if config.is_enabled(part.id) and part.id.startswith(reached if part.on in _OF_UNKNOWN else looking):
            for name in (part.matches if part.on != "module" else ()) or ("",):
                table.setdefault(part.on, {}).setdefault(name, []).append(part)
    return {kind: {name: tuple(rules) for name, rules in names.items()} for kind, names in table.items()}
