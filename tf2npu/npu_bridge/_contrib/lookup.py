"""``tf.contrib.lookup``: tables under the signatures of TF 1.15."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops import lookup_ops
from tensorflow.python.ops.lookup_ops import (
    DenseHashTable,
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    InitializableLookupTableBase,
    KeyValueTensorInitializer,
    LookupInterface,
    MutableHashTable,
    StrongHashSpec,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_to_string_table_from_file,
)

__all__ = [
    "FastHashSpec", "HashTable", "HasherSpec", "IdTableWithHashBuckets", "InitializableLookupTableBase",
    "KeyValueTensorInitializer", "LookupInterface", "MutableDenseHashTable", "MutableHashTable", "StrongHashSpec",
    "TableInitializerBase", "TextFileIdTableInitializer", "TextFileIndex", "TextFileInitializer",
    "TextFileStringTableInitializer", "index_table_from_file", "index_table_from_tensor", "index_to_string",
    "index_to_string_table_from_file", "index_to_string_table_from_tensor", "string_to_index",
    "string_to_index_table_from_file", "string_to_index_table_from_tensor",
]  # fmt: skip
MutableDenseHashTable = DenseHashTable


class HashTable(tf.lookup.StaticHashTable):
    """A table that is filled once; ``init`` is the operation that does it."""

    def __init__(self, initializer: Any, default_value: Any, shared_name: str | None = None, name: str | None = None) -> None:
        self._shared_name = shared_name
        super().__init__(initializer, default_value, name)

    @property
    def init(self) -> tf.Operation:
        """The operation that fills the table."""
        return self.initializer


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> tf.Tensor:
    """The position of each string in ``mapping``."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None) -> tf.Tensor:
    """The string of ``mapping`` at each position."""
    return index_to_string_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: Any = tf.string,
    name: str | None = None,
) -> Any:
    """A table from the entries of ``mapping`` to their positions."""
    return lookup_ops.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> Any:
    """A table from the strings of ``mapping`` to their positions."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, tf.string, name)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> Any:
    """A table from the lines of a file to their numbers."""
    return index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, tf.string, name)


def index_to_string_table_from_tensor(mapping: Any, default_value: str = "UNK", name: str | None = None) -> Any:
    """A table from positions in ``mapping`` to its strings."""
    return lookup_ops.index_to_string_table_from_tensor(mapping, default_value, name)
