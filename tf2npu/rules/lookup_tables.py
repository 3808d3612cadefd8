"""Lookup tables in the graph."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pipeline import in_pipeline
from tf2npu.scanner.sites import Call

_CONTRIB = (
    "HashTable", "IdTableWithHashBuckets", "MutableHashTable", "MutableDenseHashTable",
    "index_table_from_file", "index_table_from_tensor", "index_to_string_table_from_file", "index_to_string_table_from_tensor",
    "string_to_index", "index_to_string", "string_to_index_table_from_file", "string_to_index_table_from_tensor",
)  # fmt: skip
_LOOKUP = ("StaticHashTable", "StaticVocabularyTable", "experimental.DenseHashTable")


@rule(
    id="NPU932",
    title="Lookup table",
    matches=(*(f"tensorflow.contrib.lookup.{n}" for n in _CONTRIB), *(f"tensorflow.lookup.{n}" for n in _LOOKUP)),
    why="Tables are resources of the host, mostly with texts, which the NPU does not have.",
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
        Example.same("t = lookup.HashTable(i, 0)", note="not TensorFlow's"),
    ),
)
def lookup_table(call: Call) -> None:
    """Reports lookup tables outside of functions that run in the input pipeline."""
    if not in_pipeline(call):
        call.manual(
            "Look up in dataset.map(...), so that the graph gets numbers; where that cannot be, set mix_compile_mode=True "
            "in the session's or run's config."
        )
