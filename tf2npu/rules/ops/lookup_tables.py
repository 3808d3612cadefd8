"""Lookup tables in the graph."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline
from tf2npu.rules.facts.written_code import mixed_computing
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import dotted_name

_CONTRIB = (
    "HashTable", "IdTableWithHashBuckets", "MutableHashTable", "MutableDenseHashTable",
    "index_table_from_file", "index_table_from_tensor", "index_to_string_table_from_file", "index_to_string_table_from_tensor",
    "string_to_index", "index_to_string", "string_to_index_table_from_file", "string_to_index_table_from_tensor",
)  # fmt: skip
_ADVICE = (
    "Look up in dataset.map(...), so that the graph gets numbers; where that cannot be, set mix_compile_mode=True in the "
    "session's or run's config."
)
_OF_THE_START = frozenset({"init", "initializer", "resource_handle"})
_LOOKUP = ("StaticHashTable", "StaticVocabularyTable", "experimental.DenseHashTable")


@rule(
    id="NPU932",
    title="Lookup table",
    matches=(*(f"tensorflow.contrib.lookup.{n}" for n in _CONTRIB), *(f"tensorflow.lookup.{n}" for n in _LOOKUP)),
    why="Tables are resources of the host, mostly with texts, which the NPU does not have.",
    done_when="The summary of `tf2npu run` names no table among the nodes on the host, or mix_compile_mode is among the options.",
    source="TensorFlow adapter porting guide: table and resource ops need mixed computing outside of the input pipeline",
    examples=(
        Example.same(
            "t = tf.contrib.lookup.index_table_from_file('vocab.txt')",
            level="manual",
            write="def f(x):\n    return tf.contrib.lookup.index_table_from_file('vocab.txt').lookup(x)\nd = d.map(f)",
        ),
        Example.same("t = tf.lookup.StaticHashTable(i, 0)", level="manual"),
        Example.same(
            "def f(x):\n    return tf.contrib.lookup.index_table_from_file('v').lookup(x)\nd = d.map(f)", note="in a pipeline"
        ),
        Example.same(
            "def f(d):\n    t = tf.contrib.lookup.index_table_from_file('v')\n    return d.map(lambda x: t.lookup(x))",
            note="looked up in a pipeline only",
        ),
        Example.same("t = lookup.HashTable(i, 0)", note="not TensorFlow's"),
    ),
)
def lookup_table(call: Call) -> None:
    """Reports lookup tables outside of functions that run in the input pipeline."""
    outside = None if in_pipeline(call) else _lines_outside(call)
    if in_pipeline(call) or outside == []:
        return None
    if call.script.path in tensorflow_in(call.script.project).mixed_graphs:
        return call.info(
            "The host looks this table up, and every step waits for it. mix_compile_mode is set (or asked for) at the "
            "session. A lookup in dataset.map is faster."
        )
    where = f" Outside of the pipeline it is used in line {', '.join(map(str, outside))}." if outside else ""
    return call.manual(_ADVICE + where, mixed_computing(call))


def _lines_outside(call: Call) -> list[int] | None:
    """Lines in which a table that has a name is used outside of the input pipeline; None where its uses cannot all be seen."""
    walked = call.script.walked
    target: Any = walked.parents.get(id(call.node))
    name = target.targets[0].target if isinstance(target, cst.Assign) and len(target.targets) == 1 else None
    if not isinstance(name, cst.Name) or call.scope.function is None:
        return None  # what is bound in a module other files may use
    owner, lines, n_lookups = call.scope.lookup_scope(name.value), [], 0
    for node, scope in walked.references:
        if dotted_name(node).split(".")[0] != name.value or scope.lookup_scope(name.value) is not owner:
            continue
        use = dotted_name(node).partition(".")[2]
        if use == "lookup":
            n_lookups += 1
            if not in_pipeline(Site(call.script, call.fix.rule, node, scope)):
                lines.append(call.script.span(*call.script.tree.span(node)).line)
        elif use not in _OF_THE_START:
            return None
    return lines if n_lookups else None
