"""Ops and types that the public functions of TensorFlow put into a graph, forward and backward.

`python -m tools.op_inventory.build > tests/fixtures/ops/public_ops.json` under the TensorFlow to be listed builds every
function of recipes.txt in a graph of its own, takes the gradient by every placeholder and variable, and writes
{"version", "functions": {name: [op types]}, "ops": {op: {type attribute: [types]}}, "cpu": {op: {type attribute: [types]}},
"fails": {name: why}}; "cpu" is what TensorFlow's own CPU kernels are registered for.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf
import tensorflow.compat.v2 as v2
from tensorflow.python.framework import kernels, op_def_registry

from tools.op_inventory import inputs

RECIPES = Path(__file__).with_name("recipes.txt")
COMPLETE = ("nn", "nn.rnn_cell", "layers", "math", "image", "losses", "metrics", "keras.layers")
"""Modules every public name of which has a line in recipes.txt."""


RESULTS = "inventory_results"
"""Collection of what a call returned, and of its gradients."""


def recipes() -> dict[str, str | None]:
    """Expression by name; None where the function builds no op."""
    found: dict[str, str | None] = {}
    for line in RECIPES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, mark, rest = line.split(" ", 2)
            found[name] = rest if mark == "=" else None
    return found


def unlisted() -> list[str]:
    """Public functions and classes of the complete modules that no line names; other names of the same object count."""
    known: set[int] = set()
    lines = recipes()
    names = {f"{module}.{name}": value for module in COMPLETE for name, value in _public(module)}
    for name, value in names.items():
        if name in lines:
            known.add(id(value))
    return sorted(name for name, value in names.items() if id(value) not in known)


def _public(module: str) -> list[tuple[str, Any]]:
    owner: Any = tf
    for part in module.split("."):
        owner = getattr(owner, part)
    named = [(name, getattr(owner, name)) for name in sorted(dir(owner)) if not name.startswith("_")]
    return [(name, value) for name, value in named if callable(value) and not inspect.ismodule(value)]


def build(expression: str) -> tf.Graph:
    """The graph of one call and, where there is one, of its gradient."""
    with tf.Graph().as_default() as graph:
        names = {name: getattr(inputs, name) for name in dir(inputs) if not name.startswith("_")}
        made = eval(expression, {"tf": tf, "v2": v2, "K": tf.keras.layers, **names})
        for tensor in tf.nest.flatten(made, expand_composites=True):
            tf.add_to_collection(RESULTS, tensor)
        losses = [t for t in tf.nest.flatten(made, expand_composites=True) if isinstance(t, tf.Tensor) and t.dtype.is_floating]
        sources = [*tf.get_collection(inputs.SOURCES), *[v for v in tf.global_variables() if v.dtype.is_floating]]
        if losses and sources:
            _differentiate(losses, sources)
    return graph


def _differentiate(losses: list[Any], sources: list[Any]) -> None:
    """Put the gradient into the graph; an op without one ends it there."""
    try:
        for gradient in tf.gradients(losses, sources):
            if isinstance(gradient, tf.Tensor):
                tf.add_to_collection(RESULTS, gradient)
    except (LookupError, ValueError, TypeError) as error:
        print(f"  no gradient: {str(error).splitlines()[0][:120]}", file=sys.stderr)


def used_types(graph: tf.Graph) -> dict[str, dict[str, set[str]]]:
    """Types by op and type attribute, of the graph and of the functions it calls."""
    found: dict[str, dict[str, set[str]]] = {}
    definition = graph.as_graph_def()
    for node in [*definition.node, *[n for f in definition.library.function for n in f.node_def]]:
        types = found.setdefault(node.op, {})
        for name, value in node.attr.items():
            if value.HasField("type") and not name.startswith("_"):
                types.setdefault(name, set()).add(tf.as_dtype(value.type).base_dtype.name)
    return found


def cpu_types(op: str) -> dict[str, list[str]]:
    """Types that an op allows and TensorFlow's CPU kernels are registered for, by attribute."""
    found: dict[str, set[str]] = {}
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        if kernel.device_type == "CPU":
            for constraint in kernel.constraint:
                types = [tf.as_dtype(t).name for t in constraint.allowed_values.list.type]
                found.setdefault(constraint.name, set()).update(types)
    attrs = op_def_registry.get(op).attr
    possible = {attr.name: {tf.as_dtype(t).name for t in attr.allowed_values.list.type} for attr in attrs}
    return {name: sorted(types & (possible.get(name) or types)) for name, types in sorted(found.items())}


def inventory() -> dict[str, Any]:
    """Everything the file holds."""
    functions: dict[str, list[str]] = {}
    fails: dict[str, str] = {}
    ops: dict[str, dict[str, set[str]]] = {}
    for name, expression in recipes().items():
        if expression is None:
            continue
        try:
            used = used_types(build(expression))
        except Exception as error:  # whatever a function does not like is recorded with its name
            fails[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
            continue
        functions[name] = sorted(used)
        for op, types in used.items():
            for attr, values in types.items():
                ops.setdefault(op, {}).setdefault(attr, set()).update(values)
            ops.setdefault(op, {})
    listed = {op: {attr: sorted(values) for attr, values in sorted(types.items())} for op, types in sorted(ops.items())}
    known = [op for op in listed if op_def_registry.get(op) is not None]
    return {"version": tf.__version__, "functions": functions, "ops": listed,
            "cpu": {op: cpu_types(op) for op in known}, "fails": fails}  # fmt: skip


def as_text(found: dict[str, Any]) -> str:
    """JSON with one function or op a line."""
    parts = []
    for name, value in sorted(found.items()):
        if isinstance(value, dict):
            lines = [f"  {json.dumps(key)}: {json.dumps(entry, sort_keys=True)}" for key, entry in sorted(value.items())]
            parts.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}"


if __name__ == "__main__":
    tf.disable_v2_behavior()
    print(as_text(inventory()))
