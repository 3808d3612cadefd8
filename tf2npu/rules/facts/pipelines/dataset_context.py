"""Uses of batches: a proven training pipeline, evaluation, or unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import libcst as cst

from tf2npu.rules.facts.block_assignments import assignments_of
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_MODES = "tensorflow.estimator.ModeKeys."
_TRAINING_CALLS = frozenset({"minimize", "apply_gradients", "create_train_op"})
_NOT_TRAINING = re.compile(r"eval|test|val|infer|pred|dev", re.IGNORECASE)
_FED_BY = {"train": "train", "evaluate": "eval", "predict": "eval"}
_ITERATORS = frozenset({"make_one_shot_iterator", "make_initializable_iterator"})
_KERAS_METHODS = frozenset({"fit", "evaluate", "predict"})
_MAKERS = frozenset({"from_structure", "make_initializer"})
_WORD = re.compile(r"\w+")
_ENDLESS_KEEPING = frozenset(
    {"map", "shuffle", "prefetch", "cache", "filter", "batch", "with_options", "apply", "padded_batch", "enumerate"}
)
# Transformations to be applied that end only where their input does.
_ENDLESS_APPLIED = frozenset(
    {
        "batch_and_drop_remainder", "bucket_by_sequence_length", "copy_to_device", "dense_to_sparse_batch", "group_by_window",
        "ignore_errors", "map_and_batch", "prefetch_to_device", "scan", "shuffle_and_repeat", "unbatch",
    }
)  # fmt: skip
_SIZE_KEEPING = frozenset({"map", "shuffle", "prefetch", "cache", "with_options", "enumerate"})


@dataclass(frozen=True)
class Context:
    """kind: endless (no last batch), train, param (training when `parameter` is true), eval, or unknown.

    others: further parameters that are true exactly in training.
    """

    kind: str
    parameter: str = ""
    others: tuple[str, ...] = ()


def context_of(call: Call) -> Context:
    """The use of the batch that this call makes."""
    if _is_endless(call, _receiver(call)):
        return Context("endless")
    scope = call.scope.function
    while scope is not None:
        context = _of_function(call, scope) or _of_closure(call, scope)
        if context is not None:
            return _under_conditions(call, context)
        scope = scope.parent.function if scope.parent is not None else None
    return _of_variable(call)


def is_batched_again(call: Call) -> bool:
    """Whether the chain that goes on from this batch batches, or takes apart, what it gives."""
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Attribute):
            if ancestor.attr.value in ("batch", "padded_batch", "unbatch", "flat_map", "interleave"):
                return True
        elif not isinstance(ancestor, cst.Call):
            return False
    return False


def is_named_for_evaluation(call: Call) -> bool:
    """Whether the names around a batch say that it feeds evaluation or prediction."""
    receiver = call.node.func.value if isinstance(call.node.func, cst.Attribute) else None
    names = {receiver.value} if isinstance(receiver, cst.Name) else set()
    return any(_NOT_TRAINING.search(name) for name in names | holders(call))


def _receiver(call: Call) -> Any:
    """The dataset that is batched; for `ds.apply(map_and_batch(...))` that is `ds`."""
    if isinstance(call.node.func, cst.Attribute) and not call.name.startswith("tensorflow.data.experimental"):
        return call.node.func.value
    parent = call.script.walked.parents.get(id(call.node))
    outer = call.script.walked.parents.get(id(parent)) if isinstance(parent, cst.Arg) else None
    if isinstance(outer, cst.Call) and isinstance(outer.func, cst.Attribute) and outer.func.attr.value == "apply":
        return outer.func.value
    return None


def _chain(call: Call, node: Any) -> list[tuple[str, cst.Call]]:
    """Methods called on a dataset, last first, followed through assignments that are certain to have been made."""
    found: list[tuple[str, cst.Call]] = []
    seen: set[int] = set()
    while node is not None and id(node) not in seen:
        seen.add(id(node))
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            found.append((node.func.attr.value, node))
            node = node.func.value
        elif isinstance(node, cst.Name):
            node = _assigned_before(call, node)
        else:
            break
    return found


def _assigned_before(call: Call, name: cst.Name) -> Any:
    """The value that a name certainly has here: from the nearest statement before in the same block."""
    walked = call.script.walked
    chain = [name, *walked.ancestors(name)]
    line = next((n for n in chain if isinstance(n, (cst.SimpleStatementLine, cst.BaseCompoundStatement))), None)
    block: Any = walked.parents.get(id(line)) if line is not None else None
    if line is None or not isinstance(block, (cst.IndentedBlock, cst.Module)):
        return None
    return assignments_of(call.script, block).last_above(line, name.value)


def _is_endless(call: Call, receiver: Any) -> bool:
    """Whether the dataset repeats for ever before it is batched, so that there is no last, smaller batch."""
    for method, node in _chain(call, receiver):
        if method == "repeat":
            values = [call.source(a.value) for a in node.args]
            return not values or values in (["None"], ["-1"])
        if method not in _ENDLESS_KEEPING:
            return False
        if method == "apply":
            made = _applied(call, node)
            if made is None or made[0] not in _ENDLESS_APPLIED:
                return False
            if made[0] == "shuffle_and_repeat":
                return len(made[1].args) == 1 and not made[1].args[0].star
    return False


def _applied(call: Call, node: cst.Call) -> tuple[str, cst.Call] | None:
    """Name and call of what tf.data.experimental has to be applied, or None for a function that may do anything."""
    inner = node.args[0].value if len(node.args) == 1 else None
    name = (call.resolve(inner.func) or "") if isinstance(inner, cst.Call) else ""
    module, _, last = name.rpartition(".")
    return (last, inner) if module == "tensorflow.data.experimental" and isinstance(inner, cst.Call) else None


def smallest_size(call: Call) -> int | None:
    """Number of elements that are batched, where the source text tells."""
    for method, node in _chain(call, _receiver(call)):
        if method == "take" and node.args:
            return _integer(node.args[0].value)
        if method == "range" and len(node.args) == 1:
            return _integer(node.args[0].value)
        if method == "from_tensor_slices" and node.args and isinstance(node.args[0].value, cst.List):
            return len(node.args[0].value.elements)
        if method not in _SIZE_KEEPING:
            return None
    return None


def _integer(node: Any) -> int | None:
    return int(node.value.replace("_", ""), 0) if isinstance(node, cst.Integer) else None


def feeds_evaluation(call: Call) -> bool:
    """Whether the function around a call makes the input of evaluation or prediction only."""
    scope = call.scope.function
    context = (_of_function(call, scope) or _of_closure(call, scope)) if scope is not None else None
    return context is not None and context.kind == "eval"


def _under_conditions(call: Call, context: Context) -> Context:
    """The context after the conditions around a call have told a parameter that separates training from evaluation."""
    below: cst.CSTNode = call.node
    for ancestor in call.script.walked.ancestors(call.node):
        if context.kind != "param" or isinstance(ancestor, cst.FunctionDef):
            break
        if isinstance(ancestor, (cst.If, cst.IfExp)) and below in (ancestor.body, ancestor.orelse):
            kind = _told_by(call, ancestor.test, below is ancestor.body, (context.parameter, *context.others))
            context = Context(kind) if kind else context
        below = ancestor
    return context


def _told_by(call: Call, test: cst.BaseExpression, holds: bool, conditions: tuple[str, ...]) -> str:
    """The role that follows from a test that holds, or does not, and the conditions true in training: "train", "eval" or ""."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _told_by(call, test.expression, not holds, conditions)
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And if holds else cst.Or):
        return _told_by(call, test.left, holds, conditions) or _told_by(call, test.right, holds, conditions)
    if isinstance(test, cst.Name) and test.value in conditions:
        return "train" if holds else "eval"
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return ""
    operator, mode = test.comparisons[0].operator, call.resolve(test.comparisons[0].comparator) or ""
    is_mode = mode.startswith(_MODES) and any(condition.startswith(f"({test.left.value} == ") for condition in conditions)
    if not is_mode or not isinstance(operator, (cst.Equal, cst.NotEqual)):
        return ""
    is_it = isinstance(operator, cst.Equal) == holds
    if mode.endswith(".TRAIN"):
        return "train" if is_it else "eval"
    return "eval" if is_it else ""


def _of_closure(call: Call, scope: Scope) -> Context | None:
    """A function that is given to train, evaluate or predict where it is defined; several may share its name."""
    function = scope.parent.function if scope.parent else None
    roles = _fed_functions(call.script).get((id(scope.node), id(function)), set())
    return Context(next(iter(roles))) if len(roles) == 1 else None


@fact
def _fed_functions(script: Script) -> dict[tuple[int, int], set[str]]:
    """The roles of functions given to train, evaluate or predict, by the ids of their nodes and of the calling function."""
    found: dict[tuple[int, int], set[str]] = {}
    given = {use for node, where in script.walked.calls for use in _given(node, where)}
    for name, method, where in given:
        for binding in where.lookup(name):
            found.setdefault((id(binding.node), id(where.function)), set()).add(_FED_BY[method])
    return found


def _given(use: cst.Call, where: Scope) -> Iterator[tuple[str, str, Scope]]:
    """Names given as `input_fn` to a method that trains or evaluates, the method, and the scope."""
    method = use.func.attr.value if isinstance(use.func, cst.Attribute) else ""
    for n, arg in enumerate(use.args) if method in _FED_BY else ():
        is_input = arg.keyword.value == "input_fn" if arg.keyword else n == 0
        if is_input and isinstance(arg.value, cst.Name):
            yield arg.value.value, method, where


def _of_function(call: Call, scope: Scope) -> Context | None:
    node: Any = scope.node
    uses = call.script.project.input_uses.get((call.script.path, node.name.value))
    if not uses:
        return None
    train = [u for u in uses if u.role == "train"]
    other = [u for u in uses if u.role != "train"]
    if not other:
        return Context("train")
    if not train:
        return Context("eval")
    conditions = []
    for name in sorted(scope.names, key=lambda n: ("train" not in n.lower(), n)):
        bindings = scope.names[name]
        is_parameter = len(bindings) == 1 and bindings[0].kind == "param" and not _is_deleted(call, node, name)
        if not is_parameter or _is_shadowed(call.scope, scope, name):
            continue
        if _separates(name, train, other):
            conditions.append(name)
        elif _is_mode(name, train, other) and call.script.tensorflow_name:
            conditions.append(f"({name} == {call.script.tensorflow_name}.estimator.ModeKeys.TRAIN)")
    return Context("param", conditions[0], tuple(conditions[1:])) if conditions else Context("unknown")


def _separates(name: str, train: list[Any], other: list[Any]) -> bool:
    return all(u.constant(name) is True for u in train) and all(u.constant(name) is False for u in other)


def _is_mode(name: str, train: list[Any], other: list[Any]) -> bool:
    modes = {u.constant(name) for u in other}
    return all(u.constant(name) == "ModeKeys.TRAIN" for u in train) and modes <= {"ModeKeys.EVAL", "ModeKeys.PREDICT"}


def _is_deleted(call: Call, function: cst.FunctionDef, name: str) -> bool:
    """Whether a function may take a name away with `del`."""
    return re.search(rf"\bdel\b.*\b{re.escape(name)}\b", call.source(function)) is not None


def _is_shadowed(inner: Scope, outer: Scope, name: str) -> bool:
    return inner.lookup_scope(name) is not outer


def _of_variable(call: Call) -> Context:
    """A batch that is made where it is used: look at what happens to the variable that holds it."""
    names = holders(call)
    if not names:
        return Context("unknown")
    function, uses = id(call.scope.function), _uses_by_name(call.script)
    known = _roles_by_names(call.script)
    key = (function, frozenset(names))
    if key not in known:
        nodes = [node for name in sorted(names) for node in uses.get((function, name), ())]
        known[key] = {role for node in nodes for role in _roles_of_use(call, node, names)}
    roles = known[key]
    if roles == {"train"} and not any(_NOT_TRAINING.search(name) for name in names):
        return Context("train")
    return Context("eval") if roles == {"eval"} else Context("unknown")


@fact
def _roles_by_names(script: Script) -> dict[tuple[int, frozenset[str]], set[str]]:
    """The roles of datasets, by the function and the names that hold them; filled where it is asked for."""
    return {}


@fact
def _uses_by_name(script: Script) -> dict[tuple[int, str], list[cst.Call]]:
    """Calls of methods that tell what becomes of a dataset, by the function they are in and the names they have to do with."""
    found: dict[tuple[int, str], list[cst.Call]] = {}
    for node, scope in script.walked.calls:
        if isinstance(node.func, cst.Attribute):
            for name in _names_of_use(script, node, node.func):
                found.setdefault((id(scope.function), name), []).append(node)
    return found


def _names_of_use(script: Script, node: cst.Call, func: cst.Attribute) -> set[str]:
    method = func.attr.value
    if method in _MAKERS:
        return set(_WORD.findall(script.tree.source(node)))
    fed = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "validation_data"]
    if method in _ITERATORS:
        fed.append(func.value)
    elif method in _KERAS_METHODS and node.args:
        fed.append(node.args[0].value)
    return {name for name in map(_first_name, fed) if name}


def holders(call: Call) -> set[str]:
    """Variables that get the batched dataset, directly or by a further chain."""
    walked = call.script.walked
    names: set[str] = set()
    for ancestor in walked.ancestors(call.node):
        if isinstance(ancestor, cst.Assign):
            names = {t.target.value for t in ancestor.targets if isinstance(t.target, cst.Name)}
            break
        if not isinstance(ancestor, (cst.Attribute, cst.Call, cst.Arg)):
            break
    return names


def _roles_of_use(call: Call, node: cst.Call, names: set[str]) -> set[str]:
    assert isinstance(node.func, cst.Attribute)
    method = node.func.attr.value
    first = node.args[0].value if node.args else None
    base = node.func.value
    if method in _ITERATORS and _is_one_of(base, names):
        return {"train"} if _file_trains(call.script) else {"unknown"}
    if method in _KERAS_METHODS and first is not None and _is_one_of(first, names):
        return {"train" if method == "fit" else "eval"}
    validation = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "validation_data"]
    if validation and _is_one_of(validation[0], names):
        return {"eval"}
    return {"unknown"} if method in _MAKERS and _mentions(call, node, names) else set()


def _is_one_of(node: Any, names: set[str]) -> bool:
    return _first_name(node) in names


def _first_name(node: Any) -> str:
    """The name that a chain of method calls starts with, "" for anything else."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return node.value if isinstance(node, cst.Name) else ""


def _mentions(call: Call, node: cst.Call, names: set[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", call.source(node)) for name in names)


@fact
def _file_trains(script: Script) -> bool:
    """Whether this file builds a train op and batches nothing else."""
    methods = [n.func.attr.value for n, _ in script.walked.calls if isinstance(n.func, cst.Attribute)]
    batches = sum(m in ("batch", "padded_batch", "map_and_batch") for m in methods)
    return batches == 1 and any(m in _TRAINING_CALLS for m in methods)
