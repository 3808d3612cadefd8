"""Comparisons of None with `<` and its like: Python 2 takes None for less than anything else, Python 3 ends with a TypeError."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.files.python2_files import is_of_python2
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.rules.facts.untaken_branches import value_of
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.scopes import Binding, Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_SIGNS = frozenset(("<", "<=", ">", ">="))
_LESS = (cst.LessThan, cst.LessThanEqual)
_TESTS = (cst.If, cst.While, cst.Assert, cst.IfExp, cst.BooleanOperation, cst.CompFor)
_PLAIN = (cst.If, cst.While, cst.Assert)
"""Statements that ask for a comparison, which then needs no parentheses."""


@part_of(
    removed_part,
    on="module",
    why="Python 2 takes None for less than anything else; Python 3 ends with a TypeError where None is compared with a number.",
    done_when="`tf2npu run` passes this line without a TypeError.",
    source="What's New in Python 3.0, ordering comparisons",
    examples=(
        Example(
            "def f(a, n=None):\n    assert len(a) > n\n    if n is None:\n        n = 2\n    return tf.ones(a[:n])",
            "def f(a, n=None):\n    assert n is None or len(a) > n\n    if n is None:\n        n = 2\n    return tf.ones(a[:n])",
        ),
        Example(
            "best = None\nfor x in losses:\n    if best < x:\n        best = x\nprint(tf.constant(best))",
            "best = None\nfor x in losses:\n    if best is None or best < x:\n        best = x\nprint(tf.constant(best))",
        ),
        Example.same(
            "def sample(a, n=None):\n    if n is None:\n        n = 2\n    assert len(a) > n\n    return tf.constant(a[:n])",
            note="compared once it has a value",
        ),
        Example.same(
            "def sample(rows, n=None):\n    return tf.constant(rows[:n] if n and len(rows) > n else rows)", note="asked before"
        ),
        Example.same(
            "def sample(rows, n=None):\n    return tf.constant(len(rows) > n)", note="whoever calls it may give a number"
        ),
    ),
)
def none_order(site: Site) -> None:
    """Gives comparisons that meet None the answer that they had in Python 2."""
    script = site.script
    if _SIGNS.isdisjoint(script.tree.tokens) or not takes_part(site):
        return
    for node, scope, comparison in _orders(script):
        may_be_none = _is_given_none(script, node, scope, comparison)
        if (
            not may_be_none
            or is_guarded(Site(script, "", comparison, scope))
            or script.is_switched_off(site.fix.rule, comparison)
        ):
            continue
        site.fix.site = script.tree.span(comparison)
        name = site.source(node)
        (target,) = comparison.comparisons
        is_true = isinstance(target.operator, _LESS) == (node is comparison.left)  # None is less
        words = (name, "is", "None", "or") if is_true else (name, "is", "not", "None", "and")
        test = " ".join((*words, ""))
        is_alone = isinstance(script.walked.parents.get(id(comparison)), _PLAIN)
        site.wrap(comparison, test if is_alone else f"({test}", "" if is_alone else ")")
        site.fixed(
            f"Python 3 refuses to compare None with a number. Where {name} is None, the line now gives Python 2's answer, which "
            "takes None for less."
        )


def _orders(script: Script) -> Iterator[tuple[Any, Scope, cst.Comparison]]:
    """Names and attributes that are compared by their order with one other thing, with the comparison."""
    for node, scope in script.walked.references:
        comparison = _order_of(script, node)
        if comparison is not None and dotted_name(node):
            yield node, scope, comparison


def _order_of(script: Script, node: Any) -> cst.Comparison | None:
    """The comparison by order of an expression with one other, where it is part of one."""
    around: Any = script.walked.parents.get(id(node))
    comparison: Any = script.walked.parents.get(id(around)) if type(around) is cst.ComparisonTarget else around
    is_one = type(comparison) is cst.Comparison and len(comparison.comparisons) == 1
    return comparison if is_one and isinstance(comparison.comparisons[0].operator, _ORDERS) else None


def _is_given_none(script: Script, node: Any, scope: Scope, comparison: cst.Comparison) -> bool:
    """Whether None comes to a comparison: what is seen says so, or in a file of Python 2 the default of a parameter or option."""
    if _is_asked_before(script, node, scope, comparison):
        return False
    is_python2 = is_of_python2(script)
    if isinstance(node, cst.Name):
        bindings = scope.lookup(node.value) if scope.lookup_scope(node.value) is scope else []
        if bindings and bindings[0].kind == "param" and _is_none(bindings[0].node.default):
            is_bound_before = any(_position(script, b) < script.tree.span(comparison)[0] for b in bindings[1:])
            return not is_bound_before and (is_python2 or _is_asked_behind(script, node, scope, comparison))
    else:
        bindings = _of_attribute(node, scope)
        if is_python2 and value_of(script, node, scope) is None:
            return True
    return _is_first_none(script, bindings, comparison)


def _of_attribute(node: cst.Attribute, scope: Scope) -> list[Binding]:
    """The bindings of `self.name` in its class."""
    method = scope.function
    is_own = isinstance(node.value, cst.Name) and method is not None and method.parent is not None
    if (
        not is_own
        or method is None
        or method.parent is None
        or method.parent.kind != "class"
        or dotted_name(node).count(".") != 1
    ):
        return []
    return method.parent.attributes.get(node.attr.value, []) if dotted_name(node).startswith("self.") else []


def _is_first_none(script: Script, bindings: list[Binding], comparison: cst.Comparison) -> bool:
    """Whether a name is None until the comparison itself has let another value through."""
    nothing = [b for b in bindings if b.kind == "value" and _is_none(b.node)]
    others = [b for b in bindings if b not in nothing]
    tested: Any = next((a for a in script.walked.ancestors(comparison) if isinstance(a, cst.If)), None)
    if not nothing or not others or tested is None or any(b.kind != "value" for b in others):
        return False
    start, end = script.tree.span(tested.body)
    return _is_in_test(script, tested, comparison) and all(start <= script.tree.span(b.node)[0] < end for b in others)


def _is_none(node: Any) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _position(script: Script, binding: Binding) -> int:
    return script.tree.span(binding.node)[0] if binding.node is not None else 0


def _is_asked_before(script: Script, node: Any, scope: Scope, comparison: cst.Comparison) -> bool:
    """Whether a condition above, around or to the left of a comparison asks for the same thing: it may have sorted None out."""
    start, name = script.tree.span(comparison)[0], dotted_name(node)
    for use, owner in script.references_to(name.partition(".")[0]):
        if not dotted_name(use).startswith(name) or script.tree.span(use)[0] >= start or owner.function is not scope.function:
            continue
        tests = (a for a in script.walked.ancestors(use) if isinstance(a, _TESTS))
        is_asked = any(_is_in_test(script, test, use) for test in tests)
        if is_asked and _order_of(script, use) is None:  # a comparison by order sorts nothing out: it is changed itself
            return True
    return False


def _is_in_test(script: Script, statement: Any, use: Any) -> bool:
    """Whether a name stands in the condition of a statement; in `a and b` and in a comprehension, anywhere."""
    if isinstance(statement, (cst.BooleanOperation, cst.CompFor)):
        return True
    start, end = script.tree.span(statement.test)
    return start <= script.tree.span(use)[0] < end


def _is_asked_behind(script: Script, node: cst.Name, scope: Scope, comparison: cst.Comparison) -> bool:
    """Whether the function tells None from other values below a comparison: then None comes there."""
    end = script.tree.span(comparison)[1]
    for use, owner in script.references_to(node.value):
        around: Any = script.walked.parents.get(id(use))
        if owner is scope and script.tree.span(use)[0] > end and isinstance(around, cst.Comparison) and around.left is use:
            (target, *_) = around.comparisons
            if isinstance(target.operator, (cst.Is, cst.IsNot, cst.Equal)) and _is_none(target.comparator):
                return True
    return False
