"""One file converted: decode, parse, walk once, ask the rules, splice, parse the result again. Pure: no file is touched.

Two phases over a project: `gather_facts` for every file, `ProjectFacts.merge`, then `convert_file` for every file.
Nothing that user code can hold makes these functions raise; what cannot be converted becomes a finding.
"""

from __future__ import annotations

import bisect
import dataclasses
from functools import lru_cache

import libcst as cst

from tf2npu.api_support.uses import ApiUses
from tf2npu.config import Config
from tf2npu.findings import ApiUse, Edit, FileResult, Finding, Level, Span, Status
from tf2npu.rules import Rule, rule_parts
from tf2npu.rules.engine.adapter_2021 import within_adapter
from tf2npu.rules.engine.files_left_alone import DIALECT, said_about_dialect, why_left_alone
from tf2npu.rules.engine.listed_apis import said_of_apis
from tf2npu.rules.engine.reached_files import mentions_old_library
from tf2npu.rules.engine.repeated_findings import said_once
from tf2npu.rules.facts.relied_on_code import needed_elsewhere
from tf2npu.scanner.dialect import dialect_of
from tf2npu.scanner.edits import Fix, select_compatible, splice, spliced_range, to_edits
from tf2npu.scanner.facts import FileFacts, gather_facts, mentions_relevant_module
from tf2npu.scanner.imports import plan_import
from tf2npu.scanner.names import NPU_INIT
from tf2npu.scanner.newer_python import refused_by_newer_python
from tf2npu.scanner.notebook import Notebook, why_nothing_was_seen
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.ranges import Covering
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.source import Python2Error, SourceError, decode
from tf2npu.scanner.tree import TooDeepError, error_of_python, parse, python_parses, refused_by_python, run_with_deep_stack

__all__ = ["FileFacts", "ProjectFacts", "convert_file", "convert_source", "gather_facts", "mentions_relevant_module"]

_IMPORT_RULE = "NPU100"
_UNUSED = "NPU904"
OR_PYTHON2 = ", or convert with --python2"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Text after conversion, the edits that lead to it, what there is to say, and the APIs that were seen."""

    text: str
    edits: list[Edit]
    findings: list[Finding]
    apis: list[ApiUse]


def convert_source(data: bytes | str, path: str = "<stdin>", config: Config | None = None) -> FileResult:
    """Convert one file that stands alone."""
    raw = data.encode("utf-8") if isinstance(data, str) else data
    project = ProjectFacts.merge([gather_facts(path, raw)])
    return convert_file(path, raw, config or Config(), project)


def convert_file(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    """Convert one file of a project.

    path: POSIX path relative to the root of the tree, as given to `gather_facts`.  Returns: the new bytes and all findings;
    a file that cannot be converted keeps its bytes, has status FAILED and a finding that names line, column and reason.
    """
    takes_part = path in project.reaching or (path in project.reached and mentions_old_library(data))
    if not takes_part and not mentions_relevant_module(data):
        return FileResult(path, Status.COPIED, why_nothing_was_seen(path, data), before=data, after=data)
    facts = project.files.get(path)
    try:
        if facts is not None and facts.is_too_deep:
            raise TooDeepError("an expression or block is nested too deeply to be converted")
        return run_with_deep_stack(lambda: _convert(path, data, config, project))
    except SourceError as error:
        reason = f"{error}{OR_PYTHON2}" if isinstance(error, Python2Error) else str(error)
        return _failed(path, data, Span(error.line, error.column, error.line, error.column + 1), reason)
    except Exception as error:  # a defect of ours must not stop the other files of a run
        message = f"{type(error).__name__}: {error}; this is a defect of tf2npu, the file is left as it was"
        return _failed(path, data, Span(1, 1, 1, 1), message)


def _failed(path: str, data: bytes, span: Span, reason: str) -> FileResult:
    finding = Finding("NPU900", Level.SKIPPED, span, f"Not converted: {reason}", doc="rules.md#npu900")
    return FileResult(path, Status.FAILED, [finding], before=data, after=data)


def _convert(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    if path.lower().endswith(".ipynb"):
        return _convert_notebook(path, data, config, project)
    source = decode(data)
    outcome = convert_text(source.text, path, config, project)
    after = source.encode(outcome.text) if outcome.edits else data
    edits = outcome.edits
    if source.ends_with_cr:
        edits = [dataclasses.replace(edit, new=edit.new.replace("\n", "\r")) for edit in edits]
    status = Status.CONVERTED if after != data else Status.UNCHANGED
    return FileResult(path, status, said_once(outcome.findings, _told_once()), edits, data, after, outcome.apis)


def _convert_notebook(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    notebook = Notebook(data)
    facts = dataclasses.replace(gather_facts("x.py", notebook.code.encode()), path=path)
    project = project.including(facts)
    outcome = convert_text(notebook.code, path, config, project)
    takes_part = path in project.reaching
    left = notebook.cell_findings(lambda text: takes_part or mentions_relevant_module(text.encode()))
    findings = said_once(left + [notebook.relocate(f) for f in outcome.findings], _told_once())
    after = notebook.with_edits(outcome.edits)
    status = Status.CONVERTED if after != data else Status.UNCHANGED
    return FileResult(path, status, findings, [], data, after, [_in_cell(notebook, use) for use in outcome.apis])


def _in_cell(notebook: Notebook, use: ApiUse) -> ApiUse:
    place = notebook.relocate(Finding("", Level.INFO, Span(use.line, 1, use.line, 1), ""))
    return dataclasses.replace(use, line=place.span.line, cell=place.cell)


def convert_text(text: str, path: str, config: Config, project: ProjectFacts) -> Outcome:
    """Convert decoded source.

    Raises: SourceError when the source, or what the fixes would make of it, cannot be parsed.
    """
    facts = project.files.get(path)
    script = Script(path, parse(text, facts is not None and facts.is_python), config, project)
    try:
        return _converted(script)
    finally:
        script.walked.release()
        script.memo.clear()  # what rules keep there may refer to the script


def _converted(script: Script) -> Outcome:
    text = script.text
    asker = _Asker(script)
    fixes = asker.ask()
    left_alone = why_left_alone(script)
    told_by_another = dialect_of(script).told_by
    if left_alone is not None and told_by_another and not any(_is_work(fix) for fix in fixes):
        return Outcome(text, [], [], asker.uses.result())
    if left_alone is not None:
        detected = [f for fix in fixes if fix.rule.startswith("NPU9") and not fix.changes for f in fix.findings]
        others = [_with_doc(script, f) for f in detected if left_alone.rule == DIALECT]
        return Outcome(text, [], _sorted([_with_doc(script, left_alone), *others]), asker.uses.result())
    fixes += said_of_apis(script, asker.uses, fixes)
    dropping = {id(fix): reason for fix in fixes if (reason := _reason_to_keep(script, fix))}
    dropped, fixes = [f for f in fixes if id(f) in dropping], [f for f in fixes if id(f) not in dropping]
    composition = select_compatible([f for f in fixes if f.changes or f.symbols or f.must_go])
    kept = composition.kept
    import_fix = _import_fix(script, kept)
    edits = to_edits(([import_fix] if import_fix else []) + kept)
    after = splice(text, edits)
    if edits:
        _check_output(script, after)
    fixes += said_about_dialect(script) if edits else []
    fixes += _unused_pragmas(script)
    voided = {id(f) for f in [*composition.absorbed, *composition.refused, *_gone(fixes, kept)]}
    said = [f for f in fixes if id(f) not in voided] + ([import_fix] if import_fix else [])
    sites = _Sites(kept)
    findings = [finding for fix in said for finding in _with_after(script, fix, sites)]
    findings += [_refused(script, fix, _SAME_TEXT) for fix in composition.refused]
    findings += [_refused(script, fix, dropping[id(fix)]) for fix in dropped]
    return Outcome(after, edits, _sorted(findings), asker.uses.result())


def _is_work(fix: Fix) -> bool:
    """Whether there is something to change or to do."""
    return bool(fix.changes) or any(f.level in (Level.MANUAL, Level.UNSUPPORTED) for f in fix.findings)


def _unused_pragmas(script: Script) -> list[Fix]:
    """What to say about comments that switch off something that does not happen there."""
    enabled = [p for p in script.pragmas.unused if p.ids == ("NPU",) or any(script.config.is_enabled(i) for i in p.ids)]
    message = "This comment switches nothing off: no rule has anything to say or to change there. Take it out."
    findings = [Finding(_UNUSED, Level.INFO, script.span(p.start, p.end), message, before=script.text[p.start : p.end])
                for p in enabled]  # fmt: skip
    return [Fix(_UNUSED, findings=[finding]) for finding in findings if script.config.is_enabled(_UNUSED)]


def _gone(fixes: list[Fix], kept: list[Fix]) -> list[Fix]:
    """Remarks about code that another fix takes out."""
    replaced = Covering((c.start, c.end) for fix in kept for c in fix.changes if c.replaces)
    return [f for f in fixes if not f.changes and f.site[0] < f.site[1] and replaced.holds(*f.site)]


def _check_output(script: Script, after: str) -> None:
    """Refuse a result that Python, or a newer Python for which the file is written, does not take."""
    if python_parses(after):
        return
    before = refused_by_python(script.text)
    wrong = refused_by_newer_python(script.tree, script.walked) if before is not None else None
    if wrong is not None:
        raise error_of_python(script.text, wrong)
    try:
        cst.parse_module(after)
    except cst.ParserSyntaxError as second:
        raise _would_not_parse(second.message.splitlines()[0], second.raw_line, second.raw_column + 1) from None
    error = refused_by_python(after)
    if before is None and error is not None:
        raise _would_not_parse(error.msg, error.lineno or 1, error.offset or 1)


def _would_not_parse(reason: str, line: int, column: int) -> SourceError:
    return SourceError(
        f"the converted text would not parse ({reason}), so the file is left as it was; this is a defect of tf2npu", line, column
    )


class _Sites:
    """Fixes by where their sites start, in the order in which they were made."""

    def __init__(self, fixes: list[Fix]) -> None:
        wide = [(fix.site[0], number, fix) for number, fix in enumerate(fixes) if fix.site[0] < fix.site[1]]
        self.in_order = sorted(wide, key=lambda entry: entry[:2])
        self.starts = [start for start, _, _ in self.in_order]

    def inside(self, start: int, end: int) -> list[Fix]:
        """Those whose sites lie in a range."""
        candidates = self.in_order[bisect.bisect_left(self.starts, start) : bisect.bisect_left(self.starts, end)]
        found = [(number, fix) for _, number, fix in candidates if fix.site[1] <= end]
        return [fix for _, fix in sorted(found, key=lambda entry: entry[0])]


def _with_after(script: Script, fix: Fix, sites: _Sites) -> list[Finding]:
    """The findings of a fix; of what is changed with the text of its site after this fix and those inside its site."""
    findings = [_with_doc(script, finding) for finding in fix.findings]
    if not any(finding.level is Level.FIXED for finding in fix.findings):
        return findings
    start, end = fix.site
    inside = [f for f in sites.inside(start, end) if f is not fix]
    after = spliced_range(script.text, to_edits([fix, *inside]), start, end)
    were_fixed = [finding.level is Level.FIXED for finding in fix.findings]
    return [dataclasses.replace(f, after=after) if fixed else f for f, fixed in zip(findings, were_fixed, strict=True)]


def _with_doc(script: Script, finding: Finding) -> Finding:
    """With the place of its documentation, and the level that the settings give it."""
    level = Level(script.config.level_of(finding.rule, finding.level.value))
    return dataclasses.replace(finding, level=level, doc=f"rules.md#{finding.rule.lower()}")


def _reason_to_keep(script: Script, fix: Fix) -> str:
    """Why the code that a fix takes out has to stay: it gives a name that may be used further on, or other fixes rely on it."""
    for change in fix.changes:
        if change.replaces:
            old = script.text[change.start : change.end]
            is_callee = change.start == fix.site[0] and old.replace(".", "").isidentifier()
            reason = "" if is_callee else needed_elsewhere(script, change.start, change.end, change.new, fix.site[0])
            if reason:
                return _REASONS[reason]
    return ""


_SAME_TEXT = "{} was not applied: another fix changes the same text; convert this place by hand"
_REASONS = {
    "decides": "{} was not applied: the code it takes out decides how other code is converted; convert this place by hand",
    "name": "{} was not applied: the code it takes out gives a name by `:=`; convert this place by hand",
}


def _refused(script: Script, fix: Fix, reason: str) -> Finding:
    message = reason.format(fix.rule)
    return Finding("NPU901", Level.MANUAL, script.span(*fix.site), message, before=script.text[slice(*fix.site)])


def _sorted(findings: list[Finding]) -> list[Finding]:
    unique = {(f.span, f.rule, f.level, f.message): f for f in findings}
    return [unique[key] for key in sorted(unique, key=lambda k: (k[0], k[1], k[2].value, k[3]))]


def _import_fix(script: Script, kept: list[Fix]) -> Fix | None:
    asked = [symbol for fix in kept for symbol in fix.symbols]
    symbols = [symbol for symbol in asked if symbol[0] != NPU_INIT]
    wants_it = (script.is_entry and script.uses_tensorflow) or len(symbols) < len(asked)
    side_effect = wants_it and script.config.is_enabled(_IMPORT_RULE)
    uses = [use for fix in kept for _, scope in fix.symbols for use in _uses_at_top(script, fix, scope)]
    first_use = min(uses, default=len(script.text))
    changes = plan_import(script, symbols, side_effect, first_use) if symbols or side_effect else []
    if not changes:
        return None
    start, end = min(c.start for c in changes), max(c.end for c in changes)
    fix = Fix(_IMPORT_RULE, changes, site=(start, end))
    span = script.span(start, end)
    before = script.text[start:end]
    fix.findings.append(Finding(_IMPORT_RULE, Level.FIXED, span, "Imports what the file now uses from npu_bridge.", "", before))
    return fix


def _uses_at_top(script: Script, fix: Fix, scope: object) -> list[int]:
    """Offsets at which a fix uses what is imported when the module is run, not when a function of it is called."""
    if not isinstance(scope, Scope):
        return []
    places, outermost = [fix.site[0], *(c.start for c in fix.changes)], scope.function
    while outermost is not None and outermost.parent is not None and outermost.parent.function is not None:
        outermost = outermost.parent.function
    if outermost is None or outermost.node is None:
        return places
    start, end = script.tree.span(outermost.node)
    return [place for place in places if not start <= place < end]


@lru_cache(maxsize=1)
def _told_once() -> frozenset[str]:
    """Rules whose work, where it is the same at several places of a file, is told at the first."""
    return frozenset(part.id for part in rule_parts() if part.once)


@lru_cache(maxsize=8)
def _table(config: Config) -> dict[str, dict[str, tuple[Rule, ...]]]:
    """Enabled rules by kind of site and by the name they look for; "" holds those that look at every site of the kind."""
    table: dict[str, dict[str, list[Rule]]] = {}
    for part in rule_parts():
        if config.is_enabled(part.id):
            for name in (part.matches if part.on != "module" else ()) or ("",):
                table.setdefault(part.on, {}).setdefault(name, []).append(part)
    return {kind: {name: tuple(rules) for name, rules in names.items()} for kind, names in table.items()}


class _Asker:
    """Shows every site of a script to the rules that want to see it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.table = _table(script.config)
        self.fixes: list[Fix] = []
        self.uses = ApiUses(script)

    def ask(self) -> list[Fix]:
        walked, script = self.script.walked, self.script
        for call, scope in walked.calls:
            self._call(call, scope)
        for node, scope in walked.references:
            parent = walked.parents.get(id(node))
            if not (isinstance(parent, cst.Call) and parent.func is node):
                self._reference(node, scope)
        for target, _, scope in walked.attribute_assigns:
            self._every("assign", Site(script, "", target, scope))
        for function, outer, _ in walked.functions:
            self._every("function", Site(script, "", function, outer, function.name.value))
        for lambda_, outer, _ in walked.lambdas:
            self._every("lambda", Site(script, "", lambda_, outer))
        for statement, scope in walked.imports:
            self._every("import", Site(script, "", statement, scope))
        self._every("module", Site(script, "", script.tree.module, script.module_scope))
        return self.fixes

    def _call(self, call: cst.Call, scope: Scope) -> None:
        name = self.script.name_of(call.func, scope)
        self.uses.see(name, call.func, scope)
        if name is not None:
            for rule in self.table.get("call", {}).get(name, ()):
                self._run(rule, Call(self.script, rule.id, call, scope, name))
        elif isinstance(call.func, cst.Attribute) and self.script.uses_tensorflow:
            for rule in self.table.get("unknown_method", {}).get(call.func.attr.value, ()):
                self._run(rule, Call(self.script, rule.id, call, scope, call.func.attr.value))

    def _reference(self, node: cst.BaseExpression, scope: Scope) -> None:
        name = self.script.name_of(node, scope)
        self.uses.see(name, node, scope)
        if name:
            for rule in self.table.get("reference", {}).get(name, ()):
                self._run(rule, Site(self.script, rule.id, node, scope, name))

    def _every(self, kind: str, site: Site) -> None:
        for rule in self.table.get(kind, {}).get("", ()):
            self._run(rule, Site(self.script, rule.id, site.node, site.scope, site.name))

    def _run(self, rule: Rule, site: Site) -> None:
        rule.check(site)
        fix = within_adapter(site)
        if not fix.changes and not fix.findings and not fix.must_go:
            return
        span = self.script.span(*fix.site)
        pragmas = self.script.pragmas
        is_off = pragmas.ignores_in_file(rule.id) if rule.on == "module" else pragmas.ignores(rule.id, span.line, span.end_line)
        if is_off:
            message = f"{rule.id} ({rule.title}) is switched off here by a comment; the code stays as it is."
            before = self.script.text[slice(*fix.site)]
            fix = Fix(rule.id, findings=[Finding("NPU902", Level.SKIPPED, span, message, before=before)], site=fix.site)
        self.fixes.append(fix)
