"""The step that applies operations to columns of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._step import Step, as_names, places


class Map(Step):
    """Operations over the input columns, whose results get the names of the output columns.

    As many results as inputs stand in the inputs' places; otherwise results come first, and then the columns that were not read.
    """

    def __init__(self, names: Sequence[str], operations, input_columns=None, output_columns=None, column_order=None):
        inputs = as_names(input_columns, "map: input_columns") or list(names[:1])
        outputs = as_names(output_columns, "map: output_columns") or inputs
        self.operations = as_operations(operations)
        self.inputs, self.outputs = places(names, inputs, "map"), outputs
        self.kept = [place for place in range(len(names)) if place not in self.inputs]
        self.in_place = len(outputs) == len(inputs)
        made = outputs + [names[place] for place in self.kept]
        if self.in_place:
            renamed = dict(zip(inputs, outputs, strict=True))
            laid_out = [renamed.get(name, name) for name in names]
            self.order = places(made, laid_out, "map")
            made = laid_out
        else:
            self.order = list(range(len(made)))
        if len(set(made)) != len(made):
            raise RuntimeError(f"map: output_columns {outputs} would give the columns {made}, two of one name; give other names")
        chosen = as_names(column_order, "map: column_order")
        self.order = [self.order[place] for place in places(made, chosen, "map: column_order")] if chosen else self.order
        super().__init__(chosen or made)

    def rows(self, run, *above):
        operations = [run.own(operation) for operation in self.operations]
        for number, row in enumerate(above[0]()):
            results = self._applied(operations, tuple(row[place] for place in self.inputs), number)
            made = results + tuple(row[place] for place in self.kept)
            yield tuple(made[place] for place in self.order)

    def _applied(self, operations, columns: tuple, number: int) -> tuple:
        for operation in operations:
            try:
                result = operation(*columns)
                columns = tuple(as_column(one) for one in (result if isinstance(result, tuple) else (result,)))
            except Exception as error:
                raise RuntimeError(
                    f"map: {name_of(operation)} failed on row {number}: {type(error).__name__}: {error}"
                ) from error
        if len(columns) != len(self.outputs):
            raise RuntimeError(
                f"map: {name_of(operations[-1])} gave {len(columns)} columns for the names {self.outputs}; give as many "
                "output_columns as there are results"
            )
        return columns


def as_operations(operations) -> list:
    listed = list(operations) if isinstance(operations, (list, tuple)) else [operations]
    if not listed:
        raise ValueError("map: the list of operations is empty; give at least one")
    for operation in listed:
        if isinstance(operation, type):
            raise TypeError(f"map: {operation.__name__} is a class; write {operation.__name__}() with its arguments")
        if not callable(operation):
            raise TypeError(f"map: {operation!r} cannot be called; give transforms or Python functions")
    return listed


def as_column(value) -> np.ndarray:
    """An array of what an operation or a source gave."""
    if isinstance(value, np.ndarray):
        column = value
    elif hasattr(value, "asnumpy"):
        column = value.asnumpy()
    elif value is None:
        raise TypeError("it gave None where an array has to be; return the value")
    else:
        column = np.array(value)
    if column.dtype == object:
        raise TypeError("it gave values that make no array of numbers or texts; give all of them the same shape")
    return column


def name_of(operation) -> str:
    return getattr(operation, "__name__", None) or type(operation).__name__
