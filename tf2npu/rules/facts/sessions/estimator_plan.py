"""The plan of which RunConfig reaches which Estimator: they are renamed together or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from tf2npu.rules.facts.reaching_definition import last_given
from tf2npu.rules.facts.relied_on_code import needed_elsewhere
from tf2npu.scanner.estimator_names import CONFIG_POSITION, ESTIMATOR, REMOVED, RUN_CONFIG, RUN_CONFIG_PARAMETERS, WRAPPED
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, parameter_of


@dataclass
class EstimatorPlan:
    """Verdict for every Estimator call (by node identity), and the RunConfig calls to convert with them.

    verdict: "none" no config given, "resolved" every config it can get is a RunConfig that becomes an NPURunConfig with it, made
    in this file or in others, "kept" one of those stays, "unresolved".
    """

    verdict: dict[int, str] = field(default_factory=dict)
    configs: set[int] = field(default_factory=set)
    wrapped: set[int] = field(default_factory=set)  # RunConfig calls that an Estimator gets, wrapped where it is made


@fact
def estimator_plan(script: Script) -> EstimatorPlan:
    """The plan of a file."""
    plan = EstimatorPlan()
    calls = [(node, scope, script.name_of(node.func, scope) or "") for node, scope in script.walked.calls]
    for node, scope, name in calls:
        if name in WRAPPED:
            config = Call(script, "NPU203", node, scope, name).arg("config", WRAPPED[name])
            plan.wrapped.update(id(o) for o, _ in (_origins(script, config.value, scope, 0) if config else None) or [])
    for node, scope, name in calls:
        if name == ESTIMATOR and not script.is_switched_off("NPU201", node):
            _judge(script, plan, node, scope)
        elif name == RUN_CONFIG and _is_paired(script, node):
            plan.configs.add(id(node))
    return plan


def _judge(script: Script, plan: EstimatorPlan, node: cst.Call, scope: Scope) -> None:
    """Enter an Estimator into the plan."""
    call = Call(script, "NPU201", node, scope, ESTIMATOR)
    config = call.arg("config", CONFIG_POSITION) or call.spread_arg("config")
    if call.has_unknown_args:
        plan.verdict[id(node)] = "star"
    elif config is None or script.name_of(config.value, scope) == "None":
        plan.verdict[id(node)] = "none"
    elif _is_paired(script, node):
        plan.verdict[id(node)] = "resolved"
    else:
        origins = _origins(script, config.value, scope, 0) or []
        plan.verdict[id(node)] = _verdict(script, origins)
        made = plan.configs if plan.verdict[id(node)] == "resolved" else plan.wrapped
        made.update(id(origin) for origin, _ in origins)


def _is_paired(script: Script, node: cst.Call) -> bool:
    """Whether a RunConfig or an Estimator becomes the NPU's together with those of other files that it meets."""
    places = script.project.config_pairs.get(script.path)
    if not places or not (script.config.is_enabled("NPU201") and script.config.is_enabled("NPU202")):
        return False
    start = script.tree.span(node.func)[0]
    before = script.text[script.lines.line_start(start) : start]
    return (script.lines.position(start)[0], len(before.encode("utf-8", "surrogatepass"))) in places


def _verdict(script: Script, origins: list[tuple[cst.Call, Scope]]) -> str:
    if not origins or any(script.name_of(node.func, scope) != RUN_CONFIG for node, scope in origins):
        return "unresolved"
    return "resolved" if all(_is_convertible(script, node) for node, _ in origins) else "kept"


def _is_convertible(script: Script, node: cst.Call) -> bool:
    if script.is_switched_off("NPU202", node) or any(arg.star for arg in node.args):
        return False
    if sum(a.keyword is None for a in node.args) > len(RUN_CONFIG_PARAMETERS):
        return False
    removed = [arg for arg in node.args if parameter(node, arg) in REMOVED]
    return not any(needed_elsewhere(script, *script.tree.span(arg)) for arg in removed)


def removed_from_copy(node: cst.Call) -> list[cst.Arg]:
    """Arguments of RunConfig.replace that the NPU has no use for."""
    return [arg for arg in node.args if arg.keyword is not None and arg.keyword.value in REMOVED]


def parameter(node: cst.Call, arg: cst.Arg) -> str:
    """The parameter of RunConfig that an argument is for."""
    return parameter_of(node, arg, RUN_CONFIG_PARAMETERS)


def _origins(script: Script, node: Any, scope: Scope, depth: int) -> list[tuple[cst.Call, Scope]] | None:
    """The calls that make the value of an expression, or None when some source of it is unknown."""
    if depth > 10:
        return None
    if isinstance(node, cst.Name):
        return _origins_of_name(script, node, scope, depth)
    if isinstance(node, cst.IfExp):
        return _joined([_origins(script, part, scope, depth + 1) for part in (node.body, node.orelse)])
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and script.name_of(node.func, scope) == f"{RUN_CONFIG}().replace":
        stays = any(needed_elsewhere(script, *script.tree.span(arg)) for arg in removed_from_copy(node))
        return None if stays else _origins(script, node.func.value, scope, depth + 1)
    function = _function(script, node, scope)
    if function is not None:
        return _joined([_origins(script, value, inner, depth + 1) for value, inner in function.returns])
    return [(node, scope)]


def _origins_of_name(script: Script, node: cst.Name, scope: Scope, depth: int) -> list[tuple[cst.Call, Scope]] | None:
    found = []
    bindings = scope.lookup(node.value)
    if len(bindings) > 1 and (id(scope), node.value) in _told_by_block(script):
        last = last_given(script, node, scope)
        bindings = [last] if last is not None else bindings
    for binding in bindings:
        if binding.kind != "value" or binding.scope is None:
            return None
        found.append(_origins(script, binding.node, binding.scope, depth + 1))
    return _joined(found)


@fact
def _told_by_block(script: Script) -> set[tuple[int, str]]:
    """Names of configs that are bound several times, where for each Estimator its block tells which one it gets."""
    uses: dict[tuple[int, str], bool] = {}
    for node, scope in script.walked.calls:
        position = {ESTIMATOR: CONFIG_POSITION, **WRAPPED}.get(script.name_of(node.func, scope) or "")
        config = Call(script, "NPU201", node, scope).value("config", position) if position is not None else None
        if isinstance(config, cst.Name) and len(scope.lookup(config.value)) > 1:
            key = (id(scope), config.value)
            uses[key] = uses.get(key, True) and last_given(script, config, scope) is not None
    return {key for key, is_told in uses.items() if is_told}


def _function(script: Script, node: cst.Call, scope: Scope) -> Scope | None:
    if not isinstance(node.func, cst.Name):
        return None
    bindings = scope.lookup(node.func.value)
    if len(bindings) == 1 and bindings[0].kind == "function":
        return script.walked.scope_of[id(bindings[0].node)]
    return None


def _joined(parts: list[list[tuple[cst.Call, Scope]] | None]) -> list[tuple[cst.Call, Scope]] | None:
    if not parts or any(part is None for part in parts):
        return None
    return [origin for part in parts for origin in part or []]
