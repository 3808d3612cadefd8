"""Uses of Horovod in a script for TensorFlow 2, and what stands in the place of each: all of them are known, or none changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple

import libcst as cst

from tf2npu.frameworks.horovod.names import is_horovod, short_name
from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.scanner.import_names import bound_name, imported_modules
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call
from tf2npu.scanner.tree_walk import dotted_name

RULE = "NPU816"
"""The id of the rule that carries the plan out."""
_GOING = frozenset({"init", "shutdown"})
_SAME_ARGUMENTS = {
    "broadcast_variables": ("distribute.broadcast", ("variables", "root_rank")),
    "allreduce": ("distribute.all_reduce", ("tensor",)),
    "DistributedOptimizer": ("distribute.npu_distributed_keras_optimizer_wrapper", ("optimizer",)),
}
"""Functions with the names below npu_device that do the same, and the arguments that may be given, by position."""
_TAPE = "DistributedGradientTape"
_BROADCAST, _AVERAGE = "callbacks.BroadcastGlobalVariablesCallback", "callbacks.MetricAverageCallback"
_BY_METRICS = frozenset({"EarlyStopping", "ReduceLROnPlateau"})
"""Callbacks that change the training by metrics, which differ between ranks where nobody averages them."""


class Kind(Enum):
    """Kinds of what stands in the place of a call of Horovod."""

    GONE = auto()  # nothing stands in its place
    VALUE = auto()  # an attribute of the device's handle
    OF_SERVER = auto()  # a function of hccl.manage.api
    FUNCTION = auto()  # a function below npu_device, with the same arguments
    BROADCAST = auto()  # the callback that broadcasts
    TAPE = auto()  # the tape stays as it was, and its gradients are averaged


class Counterpart(NamedTuple):
    """The name of the thing that stands in the place of a call; for a tape, the calls by which it gives its gradients."""

    kind: Kind
    name: str = ""
    gradients: tuple[cst.Call, ...] = ()


@dataclass
class HorovodPlan:
    """counterparts: of calls, by the ids of their nodes.  uses: all references.  reasons: why nothing changes, and where."""

    counterparts: dict[int, Counterpart] = field(default_factory=dict)
    uses: list[cst.CSTNode] = field(default_factory=list)
    reasons: list[tuple[cst.CSTNode, Scope, str]] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether there is Horovod, and something stands in the place of each use."""
        return bool(self.uses) and not self.reasons


_WITHOUT_ARGUMENTS = {
    "rank": Counterpart(Kind.VALUE, "worker_id"),
    "size": Counterpart(Kind.VALUE, "workers_num"),
    "local_rank": Counterpart(Kind.OF_SERVER, "get_local_rank_id"),
    "local_size": Counterpart(Kind.OF_SERVER, "get_local_rank_size"),
}
"""Functions that are called without arguments, and what has their values."""


@fact
def horovod_plan(script: Script) -> HorovodPlan:
    """The plan for a file; empty where Horovod is not to be converted or is not imported."""
    plan = HorovodPlan()
    if script.config.distributed == "horovod" and script.config.is_enabled(RULE):
        names = {name for node, _ in _imports(script) for name in _bound(node)}
        if names:
            _Planner(script, plan, names).make()
    return plan


def _imports(script: Script) -> Iterator[tuple[Any, Scope]]:
    for node, scope in script.walked.imports:
        if any(is_horovod(module) for module in imported_modules(node)):
            yield node, scope


def _bound(node: Any) -> Iterator[str]:
    """The names that an import of Horovod binds."""
    for alias in () if isinstance(node.names, cst.ImportStar) else node.names:
        yield bound_name(alias)


class _Planner:
    def __init__(self, script: Script, plan: HorovodPlan, names: set[str]) -> None:
        self.script, self.plan, self.names = script, plan, names

    def make(self) -> None:
        self._imports()
        for node, scope in self.script.walked.references:
            root = dotted_name(node).partition(".")[0]
            if root in self.names and scope.lookup_scope(root) in (None, self.script.module_scope):
                self.plan.uses.append(node)
                self._use(node, scope)

    def _refuse(self, node: cst.CSTNode, scope: Scope, reason: str) -> None:
        self.plan.reasons.append((node, scope, reason))

    def _imports(self) -> None:
        """Refuse where more hangs on an import than the names of this file."""
        script = self.script
        others = sorted(horovod_in(script.project).using - {script.path})
        for node, scope in _imports(script):
            if others:
                self._refuse(node, scope, _SPREAD.format(", ".join(others)))
            elif scope is not script.module_scope or any(isinstance(a, (cst.Try, cst.If)) for a in script.walked.ancestors(node)):
                self._refuse(node, scope, _CONDITION)

    def _use(self, node: Any, scope: Scope) -> None:
        """Plan what stands in the place of one use; refuse where nothing does."""
        script = self.script
        call = script.walked.parents.get(id(node))
        if not isinstance(call, cst.Call) or call.func is not node:
            return self._refuse(node, scope, _HANDED_ON)
        name = short_name(script.name_of(node, scope) or "") or ""
        if script.is_switched_off(RULE, call):
            return self._refuse(node, scope, _KEPT)
        counterpart = self._counterpart(Call(script, "", call, scope, name), name)
        if counterpart is None:
            return self._refuse(node, scope, _UNKNOWN.format(dotted_name(node)))
        self.plan.counterparts[id(call)] = counterpart
        return None

    def _counterpart(self, call: Call, name: str) -> Counterpart | None:
        """The counterpart of a call of Horovod; None where nothing stands in its place."""
        if not call.args and name in _WITHOUT_ARGUMENTS:
            return _WITHOUT_ARGUMENTS[name]
        if name in _GOING and self._is_statement(call.node) and not call.args:
            return Counterpart(Kind.GONE)
        if name in _SAME_ARGUMENTS and self._has_only(call, _SAME_ARGUMENTS[name][1]):
            return Counterpart(Kind.FUNCTION, _SAME_ARGUMENTS[name][0])
        if name == _TAPE and self._has_only(call, ("gradtape",)):
            gradients = self._gradients(call)
            return Counterpart(Kind.TAPE, gradients=gradients) if gradients else None
        if name == _BROADCAST and self._has_only(call, ("root_rank",)):
            return Counterpart(Kind.BROADCAST)
        if name == _AVERAGE and not call.args and self._is_element(call.node) and not self._decides_by_metrics():
            return Counterpart(Kind.GONE)
        return None

    def _is_statement(self, node: cst.Call) -> bool:
        return isinstance(self.script.walked.parents.get(id(node)), cst.Expr)

    def _is_element(self, node: cst.Call) -> bool:
        """Whether a call is an element of a list that is written out and has others."""
        element = self.script.walked.parents.get(id(node))
        whole = self.script.walked.parents.get(id(element))
        return isinstance(element, cst.Element) and isinstance(whole, cst.List) and len(whole.elements) > 1

    def _has_only(self, call: Call, known: tuple[str, ...]) -> bool:
        """Whether a call has its first argument, by position, and no others than the known."""
        names = [arg.keyword.value for arg in call.args if arg.keyword is not None]
        positional = call.positional_args
        return not call.has_star_args and 1 <= len(positional) <= len(known) and set(names) <= set(known[len(positional) :])

    def _gradients(self, call: Call) -> tuple[cst.Call, ...]:
        """The calls by which a tape that Horovod wraps gives its gradients; none where one is not seen to be that tape's."""
        assign = self.script.walked.parents.get(id(call.node))
        target: Any = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
        argument: Any = call.node.args[0].value
        if not isinstance(target, cst.Name) or not isinstance(argument, cst.Name) or target.value != argument.value:
            return ()
        begin = self.script.tree.span(call.node)[1]
        return tuple(
            one
            for one, scope in self.script.walked.calls
            if scope.function is call.scope.function
            and dotted_name(one.func) == f"{target.value}.gradient"
            and self.script.tree.span(one)[0] > begin
        )

    def _decides_by_metrics(self) -> bool:
        return any(dotted_name(call.func).rpartition(".")[2] in _BY_METRICS for call, _ in self.script.walked.calls)


_SPREAD = "Horovod is used in several files (also {}): bring its uses into one"
_CONDITION = "Horovod is imported under a condition or in a function: import it at the top of the file"
_HANDED_ON = "this use of Horovod is no call: write the call here"
_KEPT = "a comment or the settings keep this place as it is: take that out"
_UNKNOWN = "nothing of npu.distribute stands for {} as it is written here: take it out, or write it in another way"
