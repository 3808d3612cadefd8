"""A custom optimizer whose name is almost right."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.scanner.sites import Call, Site

_NAME = "NpuOptimizer"
_ADD = "tensorflow.ConfigProto().graph_options.rewrite_options.custom_optimizers.add"


def is_misspelled(name: str) -> bool:
    """Whether a name differs from NpuOptimizer by case, or by at most two edits."""
    return name != _NAME and (name.lower() == _NAME.lower() or _distance(name, _NAME) <= 2)


def _distance(a: str, b: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


@rule(
    id="NPU940",
    title="Misspelled NpuOptimizer",
    on="assign",
    why="TensorFlow ignores a custom optimizer that it does not know without a word, and the graph stays on the host.",
    done_when="The summary of `tf2npu run` names no session on TensorFlow.",
    source="RewriterConfig.custom_optimizers of TensorFlow 1.15; the adapter registers NpuOptimizer",
    examples=(
        Example.same(
            "o = c.graph_options.rewrite_options.custom_optimizers.add()\no.name = 'NPUOptimizer'",
            level="unsupported",
            write="o = c.graph_options.rewrite_options.custom_optimizers.add()\no.name = 'NpuOptimizer'",
        ),
        Example.same(
            "o = c.graph_options.rewrite_options.custom_optimizers.add()\no.name = 'NpuOptimizer'", note="the right name"
        ),
        Example.same(
            "o = c.graph_options.rewrite_options.custom_optimizers.add()\no.name = 'MyOptimizer'", note="another optimizer"
        ),
    ),
)
def misspelled_name(site: Site) -> None:
    """Reports a name of a custom optimizer that is almost NpuOptimizer."""
    if site.node.attr.value != "name":
        return
    value = next(v for t, v, _ in site.script.walked.attribute_assigns if t is site.node)
    name = text_of(value, site.scope)
    base: Any = site.node.value
    if name is not None and is_misspelled(name) and not (isinstance(base, cst.Name) and base.value == "self"):
        site.fix.site = (site.fix.site[0], site.script.tree.span(value)[1])
        site.unsupported(f"Write 'NpuOptimizer': TensorFlow knows no {name!r} and says nothing, so all would run on the host.")


@part_of(
    misspelled_name,
    matches=(_ADD,),
    examples=(
        Example.same(
            "c = tf.ConfigProto()\nc.graph_options.rewrite_options.custom_optimizers.add(name='npuOptimizer')",
            level="unsupported",
        ),
    ),
)
def misspelled_argument(call: Call) -> None:
    """Reports a name of a custom optimizer that is almost NpuOptimizer."""
    value = call.value("name")
    name = text_of(value, call.scope) if value is not None else None
    if name is not None and is_misspelled(name):
        call.unsupported(
            f"Write name='NpuOptimizer': TensorFlow knows no {name!r} and says nothing, so all would run on the host."
        )
