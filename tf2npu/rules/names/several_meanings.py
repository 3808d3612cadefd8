"""Calls of a name that is TensorFlow's by one of its bindings and something else by another."""

from __future__ import annotations

from typing import Any

from tf2npu.rules.base import Example, registered, rule
from tf2npu.scanner.names import canonical, is_framework, root_of
from tf2npu.scanner.scopes import Binding, Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_TRY = "import tensorflow as tf\ntry:\n    from {} import Estimator\nexcept ImportError:\n    from {} import Estimator\n{}"


@rule(
    id="NPU953",
    title="A name with several meanings",
    on="module",
    why="What is TensorFlow's in one branch and something else in another cannot be rewritten for both.",
    done_when="The name stands for one thing in the file, and the next `tf2npu convert` converts it or leaves it.",
    source="An import in try and except, or in the branches of an if, binds whichever is executed",
    examples=(
        Example.same(
            _TRY.format("tensorflow.estimator", "mylib", "e = Estimator(model_fn=f)"),
            level="manual",
            write="import tensorflow as tf\nfrom mylib import Estimator\ne = Estimator(model_fn=f)",
        ),
        Example.same(_TRY.format("mylib.v2", "mylib", "e = Estimator(model_fn=f)"), note="never TensorFlow's"),
        Example.same(_TRY.format("tensorflow.estimator", "mylib", "print(Estimator)"), note="nothing is made with it here"),
    ),
)
def several_meanings(site: Site) -> None:
    """Reports calls that a rule would rewrite, were it certain what their name means."""
    script = site.script
    if not any(_ours_and_others(bindings) for scope in script.walked.scope_of.values() for bindings in scope.names.values()):
        return
    wanted = _rewritten()
    for call, scope in script.walked.calls:
        meaning = _one_meaning(call.func, scope)
        if meaning is None or meaning[0] not in wanted or script.name_of(call.func, scope) is not None:
            continue
        (name, other), here = meaning, dotted_name(call.func)
        site.fix.site = script.tree.span(call)
        site.manual(
            f"{here} is {name.replace('tensorflow.', 'tf.', 1)} here, or what line {_line(script, other)} makes of it, so it is "
            "left alone: give each a name of its own, or keep one of them. For TensorFlow's see "
            f"{' and '.join(wanted[name])}."
        )


def _rewritten() -> dict[str, list[str]]:
    """The names whose calls are rewritten, with the rules that do it."""
    found: dict[str, list[str]] = {}
    for rule_id, parts in sorted(registered().items()):
        for part in parts if not rule_id.startswith("NPU9") else ():
            for name in part.matches if part.on == "call" else ():
                if rule_id not in found.setdefault(name, []):
                    found[name].append(rule_id)
    return found


def _one_meaning(func: Any, scope: Scope) -> tuple[str, Binding] | None:
    """TensorFlow's name for a function whose root has other bindings too, and the first of those."""
    name = dotted_name(func)
    root = root_of(name)
    found = _ours_and_others(scope.lookup(root)) if root else None
    if found is None:
        return None
    ours, other = found
    return canonical(ours.target + name[len(root) :]), other


def _ours_and_others(bindings: list[Binding]) -> tuple[Binding, Binding] | None:
    """The first import of TensorFlow's and the first of something else, where there are both.

    A variable of that name is no second source of the same thing: it hides TensorFlow's on purpose.
    """
    first: dict[bool, Binding] = {}
    for binding in bindings:
        if binding.kind == "import":
            first.setdefault(binding.level == 0 and is_framework(binding.target), binding)
    return (first[True], first[False]) if len(first) == 2 else None


def _line(script: Script, binding: Binding) -> int:
    return script.lines.position(script.tree.span(binding.node)[0])[0]
