"""What concerns many places of a file alike is said at the first, with the lines of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.old_library import imported_names, is_guarded
from tf2npu.scanner.names import canonical, with_public_prefix
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.walk import dotted_name

_MOST_LINES = 20
_OWN = "tensorflow.python."


def first_of_alike(call: Call, names: tuple[str, ...], told: Callable[[Call], str] | None = None) -> list[int] | None:
    """Lines of all calls of these names that the rule looks at; None for another than the first of them.

    told: what there is to say of a call; only those of which there is the same to say are alike then.
    """
    script, rule = call.script, call.fix.rule
    key = f"places:{rule}"
    if key not in script.memo:
        found: dict[str, list[int]] = script.memo.setdefault(key, {})
        for node, scope in script.walked.calls:
            name = script.name_of(node.func, scope)
            if name in names and not script.is_switched_off(rule, node):
                said = told(Call(script, rule, node, scope, name)) if told else ""
                found.setdefault(said, []).append(script.tree.span(node)[0])
    starts = sorted(script.memo[key].get(told(call) if told else "", ()))
    if not starts or script.tree.span(call.node)[0] != starts[0]:
        return None
    return [script.span(start, start).line for start in starts]


def first_uses(site: Site, part: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    """What the imports and names of a file use, each once, with the lines of the other uses; sorted.

    part: from a qualified name to what is to be reported of it, if anything.  A name that is written with its path in
    TensorFlow's own package (`tensorflow.python.ops.gen_nn_ops.relu_grad`) keeps it: it may be there when its public name is not.
    The site is moved to the first use.  Uses that a `try` or a test of versions guards, or whose import it guards, those under a
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
        kept = [node for node in nodes if not is_guarded(Site(script, rule, node, site.scope))]
        if kept and not script.is_switched_off(rule, kept[0]):
            spans = sorted(script.tree.span(node) for node in kept)
            site.fix.site, site.name = spans[0], name
            yield name, also_at(sorted({script.span(*span).line for span in spans}))


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


def also_at(lines: list[int]) -> str:
    """How a message goes on for the calls after the first."""
    if len(lines) < 2:
        return ""
    named = ", ".join(map(str, lines[1 : _MOST_LINES + 1])) + (", ..." if len(lines) > _MOST_LINES + 1 else "")
    return f" This is one of {len(lines)} such places in the file; the others: {named}."
