"""Cells of tables whose rows stand for whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore.common.dtype import Type, float32, int32
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import ClipByNorm
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class Embedding(Cell):
    """Rows of a table.  padding_idx: the row that begins with zeros.  Source: nn.Embedding of r1.1."""

    def __init__(
        self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal",
        dtype: Type = float32, padding_idx: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.vocab_size = check.positive_int(vocab_size, "vocab_size", "Embedding")
        self.embedding_size = check.positive_int(embedding_size, "embedding_size", "Embedding")
        self.use_one_hot, self.dtype, self.padding_idx = use_one_hot, dtype, padding_idx
        table = initializer(embedding_table, [vocab_size, embedding_size])
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(f"Embedding(padding_idx={padding_idx}): a number from 0 to {vocab_size - 1} is needed")
            rows = np.array(table.asnumpy())
            rows[padding_idx] = 0
            table = Tensor(rows)
        self.embedding_table = Parameter(table, name="embedding_table")
        self.gather, self.one_hot, self.matmul = P.GatherV2(), P.OneHot(), P.MatMul()

    def construct(self, ids: Any) -> Any:
        flat = F.reshape(ids, (-1,))
        if self.use_one_hot:
            hot = self.one_hot(flat, self.vocab_size, F.cast(1.0, self.dtype), F.cast(0.0, self.dtype))
            rows = self.matmul(hot, self.embedding_table)
        else:
            rows = self.gather(self.embedding_table, flat, 0)
        return F.reshape(rows, (*ids.shape, self.embedding_size))

    def extend_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}"


class EmbeddingLookup(Cell):
    """Rows of a table, which may lie on the host: here it makes no difference."""

    BATCH_SLICE, FIELD_SLICE = "batch_slice", "field_slice"
    TABLE_ROW_SLICE, TABLE_COLUMN_SLICE = "table_row_slice", "table_column_slice"

    def __init__(
        self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", manual_shapes: Any = None, max_norm: float | None = None, sparse: bool = True,
        vocab_cache_size: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        check.flag(sparse, "sparse", "EmbeddingLookup")
        self.target = check.one_of(target, ("CPU", "DEVICE"), "target", "EmbeddingLookup")
        if not sparse and target == "CPU":
            raise ValueError('EmbeddingLookup(sparse=False, target="CPU"): a table on the host is sparse')
        self.vocab_size = check.positive_int(vocab_size, "vocab_size", "EmbeddingLookup")
        self.embedding_size = check.positive_int(embedding_size, "embedding_size", "EmbeddingLookup")
        self.embedding_table = Parameter(initializer(param_init, [vocab_size, embedding_size]), name="embedding_table")
        self.max_norm = None if max_norm is None else check.positive_float(max_norm, "max_norm", "EmbeddingLookup")
        self.lookup, self.gather = P.EmbeddingLookup(), P.GatherV2()

    def construct(self, indices: Any) -> Any:
        is_host = self.target == "CPU"
        rows = self.lookup(self.embedding_table, indices, 0) if is_host else self.gather(self.embedding_table, indices, 0)
        if self.max_norm is None:
            return rows
        return ClipByNorm(tuple(range(len(indices.shape), len(rows.shape))))(rows, self.max_norm)


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """Rows of a table by weights, joined field by field: their sum, mean or greatest numbers."""

    OPERATOR_SUM, OPERATOR_MEAN, OPERATOR_MAX = "SUM", "MEAN", "MAX"

    def __init__(
        self, vocab_size: int, embedding_size: int, field_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", feature_num_list: Any = None, max_norm: float | None = None, sparse: bool = True,
        operator: str = "SUM",
    ) -> None:  # fmt: skip
        super().__init__(vocab_size, embedding_size, param_init, target, slice_mode, feature_num_list, max_norm, sparse)
        self.field_size = check.positive_int(field_size, "field_size", "MultiFieldEmbeddingLookup")
        self.operator = check.one_of(operator, ("SUM", "MEAN", "MAX"), "operator", "MultiFieldEmbeddingLookup")

    def construct(self, input_indices: Any, input_values: Any, field_ids: Any) -> Any:
        batch = input_indices.shape[0]
        number = batch * self.field_size
        first = Tensor(np.arange(0, number, self.field_size, dtype=np.int32).reshape(batch, 1))
        fields = F.reshape(F.cast(field_ids, int32) + first, (-1,))
        weights = F.reshape(input_values, (-1, 1))
        rows = F.reshape(super().construct(input_indices), (-1, self.embedding_size)) * weights
        if self.operator == "MAX":
            return F.reshape(self._greatest(rows, weights, fields, number), (batch, self.field_size, -1))
        total = P.UnsortedSegmentSum()(rows, fields, number)
        if self.operator == "MEAN":
            total = P.DivNoNan()(total, P.UnsortedSegmentSum()(P.Abs()(weights), fields, number))
        return F.reshape(total, (batch, self.field_size, -1))

    @staticmethod
    def _greatest(rows: Any, weights: Any, fields: Any, number: int) -> Any:
        """The greatest numbers of each field, of rows whose weight is not 0; zeros for a field without one."""
        lowest = F.cast(F.equal(weights, 0.0), float32) * -3.402823466e38
        found = P.UnsortedSegmentMax()(rows + lowest, fields, number)
        count = P.UnsortedSegmentSum()(P.Abs()(weights), fields, number)
        return found * F.cast(F.not_equal(count, 0.0), float32)


__all__ = ["Embedding", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]
