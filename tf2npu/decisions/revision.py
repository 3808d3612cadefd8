"""Decisions carried out in one file: code written, rules switched off by comments. What cannot be done is told and stays work."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tf2npu.decisions.code import Code, NotPossible, code_of, range_of
from tf2npu.decisions.comments import Comments, comments_in
from tf2npu.decisions.document import Decisions, Entry
from tf2npu.decisions.unsafe_fixes import NOT_MADE, with_chosen
from tf2npu.file_findings import REFUSED_DECISION
from tf2npu.findings import Answer, Edit, FileResult, Finding, Level, Status, doc_of
from tf2npu.project.request import Again
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.build import file_report
from tf2npu.report.model.changes import splice
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.report import FileReport, Lines
from tf2npu.report.work.choices import ACCEPT, EDIT
from tf2npu.report.work.decisions import decision_id
from tf2npu.report.work.labels import label_of_choice

_LEVELS = {"edit": Level.FIXED, "suppress": Level.SKIPPED, "accept": Level.INFO}
"""The level that a finding has once its decision is carried out."""
_WOULD_NOT_PARSE = "the file would not be Python any more"


def revised(result: FileResult, decisions: Decisions, again: Again) -> FileResult:
    """The result with what was decided about its findings, where that changes code; accepting a finding does not.

    again: converts the file with the unsafe fixes that were chosen.
    """
    if not decisions.concerns(result.path) or result.status is Status.FAILED or not result.findings:
        return result
    file = file_report(result)
    wanted = {number: entry for number, entry in asked_for(file, fingerprints(file), decisions).items() if entry.choice != ACCEPT}
    chosen = {n: file.findings[n] for n, entry in wanted.items() if entry.choice == EDIT and file.findings[n].unsafe}
    fixes = with_chosen(result, chosen, again)
    code = code_of(fixes.result) if wanted else None
    if code is None:
        return result
    work = _Work(code, set(fixes.done), dict.fromkeys(sorted(fixes.refused), NOT_MADE))
    for number, entry in wanted.items():
        if number not in chosen:
            work.take(number, file.findings[number], entry)
    changed = work.made(fixes.result)
    told = [refused(file.findings[number], wanted[number], reason) for number, reason in work.refused.items()]
    return replace(changed, findings=[*_with_answers(file.findings, fixes.findings(), work.done, wanted), *told])


def _with_answers(before: list[Finding], after: list[Finding], done: set[int], wanted: dict[int, Entry]) -> list[Finding]:
    """The findings of a file with their answers. before, after: without the unsafe fixes that were chosen, and with them."""
    known, still = set(before), set(after)
    kept = [answered(f, wanted[n]) if n in done else f for n, f in enumerate(before) if n in done or f in still]
    return [*kept, *(finding for finding in after if finding not in known)]


def asked_for(file: FileReport, keys: list[str], decisions: Decisions) -> dict[int, Entry]:
    """The decisions about the findings of a file that can be decided, by the findings' numbers from 0.  keys: fingerprints."""
    found = {}
    for number, (finding, fingerprint) in enumerate(zip(file.findings, keys, strict=True)):
        label = label_of_choice(file, finding)
        entry = decisions.of(decision_id(label, finding), file.path, fingerprint) if label else None
        if entry is not None:
            found[number] = entry
    return found


def answered(finding: Finding, entry: Entry) -> Finding:
    """A finding whose decision is carried out: it is no work any more."""
    answer = Answer(entry.id, entry.choice, finding.level, entry.who, entry.note)
    return replace(finding, level=_LEVELS[entry.choice], answer=answer)


def refused(finding: Finding, entry: Entry, reason: str) -> Finding:
    """The finding on a decision that is not carried out, with the reason."""
    what = "write the code" if entry.choice == EDIT else "switch the rule off"
    message = f"It was decided to {what} here, which was not done: {reason}. Do it by hand, or decide in another way."
    rule = REFUSED_DECISION.id
    return Finding(rule, Level.INFO, finding.span, message, before=finding.before, doc=doc_of(rule), cell=finding.cell)


@dataclass
class _Work:
    """The edits and comments for one file. done: numbers of findings.  refused: the reasons of the others."""

    code: Code
    done: set[int] = field(default_factory=set)
    refused: dict[int, str] = field(default_factory=dict)
    _edits: dict[int, Edit] = field(default_factory=dict)
    _silenced: dict[int, tuple[Finding, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lines = Lines(self.code.text)

    def take(self, number: int, finding: Finding, entry: Entry) -> None:
        """Note what is to be done for a finding, or why it cannot be."""
        try:
            if entry.choice == EDIT:
                self._edits[number] = self._edit(finding)
            else:
                self._silenced[number] = finding, _reason(entry)
            self.done.add(number)
        except NotPossible as why:
            self.refused[number] = str(why)

    def made(self, result: FileResult) -> FileResult:
        """The result with all that can be done together; what would break the file is refused."""
        edits = self._that_parse()
        comments = Comments(_With(self.code, edits))
        for number, (finding, reason) in self._silenced.items():
            try:
                comments.add(finding, reason)
            except NotPossible as why:
                self._refuse(number, str(why))
        every = [*edits, *comments.edits()]
        if comments.edits() and not self._keeps(every, comments.texts()):
            for number in self._silenced:
                self._refuse(number, _WOULD_NOT_PARSE)
            every = edits
        return self.code.with_edits(every) if every else result

    def _edit(self, finding: Finding) -> Edit:
        """The code that a finding shows in the place of what it speaks of."""
        if not finding.replaces or n_places([finding]) != 1:
            raise NotPossible("the finding shows no code that may come in the place of all that it speaks of")
        start, end = range_of(self.code, self._lines, finding)
        if any(_meet(edit, start, end) for edit in [*self.code.taken, *self._edits.values()]):
            raise NotPossible("another change is made to the same text")
        return Edit(start, end, finding.after, finding.rule)

    def _that_parse(self) -> list[Edit]:
        """The edits with which the file is still Python: all of them, or those that one after the other keep it so."""
        if self._edits and not self.code.parses(list(self._edits.values())):
            kept: dict[int, Edit] = {}
            for number, edit in self._edits.items():
                if self.code.parses([*kept.values(), edit]):
                    kept[number] = edit
                else:
                    self._refuse(number, _WOULD_NOT_PARSE)
            self._edits = kept
        return list(self._edits.values())

    def _keeps(self, edits: list[Edit], comments: list[str]) -> bool:
        """Whether the file is Python with these edits, and each comment really is one."""
        found = comments_in(splice(self.code.text, [*self.code.taken, *edits]))
        return self.code.parses(edits) and all(
            comment in found or any(f.endswith(comment) for f in found) for comment in comments
        )

    def _refuse(self, number: int, reason: str) -> None:
        self.done.discard(number)
        self.refused[number] = reason


class _With:
    """Code in which further edits are taken."""

    def __init__(self, code: Code, edits: list[Edit]) -> None:
        self.text, self.encoding, self.taken = code.text, code.encoding, [*code.taken, *edits]
        self.line, self.with_edits, self.parses = code.line, code.with_edits, code.parses


def _meet(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit touches a range."""
    return (edit.start < end and start < edit.end) or start < edit.start == edit.end < end


def _reason(entry: Entry) -> str:
    """The reason that a rule is switched off, as a comment tells it."""
    told = f"{entry.who}: {entry.note}" if entry.who and entry.note else entry.who or entry.note
    return told if entry.note else f"decided by {entry.who}" if entry.who else "decided"
