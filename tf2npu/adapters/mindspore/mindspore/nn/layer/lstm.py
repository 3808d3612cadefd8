"""Cells of recurrent networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore.common.dtype import float16
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.seed import generator
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.basic import Dropout
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class LSTM(Cell):
    """LSTM layers over (x, (h, c)), in float16 as on the card: (y, (h, c)).

    x is (time, batch, features), or with batch_first (batch, time, features); h and c are (layers * directions, batch, hidden).
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True, batch_first: bool = False,
        dropout: float = 0, bidirectional: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.batch_first = check.flag(batch_first, "batch_first", "LSTM")
        self.hidden_size = check.positive_int(hidden_size, "hidden_size", "LSTM")
        self.num_layers = check.positive_int(num_layers, "num_layers", "LSTM")
        if not 0 <= dropout <= 1:
            raise ValueError(f"LSTM(dropout={dropout}): a number from 0 to 1 is needed")
        self.bidirectional, self.dropout = bidirectional, dropout
        self.dropout_op = P.ZerosLike() if dropout == 1 else Dropout(float(1 - dropout))
        self.rnn, self.reverse = P.DynamicRNN(forget_bias=0.0), P.ReverseV2((0,))
        kinds = ("fw", "bw") if bidirectional else ("fw",)
        names = [f"{kind}{layer}" for layer in range(num_layers) for kind in kinds]
        wide = hidden_size * len(kinds)
        sizes = [input_size if i < len(kinds) else wide for i in range(len(names))]
        self.w_list = ParameterTuple(
            self._uniform(f"weight_{n}", size + hidden_size) for n, size in zip(names, sizes, strict=True)
        )
        self.b_list = ParameterTuple(self._uniform(f"bias_{n}", None if has_bias else 0) for n in names)

    def _uniform(self, name: str, rows: int | None) -> Parameter:
        """A weight of so many rows; None for a bias, 0 for one of zeros."""
        bound = 1 / math.sqrt(self.hidden_size) if rows != 0 else 0.0
        shape = (rows, 4 * self.hidden_size) if rows else (4 * self.hidden_size,)
        return Parameter(Tensor(generator("initial values").uniform(-bound, bound, shape).astype(np.float16)), name)

    def _layer(self, x: Any, number: int, h: Any, c: Any) -> tuple[Any, Any, Any]:
        """(y, last h, last c) of a layer in one direction."""
        first = slice(number, number + 1)
        y, all_h, all_c = self.rnn(x, self.w_list[number], self.b_list[number], None, h[first], c[first])[:3]
        return y, all_h[-1:], all_c[-1:]

    def construct(self, x: Any, hx: Any) -> Any:
        h, c = (F.cast(one, float16) for one in hx)
        x = F.cast(x, float16)
        x = P.Transpose()(x, (1, 0, 2)) if self.batch_first else x
        last = []
        for layer in range(self.num_layers):
            x, *found = self._both_ways(x, layer, h, c)
            last += found
            if self.dropout and layer < self.num_layers - 1:
                x = self.dropout_op(x)
        x = P.Transpose()(x, (1, 0, 2)) if self.batch_first else x
        return x, (P.Concat(0)(tuple(last[::2])), P.Concat(0)(tuple(last[1::2])))

    def _both_ways(self, x: Any, layer: int, h: Any, c: Any) -> tuple[Any, ...]:
        """(y, h, c) of a layer, or (y, h, c, h, c) of both directions."""
        if not self.bidirectional:
            return self._layer(x, layer, h, c)
        y, *there = self._layer(x, 2 * layer, h, c)
        back_y, *back = self._layer(self.reverse(x), 2 * layer + 1, h, c)
        return P.Concat(2)((y, self.reverse(back_y))), *there, *back


__all__ = ["LSTM"]
