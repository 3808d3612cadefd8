"""Types by usage: a name is a dataset, an Estimator, a model or Horovod by methods and arguments that only these have.

Asked only where nothing else tells what a name is: a parameter, the result of an unknown function, a name of another cell.
"""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.api_return_types import DATASET, DATASET_METHODS
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.names import root_of
from tf2npu.scanner.tree_walk import Walked, dotted_name

ESTIMATOR = "tensorflow.estimator.Estimator()"
MODEL = "tensorflow.keras.Model()"
HOROVOD = "horovod.tensorflow"
_SURE = frozenset({"padded_batch", "make_one_shot_iterator", "make_initializable_iterator"})
_KEYWORDS = {
    "batch": ({"drop_remainder"},), "shard": ({"num_shards", "index"},), "map": ({"num_parallel_calls"},),
    "shuffle": ({"buffer_size"}, {"reshuffle_each_iteration"}), "prefetch": ({"buffer_size"},), "interleave": ({"cycle_length"},),
}  # fmt: skip
_WITH_BATCH = frozenset({"shuffle", "repeat", "prefetch", "map", "cache"})  # with `batch` on the same object: a dataset
_TRANSFORMATIONS = frozenset({"map_and_batch", "shuffle_and_repeat", "parallel_interleave", "prefetch_to_device"})
_FIT_KEYWORDS = frozenset({"epochs", "steps_per_epoch", "validation_data", "validation_split"})
_OPTIMIZER_NAME = re.compile(r"(sgd|rmsprop|adagrad|adadelta|adam|adamax|nadam|ftrl)$", re.IGNORECASE)
_INPUT_FN = re.compile(r"(\w+_)?input_fn$")
_OF_HOROVOD = frozenset({
    "DistributedOptimizer", "BroadcastGlobalVariablesHook", "broadcast_global_variables", "init", "rank", "local_rank", "size",
    "local_size",
})  # fmt: skip
_METHODS = DATASET_METHODS | _SURE | _OF_HOROVOD | {"train", "evaluate", "predict", "compile", "fit", "fit_generator"}


def objects_by_use(walked: Walked, facts: FileFacts | None) -> dict[tuple[int, str], str]:
    """Qualified instance by (id of the scope a name belongs to, name); names whose uses contradict each other are left out."""
    found = _objects(walked)
    if facts is not None and any(level == 0 and root_of(module) == "keras" for level, module in facts.imports):
        return {key: kind for key, kind in found.items() if kind != MODEL}  # it may be a model of that package
    return found


def _objects(walked: Walked) -> dict[tuple[int, str], str]:
    uses: dict[tuple[int, str], set[str]] = {}
    weak: dict[tuple[int, str], set[str]] = {}
    for call, scope in walked.calls:
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _METHODS:
            continue
        root = _root(call.func.value)
        if root is None:
            continue
        key = (id(scope.lookup_scope(root.value) or scope.module), root.value)
        kind = _kind(call, call.func)
        if kind == HOROVOD and not any(binding.kind == "param" for binding in scope.lookup(root.value)):
            kind = None
        if kind is not None:
            uses.setdefault(key, set()).add(kind)
        weak.setdefault(key, set()).add(call.func.attr.value)
    for key, methods in weak.items():
        if "batch" in methods and methods & _WITH_BATCH:
            uses.setdefault(key, set()).add(DATASET)
    return {key: kinds.pop() for key, kinds in uses.items() if len(kinds) == 1}


def _root(node: cst.BaseExpression) -> cst.Name | None:
    """The name at the start of a chain of dataset methods."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in DATASET_METHODS:
        node = node.func.value
    return node if isinstance(node, cst.Name) else None


def _kind(call: cst.Call, func: cst.Attribute) -> str | None:
    method = func.attr.value
    keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    values: list[Any] = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if method in DATASET_METHODS or method in _SURE:
        return DATASET if method in _SURE or _is_dataset_call(method, keywords, values) else None
    if not isinstance(func.value, cst.Name):
        return None
    if method in _OF_HOROVOD:  # handed to a function under the name that its users give it
        return HOROVOD if func.value.value == "hvd" else None
    if method in ("train", "evaluate", "predict"):
        return ESTIMATOR if "input_fn" in keywords or (values and _is_input_fn(values[0])) else None
    if method == "compile":
        return MODEL if _is_keras_compile(keywords, values) else None
    return MODEL if method == "fit_generator" or keywords & _FIT_KEYWORDS else None


def _is_dataset_call(method: str, keywords: set[str], values: list[Any]) -> bool:
    if any(wanted <= keywords for wanted in _KEYWORDS.get(method, ())):
        return True
    if method == "batch":
        return len(values) == 2 and isinstance(values[1], cst.Name) and values[1].value in ("True", "False")
    inner = values[0] if method == "apply" and values else None
    return isinstance(inner, cst.Call) and dotted_name(inner.func).rpartition(".")[2] in _TRANSFORMATIONS


def _is_input_fn(value: Any) -> bool:
    return isinstance(value, cst.Name) and _INPUT_FN.match(value.value) is not None


def _is_keras_compile(keywords: set[str], values: list[Any]) -> bool:
    if "loss" in keywords and ("optimizer" in keywords or values):
        return True
    first = values[0] if values else None
    if isinstance(first, cst.Call):
        return re.search(r"(^|\.)optimizers\.\w+$|Optimizer$", dotted_name(first.func)) is not None
    return isinstance(first, cst.SimpleString) and _OPTIMIZER_NAME.match(str(first.evaluated_value)) is not None
