"""Calls that feed a model: which of their arguments make its input, and whether for training or for evaluation."""

from __future__ import annotations

import ast
import re

_METHOD_ROLES = {
    "train": "train", "evaluate": "eval", "predict": "eval", "fit": "train", "fit_generator": "train",
    "evaluate_generator": "eval", "predict_generator": "eval",
}  # fmt: skip
_OTHER_EVALUATION = re.compile(r"predict|evaluat|score|transform|infer")  # predict_proba, predict_cluster_idx, ...
_SPEC_ROLES = {"TrainSpec": ("train", 0), "EvalSpec": ("eval", 0), "InMemoryEvaluatorHook": ("eval", 1)}


def fed_inputs(node: ast.Call, name: str) -> list[tuple[str, ast.expr]]:
    """Expressions that feed a model in this call, with their role."""
    keywords = {k.arg: k.value for k in node.keywords if k.arg}
    if name in _SPEC_ROLES:
        role, position = _SPEC_ROLES[name]
        value = keywords.get("input_fn") or (node.args[position] if len(node.args) > position else None)
        return [(role, value)] if value is not None else []
    if "eval_input_fn" in keywords:
        return [("eval", keywords["eval_input_fn"])]
    if "input_fn" in keywords and isinstance(node.func, ast.Attribute) and _OTHER_EVALUATION.match(name):
        return [("eval", keywords["input_fn"])]
    if name not in _METHOD_ROLES or not isinstance(node.func, ast.Attribute):
        return []
    found = []
    value = keywords.get("input_fn") or keywords.get("x") or (node.args[0] if node.args else None)
    if value is not None:
        found.append((_METHOD_ROLES[name], value))
    if "validation_data" in keywords:
        found.append(("eval", keywords["validation_data"]))
    return found
