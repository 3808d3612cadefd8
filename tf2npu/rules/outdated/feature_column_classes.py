"""Classes of feature columns that scripts ask for by the private names of before TensorFlow 1.13."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Site

_MODULE = "tensorflow.python.feature_column.feature_column"
_CLASSES = (
    "NumericColumn", "BucketizedColumn", "EmbeddingColumn", "HashedCategoricalColumn", "VocabularyFileCategoricalColumn",
    "VocabularyListCategoricalColumn", "IdentityCategoricalColumn", "WeightedCategoricalColumn", "CrossedColumn",
    "IndicatorColumn", "SequenceCategoricalColumn",
)  # fmt: skip
"""Columns of tf.feature_column that 1.15 makes of other classes, which are not of the old ones; their bases and the shared
embeddings stayed.
"""
_NEW = "feature_column_v2"
_HEAD = "from tensorflow.python.feature_column import feature_column\nimport tensorflow as tf\n"
_NEW_HEAD = f"from tensorflow.python.feature_column import {_NEW}\n{_HEAD}"


@rule(
    id="NPU996",
    title="Classes of feature columns under their old names",
    on="reference",
    matches=tuple(f"{_MODULE}._{name}" for name in _CLASSES),
    why="Since TensorFlow 1.13 tf.feature_column makes columns of the classes in feature_column_v2. A test for the old class is "
    "never true, so that the columns go missing.",
    done_when="`tf2npu run` makes the estimator with all of its columns.",
    source="tensorflow/python/feature_column/feature_column_v2.py of TensorFlow 1.15.0",
    examples=(
        Example(
            f"{_HEAD}dense = [c for c in columns if isinstance(c, feature_column._NumericColumn)]",
            f"{_NEW_HEAD}dense = [c for c in columns if isinstance(c, {_NEW}.NumericColumn)]",
        ),
        Example(
            f"{_HEAD}print(isinstance(c, (feature_column._CrossedColumn, feature_column._HashedCategoricalColumn)))",
            f"{_NEW_HEAD}print(isinstance(c, ({_NEW}.CrossedColumn, {_NEW}.HashedCategoricalColumn)))",
        ),
        Example.same(f"{_HEAD}class Own(feature_column._NumericColumn):\n    pass", note="no test of a column"),
        Example.same(f"{_HEAD}print(isinstance(c, feature_column._DenseColumn))", note="a base of the new classes as well"),
    ),
)
def old_class(site: Site) -> None:
    """Names the class that columns have today in a test of their class."""
    if not _is_asked_for(site):
        return
    name = site.name.rpartition("._")[2]
    site.need_module(_MODULE.rpartition(".")[0], _NEW)
    site.replace(site.node, f"{_NEW}.{name}")
    site.fixed(f"Columns of tf.feature_column are of the class {name} in {_NEW} since TensorFlow 1.13; the test now asks for it.")


def _is_asked_for(site: Site) -> bool:
    """Whether a class is the second argument of isinstance, alone or in a tuple."""
    parents: dict[int, Any] = site.script.walked.parents
    node = site.node
    parent = parents.get(id(node))
    if isinstance(parent, cst.Element):
        node = parents.get(id(parent))
        parent = parents.get(id(node))
    call = parents.get(id(parent)) if isinstance(parent, cst.Arg) else parent
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value == "isinstance"
        and any(arg.value is node for arg in call.args[1:])
    )
