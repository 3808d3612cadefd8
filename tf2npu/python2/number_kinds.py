"""Kinds of the numbers that expressions give: whole, real, or not known."""

from __future__ import annotations

import ast

from tf2npu.python2 import known_calls as known
from tf2npu.python2.scopes import REAL, UNKNOWN, WHOLE, Binding, Bindings, Given, Result, attribute_key

_SAME_KIND = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_DEEPEST = 50
"""The most assignments, one from the other, that are followed."""
_MOST_STEPS = 20_000
"""The most names that are looked up for one file: what is left then is not known."""


def kind_of(node: ast.expr, names: Bindings) -> str:
    """The kind of number that an expression gives in Python 2."""
    if isinstance(node, ast.Constant):
        return {int: WHOLE, float: REAL}.get(type(node.value), UNKNOWN)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return kind_of(node.operand, names)
    if isinstance(node, ast.BinOp):
        return _kind_of_operation(node.op, node.left, node.right, names)
    if isinstance(node, ast.Name):
        return _kind_of_place(node, names)
    if isinstance(node, ast.Call):
        return _kind_of_call(node, names)
    if isinstance(node, ast.Subscript):
        return _kind_of_part(node, names)
    return _kind_of_attribute(node, names) if isinstance(node, ast.Attribute) else UNKNOWN


def _kind_of_part(node: ast.Subscript, names: Bindings) -> str:
    """WHOLE for a size of a shape, REAL for a part of what is real, which is an array then."""
    is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    is_shape = is_shape or (isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith(".as_list"))
    if is_shape and not isinstance(node.slice, ast.Slice):
        return WHOLE
    return REAL if kind_of(node.value, names) == REAL else UNKNOWN


def _kind_of_attribute(node: ast.Attribute, names: Bindings) -> str:
    if known.called_name(node) in known.REAL_NAMES:
        return REAL
    if isinstance(node.value, ast.Name) and node.value.id in ("args", "FLAGS"):
        return kind_of_name(f"FLAGS.{node.attr}", names)
    key = attribute_key(node)
    # A whole number may become another where another file sets it.
    return REAL if key is not None and kind_of_name(key, names) == REAL else UNKNOWN


def _kind_of_place(node: ast.Name, names: Bindings) -> str:
    """The kind of a name where it is read: by the assignment before, by a use before, or by all that it gets."""
    facts = names.facts
    if id(node) in facts.settled:
        value, scope = facts.settled[id(node)]
        if id(node) in facts.known:
            return facts.known[id(node)]
        facts.steps += 1
        facts.depth += 1
        kind = kind_of(value, scope) if facts.steps < _MOST_STEPS and facts.depth < _DEEPEST else UNKNOWN
        facts.depth -= 1
        if not facts.assumed:
            facts.known[id(node)] = kind
        if kind:
            return kind
    kind, owner = kind_of_name(node.id, names), names.owner(node.id)
    is_used = id(node) in facts.whole and owner is not None and len(owner.bound[node.id]) == 1
    return WHOLE if is_used and kind == UNKNOWN else kind


def _kind_of_call(node: ast.Call, names: Bindings) -> str:
    """REAL for functions that give real numbers, casts to them, and sums of them; WHOLE for lengths and the like."""
    called = known.called_name(node.func)
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if called in known.WHOLE_CALLS or (method in known.WHOLE_METHODS and not any(k.arg == "dtype" for k in node.keywords)):
        return WHOLE
    is_math = called.startswith("math.") and called not in known.WHOLE_OF_MATH
    if called in known.REAL_CALLS or is_math or _is_made_real(node, called) or known.is_real_method(node):
        return REAL
    if called in known.ARRAYS and node.args and type_given(node, called) is None:
        return REAL if holds_real(node.args[0], names) else kind_of(node.args[0], names)
    if called == "sum" and node.args:
        return REAL if holds_real(node.args[0], names) else UNKNOWN
    if called in known.SAME_AS_ARGUMENT:
        return kind_of(node.args[0], names) if node.args else UNKNOWN
    if called in known.SAME_AS_ARGUMENTS or called in ("max", "min"):
        return _common([kind_of(value, names) for value in node.args[: None if called in ("max", "min") else 2]], called)
    if (tensor := known.fetched(node)) is not None:
        return kind_of(tensor, names)
    if isinstance(node.func, ast.Attribute):
        return REAL if method in known.REAL_OF_REAL and kind_of(node.func.value, names) == REAL else UNKNOWN
    return _kind_of_results(node.func.id, names) if isinstance(node.func, ast.Name) else UNKNOWN


def _common(kinds: list[str], called: str) -> str:
    if set(kinds) in ({WHOLE}, {REAL}) and len(kinds) > 1:
        return kinds[0]
    return REAL if REAL in kinds and called not in ("max", "min") else UNKNOWN


def type_given(node: ast.Call, called: str) -> str | None:
    """The type that a call for an array is given; None where it is given none."""
    return known.type_of(node, known.CASTS.get(called, len(node.args)))


def _is_made_real(node: ast.Call, called: str) -> bool:
    """Whether a call gives numbers of a floating-point type that it names, or that it takes when none is named."""
    if called.endswith(".astype"):
        return known.type_of(node, 0) in known.REAL_TYPES
    if called in known.REAL_BY_DEFAULT:
        return (known.type_of(node, known.REAL_BY_DEFAULT[called]) or "float") in known.REAL_TYPES
    if called == "tf.get_variable":
        is_shaped = len(node.args) > 1 or any(k.arg == "shape" for k in node.keywords)
        return is_shaped and (known.type_of(node, 2) or "float") in known.REAL_TYPES
    return known.type_of(node, known.CASTS[called]) in known.REAL_TYPES if called in known.CASTS else False


def holds_real(node: ast.expr, names: Bindings) -> bool:
    """Whether a list has a real number in it, so that its sum, and an array of it, is real."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(kind_of(part, names) == REAL or holds_real(part, names) for part in node.elts)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return kind_of(node.elt, names) == REAL
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return holds_real(node.left, names) or holds_real(node.right, names)
    key = node.id if isinstance(node, ast.Name) else attribute_key(node)
    owner = names.owner(key) if key is not None else None
    if key is None or owner is None or key in names.facts.shortened:
        return False
    return _all_hold_real(f"{key}[]", owner.bound[key], owner)


def _all_hold_real(mark: str, bound: list[Binding], owner: Bindings) -> bool:
    """Whether all lists that a name gets have a real number; one that goes on from itself has it from the first."""
    if mark in owner.open:
        return True
    owner.open[mark] = REAL
    owner.facts.assumed += 1
    lists = [(b.value, b.names) if isinstance(b, Given) else (b, owner) for b in bound]
    holds = all(isinstance(value, ast.expr) and holds_real(value, scope) for value, scope in lists)
    owner.facts.assumed -= 1
    del owner.open[mark]
    return holds


def _kind_of_operation(op: ast.operator, left: ast.expr, right: ast.expr, names: Bindings) -> str:
    """Python 2 gives a whole number for two of them and a real one where a side is real."""
    first = kind_of(left, names)
    kinds = {first, kind_of(right, names)}
    if isinstance(op, ast.Pow):
        is_count = isinstance(right, ast.Constant) and isinstance(right.value, int) and right.value >= 0
        return REAL if REAL in kinds else WHOLE if kinds == {WHOLE} and is_count else UNKNOWN
    if not isinstance(op, _SAME_KIND):
        return UNKNOWN
    is_text = isinstance(op, ast.Mod) and first == UNKNOWN
    return UNKNOWN if is_text else REAL if REAL in kinds else WHOLE if kinds == {WHOLE} else UNKNOWN


def kind_of_name(name: str, names: Bindings) -> str:
    """The kind on which all bindings of a name in its scope agree; UNKNOWN where they do not."""
    owner, facts = names.owner(name), names.facts
    if owner is None or name in owner.open:
        return UNKNOWN if owner is None else owner.open[name]
    if (id(owner), name) in facts.named:
        return facts.named[id(owner), name]
    facts.steps += 1
    if facts.steps > _MOST_STEPS:
        return UNKNOWN
    facts.opened += 1
    kind = _kind_of_bound(name, owner)
    facts.opened -= 1
    if not facts.opened:  # what was found while other names are open may be less than the truth
        facts.named[id(owner), name] = kind
    return kind


def _kind_of_bound(name: str, owner: Bindings) -> str:
    bound = owner.bound[name]
    changes = [b for b in bound if isinstance(b, ast.AugAssign)]
    owner.open[name] = UNKNOWN
    first = {_kind_of_binding(b, owner) for b in bound if not isinstance(b, ast.AugAssign)}
    if REAL in first and UNKNOWN in first:  # s = s + x is real where s is: s is taken for real, and looked at again
        owner.open[name] = REAL
        owner.facts.assumed += 1
        first = {_kind_of_binding(b, owner) for b in bound if not isinstance(b, ast.AugAssign)}
        owner.facts.assumed -= 1
    changed = {_kind_of_change(b, owner) for b in changes}
    del owner.open[name]
    kind = _kind_of_changes(first, changed, changes, [b for b in bound if b not in changes])
    is_taken = len(bound) == 1 and (id(owner), name) in owner.facts.real and name not in owner.arguments
    return REAL if is_taken and kind == UNKNOWN else kind


def _kind_of_change(change: ast.AugAssign, owner: Bindings) -> str:
    return kind_of(change.value, owner.facts.changing.get(id(change), owner)) if isinstance(change.op, _SAME_KIND) else UNKNOWN


def _kind_of_changes(first: set[str], changed: set[str], changes: list[ast.AugAssign], values: list[Binding]) -> str:
    """The kind of a name by the kinds that it gets, and those that change it."""
    if len(first) != 1 or UNKNOWN in first:
        return UNKNOWN
    (kind,) = first
    first_values = [b.value if isinstance(b, Given) else b for b in values]
    is_nothing = all(isinstance(b, ast.Constant) and b.value == 0 for b in first_values)
    if is_nothing and changed == {REAL} and all(isinstance(b.op, (ast.Add, ast.Sub)) for b in changes):
        return REAL  # as long as nothing was added it is 0, whatever it is divided by
    if kind == REAL:
        return REAL if all(isinstance(b.op, _SAME_KIND) for b in changes) else UNKNOWN
    return UNKNOWN if UNKNOWN in changed or REAL in changed else kind


def _kind_of_binding(bound: Binding, owner: Bindings) -> str:
    if isinstance(bound, Given):
        return kind_of(bound.value, bound.names)
    if isinstance(bound, Result):
        return _kind_of_returns(bound, owner)
    return bound if isinstance(bound, str) else UNKNOWN if isinstance(bound, ast.AugAssign) else kind_of(bound, owner)


def _kind_of_results(name: str, names: Bindings) -> str:
    """The kind of what a function of the file gives, whoever calls it."""
    owner = names.owner(name)
    found = owner.functions.get(name, []) if owner is not None and not owner.is_class else []
    if owner is None or len(found) != 1 or len(owner.bound[name]) != 1 or found[0].decorator_list:
        return UNKNOWN
    return _kind_of_returns(Result(found[0]), owner)


def _kind_of_returns(result: Result, owner: Bindings) -> str:
    """The kind on which all that a function returns agrees."""
    inside, mark = owner.facts.inside[id(result.function)], "return"
    if mark in inside.open or isinstance(result.function, ast.AsyncFunctionDef):
        return UNKNOWN
    inside.open[mark] = UNKNOWN
    kinds = {kind_of(value, inside) if value is not None else UNKNOWN for value in _returned(result.function)}
    del inside.open[mark]
    return kinds.pop() if len(kinds) == 1 else UNKNOWN


def _returned(function: ast.AST) -> list[ast.expr | None]:
    """The values that a function returns itself; a generator gives nothing that is known."""
    found: list[ast.expr | None] = []
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return []
        if isinstance(node, ast.Return):
            found.append(node.value)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)
    return found
