"""Uses of APIs in a file, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.names import with_public_prefix
from tf2npu.rules.facts.old_libraries import imported_names, is_guarded
from tf2npu.scanner.names import canonical
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_OWN = "tensorflow.python."


def uses(site: Site, part: Callable[[str], str | None]) -> Iterator[str]:
    """The names, as `part` gives them, that the imports and references of a file use; sorted, and as often as each is used.

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
    for written, places in _places_of_names(script).items():
        used = part(written)
        for reference, scope in places if used is not None else ():
            if used is not None and not _import_is_guarded(site, reference, scope):
                found.setdefault(used, []).append(reference)
    for name, nodes in sorted(found.items()):
        for span, node in sorted(((script.tree.span(node), node) for node in nodes), key=lambda use: use[0]):
            if not is_guarded(Site(script, rule, node, site.scope)) and not script.is_switched_off(rule, node):
                site.fix.site, site.name = span, name
                yield name


@fact
def _places_of_names(script: Script) -> dict[str, list[tuple[cst.Attribute, Scope]]]:
    """The references that are chains of attributes, by their qualified names."""
    places: dict[str, list[tuple[cst.Attribute, Scope]]] = {}
    for reference, scope in script.walked.references:
        if type(reference) is cst.Attribute:
            places.setdefault(_used(script, reference, scope), []).append((reference, scope))
    return places


def _used(script: Script, reference: cst.Attribute, scope: Scope) -> str:
    """Qualified name of a reference, by its own path where it is imported by that; "" for unknown ones and those of objects."""
    root, _, attributes = dotted_name(reference).partition(".")
    bindings = scope.lookup(root)
    if len(bindings) == 1 and bindings[0].kind == "import" and bindings[0].level == 0:
        written = with_public_prefix(f"{bindings[0].target}.{attributes}")
        if written.startswith(_OWN):
            return written
    name = script.name_of(reference, scope) or ""
    return "" if "()" in name else name


def _import_is_guarded(site: Site, reference: cst.BaseExpression, scope: Scope) -> bool:
    bindings = scope.lookup(dotted_name(reference).partition(".")[0])
    statements: list[Any] = [binding.node for binding in bindings if binding.kind == "import"]
    return any(is_guarded(Site(site.script, site.fix.rule, node, scope)) for node in statements)


def _known_as(name: str) -> str:
    written = with_public_prefix(name)
    return written if written.startswith(_OWN) else canonical(name)
