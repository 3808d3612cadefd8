"""One file converted: decode, parse, walk once, ask the rules, splice, parse the result again. Pure: no file is touched.

Two phases over a project: `gather_facts` for every file, `ProjectFacts.merge`, then `convert_file` for every file.
Nothing that user code can hold makes these functions raise; what cannot be converted becomes a finding.
This module knows no rule and no framework: `rule_calls` shows sites to the rules,
and `rules/hooks.py` has the points at which others are asked.
"""

from __future__ import annotations

import bisect
import dataclasses

from tf2npu.config import AUTO, Config
from tf2npu.engine.dispatch import RuleCalls
from tf2npu.engine.rewritten_source import rewritten_source
from tf2npu.findings import ApiUse, Edit, FileResult, Finding, Level, Span, Status, UnsafePlace, doc_of
from tf2npu.frameworks.base import Framework
from tf2npu.frameworks.other_frameworks import builds_on_tensorflow
from tf2npu.frameworks.registry import known
from tf2npu.rules import hooks, load_rules
from tf2npu.rules.plugins import PLUGIN_IDS
from tf2npu.scanner.facts import FileFacts, gather_facts, mentions_relevant_module
from tf2npu.scanner.notebooks.cells import Notebook, why_nothing_was_seen
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix, select_compatible, splice, spliced_range, to_edits
from tf2npu.scanner.text.interval_index import Covering
from tf2npu.scanner.text.output_check import check_output
from tf2npu.scanner.text.source import OR_PYTHON2, Python2Error, SourceError, decode
from tf2npu.scanner.tree import TooDeepError, parse, run_with_deep_stack

__all__ = ["FileFacts", "ProjectFacts", "convert_file", "convert_source", "gather_facts", "mentions_relevant_module"]

_SAME_TEXT = "{} was not applied: another fix changes the same text; convert this place by hand"


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
    if not _takes_part(path, data, project) and not mentions_relevant_module(data):
        return FileResult(path, Status.COPIED, _said_of_copy(path, data, config, project), before=data, after=data)
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


def _takes_part(path: str, data: bytes, project: ProjectFacts) -> bool:
    """Whether a file reaches a framework, or is reached from there and may hold what a rule looks for."""
    if path in project.reaching or any(part.takes_in(path) for part in project.parts.values()):
        return True
    facts = project.files.get(path)
    if facts is not None and builds_on_tensorflow(facts.imports):
        return True
    if path not in project.reached:
        return False
    if any(path in project.reach[name].reached for name in known().mentioned_where_reached(data)):
        return True
    load_rules()
    return any(may_concern(data) for may_concern in hooks.before_file)


def _looking_at(path: str, text: str, config: Config, project: ProjectFacts) -> tuple[Framework, ...]:
    """The frameworks whose rules look at a file: those that it has to do with; where it reaches none, those that it mentions.
    The settings may leave some out.
    """
    facts = project.files.get(path)
    roots = {module.partition(".")[0] for level, module in facts.imports if level == 0} if facts is not None else set()
    found = {f.name for f in known() if project.is_reaching(path, f.name) or not roots.isdisjoint(f.roots)}
    if path not in project.reaching:
        data = text.encode("utf-8", "replace")
        found |= {f.name for f in known() if known().mention(f, data)}
        found |= {name for name, reach in project.reach.items() if path in reach.reached}
        found |= {name for name, part in project.parts.items() if part.takes_in(path)}
    if config.framework == AUTO:
        found -= {name for name, paths in project.without.items() if path in paths}
    return tuple(f for f in known() if f.name in found and config.converts(f.family))


def _said_of_copy(path: str, data: bytes, config: Config, project: ProjectFacts) -> list[Finding]:
    """The findings on a file that is not parsed."""
    load_rules()
    said = [_with_doc(config, finding) for hook in hooks.copied_file for finding in hook(path, data, project)]
    return why_nothing_was_seen(path, data) + [finding for finding in said if config.is_enabled(finding.rule)]


def _code_lines(text: str) -> int:
    """Lines that are not blank."""
    return sum(1 for line in text.splitlines() if line.strip())


def _failed(path: str, data: bytes, span: Span, reason: str) -> FileResult:
    finding = Finding("NPU900", Level.SKIPPED, span, f"Not converted: {reason}", doc=doc_of("NPU900"))
    n_lines = _code_lines(data.decode("latin-1"))
    return FileResult(path, Status.FAILED, [finding], before=data, after=data, lines=n_lines)


def _convert(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    if is_notebook(path):
        return _convert_notebook(path, data, config, project)
    source = decode(data)
    outcome = convert_text(source.text, path, config, project)
    after = source.encode(outcome.text) if outcome.edits else data
    edits = outcome.edits
    if source.ends_with_cr:
        edits = [dataclasses.replace(edit, new=edit.new.replace("\n", "\r")) for edit in edits]
    status = Status.CONVERTED if after != data else Status.UNCHANGED
    return FileResult(path, status, _summed_up(outcome.findings), edits, data, after, outcome.apis, _code_lines(source.text))


def _convert_notebook(path: str, data: bytes, config: Config, project: ProjectFacts) -> FileResult:
    notebook = Notebook(data)
    facts = dataclasses.replace(gather_facts("x.py", notebook.code.encode()), path=path)
    project = project.including(facts)
    config = dataclasses.replace(config, unsafe_at=frozenset(_in_code(notebook, place) for place in config.unsafe_at))
    outcome = convert_text(notebook.code, path, config, project)
    takes_part = path in project.reaching
    left = notebook.cell_findings(lambda text: takes_part or mentions_relevant_module(text.encode("utf-8", "replace")))
    findings = _summed_up(left + [notebook.relocate(f) for f in outcome.findings])
    after = notebook.with_edits(outcome.edits)
    status = Status.CONVERTED if after != data else Status.UNCHANGED
    return FileResult(
        path, status, findings, [], data, after, [_in_cell(notebook, use) for use in outcome.apis], _code_lines(notebook.code)
    )


def _in_code(notebook: Notebook, place: UnsafePlace) -> UnsafePlace:
    """A place in a cell as one of the code of all cells."""
    rule, cell, line, message = place
    return rule, None, notebook.line_of(cell, line), message


def _summed_up(findings: list[Finding]) -> list[Finding]:
    for summary in hooks.summary:
        findings = summary(findings)
    return findings


def _in_cell(notebook: Notebook, use: ApiUse) -> ApiUse:
    place = notebook.relocate(Finding("", Level.INFO, Span(use.line, 1, use.line, 1), ""))
    return dataclasses.replace(use, line=place.span.line, cell=place.cell)


def convert_text(text: str, path: str, config: Config, project: ProjectFacts) -> Outcome:
    """Convert decoded source; one that is written for a sister of a framework is brought to the framework before.

    Raises: SourceError when the source, or what the fixes would make of it, cannot be parsed.
    """
    source = rewritten_source(path, text, config, project)
    if source is None:
        return _text_converted(text, path, config, project)
    outcome = _text_converted(source.text, path, source.config(config), project)
    findings = [_with_doc(config, finding) for finding in source.findings(outcome.findings)]
    return Outcome(outcome.text, source.edits(outcome.edits), _sorted(findings), [source.use(use) for use in outcome.apis])


def _text_converted(text: str, path: str, config: Config, project: ProjectFacts) -> Outcome:
    load_rules()
    facts = project.files.get(path)
    tree = parse(text, facts is not None and facts.is_python)
    script = Script(path, tree, config, project, _looking_at(path, text, config, project))
    try:
        return _converted(script)
    finally:
        script.walked.release()
        script.answers.clear()  # they may refer to the script


def _converted(script: Script) -> Outcome:
    calls = RuleCalls(script)
    fixes = calls.ask()
    kept_as_it_is = next((said for hook in hooks.keeps_file if (said := hook(script, fixes)) is not None), None)
    if kept_as_it_is is not None:
        said = [_with_doc(script.config, finding) for finding in kept_as_it_is]
        return Outcome(script.text, [], _sorted(said), calls.uses.result())
    for more in hooks.after_rules:
        fixes += more(script, calls.uses, fixes)
    after, edits, findings = _composed(script, fixes)
    return Outcome(after, edits, _sorted(findings), calls.uses.result())


def _composed(script: Script, fixes: list[Fix]) -> tuple[str, list[Edit], list[Finding]]:
    """The text that the fixes make, its edits, and what there is to say."""
    dropping = {id(fix): reason for fix in fixes if (reason := _reason_to_keep(script, fix))}
    dropped, fixes = [f for f in fixes if id(f) in dropping], [f for f in fixes if id(f) not in dropping]
    composition = select_compatible([f for f in fixes if f.changes or f.symbols or f.must_go])
    kept = composition.kept
    added = [fix for complete in hooks.completes for fix in complete(script, kept)]
    edits = to_edits(added + kept)
    after = splice(script.text, edits)
    if edits:
        check_output(script, after)
    for remark in hooks.after_edits:
        fixes += remark(script, edits)
    voided = {id(f) for f in [*composition.absorbed, *composition.refused, *_gone(fixes, kept)]}
    said = [f for f in fixes if id(f) not in voided] + added
    sites = _Sites(kept)
    findings = [finding for fix in said for finding in _with_after(script, fix, sites)]
    findings += [_refused(script, fix, _SAME_TEXT) for fix in composition.refused]
    findings += [_refused(script, fix, dropping[id(fix)]) for fix in dropped]
    return after, edits, findings


def _reason_to_keep(script: Script, fix: Fix) -> str:
    """The reason that a fix is not made; empty for none."""
    return next((reason for keep in hooks.keeps_code if (reason := keep(script, fix))), "")


def _gone(fixes: list[Fix], kept: list[Fix]) -> list[Fix]:
    """Remarks about code that another fix takes out."""
    replaced = Covering((c.start, c.end) for fix in kept for c in fix.changes if c.replaces)
    return [f for f in fixes if not f.changes and f.site[0] < f.site[1] and replaced.holds(*f.site)]


class _Sites:
    """Fixes by where their sites start, in the order in which they were made."""

    def __init__(self, fixes: list[Fix]) -> None:
        wide = [(fix.site[0], number, fix) for number, fix in enumerate(fixes) if fix.site[0] < fix.site[1]]
        self.in_order = sorted(wide, key=lambda entry: entry[:2])
        self.starts = [start for start, _, _ in self.in_order]

    def inside(self, start: int, end: int) -> list[Fix]:
        """The fixes whose sites lie in a range."""
        candidates = self.in_order[bisect.bisect_left(self.starts, start) : bisect.bisect_left(self.starts, end)]
        found = [(number, fix) for _, number, fix in candidates if fix.site[1] <= end]
        return [fix for _, fix in sorted(found, key=lambda entry: entry[0])]


def _with_after(script: Script, fix: Fix, sites: _Sites) -> list[Finding]:
    """The findings of a fix; of what is changed with the text of its site after this fix and those inside its site."""
    findings = [dataclasses.replace(_with_doc(script.config, finding), part=fix.part) for finding in fix.findings]
    if not any(finding.level is Level.FIXED for finding in fix.findings):
        return findings
    start, end = fix.site
    inside = [f for f in sites.inside(start, end) if f is not fix]
    after = spliced_range(script.text, to_edits([fix, *inside]), start, end)
    were_fixed = [finding.level is Level.FIXED for finding in fix.findings]
    return [dataclasses.replace(f, after=after) if fixed else f for f, fixed in zip(findings, were_fixed, strict=True)]


def _with_doc(config: Config, finding: Finding) -> Finding:
    """A finding with the place of its documentation, which ours have, and the level that the settings give it."""
    level = Level(config.level_of(finding.rule, finding.level.value))
    doc = "" if finding.rule.startswith(PLUGIN_IDS) else doc_of(finding.rule)
    return dataclasses.replace(finding, level=level, doc=doc)


def _refused(script: Script, fix: Fix, reason: str) -> Finding:
    message = reason.format(fix.rule)
    return Finding(
        "NPU901", Level.MANUAL, script.span(*fix.site), message, before=script.text[slice(*fix.site)], doc=doc_of("NPU901")
    )


def _sorted(findings: list[Finding]) -> list[Finding]:
    unique = {(f.span, f.rule, f.level, f.message): f for f in findings}
    return [unique[key] for key in sorted(unique, key=lambda k: (k[0], k[1], k[2].value, k[3]))]
