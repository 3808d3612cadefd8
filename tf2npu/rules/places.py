"""What concerns many places of a file alike is said at the first, with the lines of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import libcst as cst

from tf2npu.findings import Finding, Level
from tf2npu.rules.old_library import imported_names, is_guarded
from tf2npu.scanner.names import canonical, with_public_prefix
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Site
from tf2npu.scanner.walk import dotted_name

_TAIL = " This is one of {} such places in the file; the others: {}."
_TOLD = re.compile(_TAIL.removesuffix(".").format(r"\d+", r"(?P<others>(?:cell \d+:)?\d+(?:, (?:cell \d+:)?\d+)*)") + r"\.$")
_MOST = 20  # places that a message names
_OWN = "tensorflow.python."


def said_once(findings: list[Finding], rules: frozenset[str]) -> list[Finding]:
    """Findings of a file, sorted, with those that say the same told at the first of them, which names the places of the others.

    Remarks of level info are told once whatever rule they come from. What a person has to do is so only for `rules`: with the
    others each place is to be looked at by itself.
    """
    alike: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        is_work = finding.level in (Level.MANUAL, Level.UNSUPPORTED)
        is_once = finding.level is Level.INFO or (is_work and finding.rule in rules)
        key = (finding.rule, finding.level, finding.message) if is_once else number
        alike.setdefault(key, []).append(finding)
    return [replace(first, message=first.message + _also_at(first, others)) for first, *others in alike.values()]


def _also_at(first: Finding, others: list[Finding]) -> str:
    """How a message goes on after what it says of the first place."""
    places = list(dict.fromkeys(place for f in others if (place := _place(f)) != _place(first)))
    named = ", ".join(places[:_MOST]) + (", ..." if len(places) > _MOST else "")
    return _TAIL.format(len(places) + 1, named) if places else ""


def other_places(message: str) -> tuple[str, list[tuple[int | None, int]]]:
    """A message without the places that `said_once` added, and these: the cell, in a notebook, and the line of each.

    A message that does not name all of them stays as it is.
    """
    told = _TOLD.search(message)
    if told is None:
        return message, []
    places = [place.rpartition(":") for place in told["others"].split(", ")]
    return message[: told.start()], [(int(cell.removeprefix("cell ")) if cell else None, int(line)) for cell, _, line in places]


def _place(finding: Finding) -> str:
    """The line; with the cell in front in a notebook, as text reports have it."""
    return str(finding.span.line) if finding.cell is None else f"cell {finding.cell}:{finding.span.line}"


def uses(site: Site, part: Callable[[str], str | None]) -> Iterator[str]:
    """What the imports and names of a file use; sorted, and as often as it is used.

    part: from a qualified name to what is to be reported of it, if anything.  A name that is written with its path in
    TensorFlow's own package (`tensorflow.python.ops.gen_nn_ops.relu_grad`) keeps it: it may be there when its public name is not.
    The site is moved to each use.  Uses that a `try` or a test of versions guards, or whose import it guards, those under a
    comment that switches the rule off, and what is used of an object, which was reported where that is made, do not count.
    """
    script, rule = site.script, site.fix.rule
    found: dict[str, list[Any]] = {}
    for statement, _ in script.walked.imports:
        for name in {part(_known_as(name)) for name in imported_names(Site(script, rule, statement, site.scope))} - {None}:
            found.setdefault(str(name), []).append(statement)
    for reference, scope in script.walked.references:
        used = part(_used(site, reference, scope)) if isinstance(reference, cst.Attribute) else None
        if used is not None and not _import_is_guarded(site, reference, scope):
            found.setdefault(used, []).append(reference)
    for name, nodes in sorted(found.items()):
        for span, node in sorted(((script.tree.span(node), node) for node in nodes), key=lambda use: use[0]):
            if not is_guarded(Site(script, rule, node, site.scope)) and not script.is_switched_off(rule, node):
                site.fix.site, site.name = span, name
                yield name


def _used(site: Site, reference: cst.Attribute, scope: Scope) -> str:
    """Qualified name of a reference, by its own path where it is imported by that; "" for unknown ones and those of objects."""
    root, _, attributes = dotted_name(reference).partition(".")
    bindings = scope.lookup(root)
    if len(bindings) == 1 and bindings[0].kind == "import" and bindings[0].level == 0:
        written = with_public_prefix(f"{bindings[0].target}.{attributes}")
        if written.startswith(_OWN):
            return written
    name = site.script.name_of(reference, scope) or ""
    return "" if "()" in name else name


def _import_is_guarded(site: Site, reference: cst.BaseExpression, scope: Scope) -> bool:
    bindings = scope.lookup(dotted_name(reference).partition(".")[0])
    statements: list[Any] = [binding.node for binding in bindings if binding.kind == "import"]
    return any(is_guarded(Site(site.script, site.fix.rule, node, scope)) for node in statements)


def _known_as(name: str) -> str:
    written = with_public_prefix(name)
    return written if written.startswith(_OWN) else canonical(name)
