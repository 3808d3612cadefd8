"""Cells that hold cells in order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from mindspore.nn.cell import Cell


def _checked(cell: Any) -> Cell:
    if not isinstance(cell, Cell):
        raise TypeError(f"a list of cells takes cells, and got {cell!r}")
    return cell


class _Cells(Cell):
    """Cells by number: their parameters have the number before their names."""

    def _place(self, index: Any) -> str:
        """The name of a place.  Raises: TypeError, IndexError."""
        if not isinstance(index, int):
            raise TypeError(f"{self.cls_name}[{index!r}]: a whole number or a slice is needed")
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.cls_name}[{index}]: it has {len(self)} cells")
        return list(self._cells)[index]

    def _put(self, name: str, cell: Any) -> None:
        self._cells[name] = _checked(cell)
        if self._auto_prefix:
            cell.update_parameters_name(f"{name}.")

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __setitem__(self, index: int, cell: Cell) -> None:
        self._put(self._place(index), cell)

    def __delitem__(self, index: Any) -> None:
        gone = list(self._cells)[index] if isinstance(index, slice) else [self._place(index)]
        for name in gone:
            del self._cells[name]

    def append(self, cell: Cell) -> Cell:
        """Adds a cell at the end."""
        self._put(str(len(self)), cell)
        return self


class SequentialCell(_Cells):
    """Cells of which each takes what the one before gave: listed, in one list, or in an OrderedDict of names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and not isinstance(args[0], Cell):
            if not isinstance(args[0], (list, tuple, OrderedDict)):
                raise TypeError(f"SequentialCell({args[0]!r}): cells, a list or an OrderedDict of them are needed")
            named = args[0].items() if isinstance(args[0], OrderedDict) else enumerate(args[0])
        else:
            named = enumerate(args)
        for name, cell in named:
            self._put(str(name), cell)

    @property
    def cell_list(self) -> list[Cell]:
        """The cells."""
        return list(self._cells.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._cells.items())[index]))
        return self._cells[self._place(index)]

    def construct(self, input_data: Any) -> Any:
        for cell in self.cell_list:
            input_data = cell(input_data)
        return input_data


class CellList(_Cells):
    """Cells as a list.  auto_prefix: whether parameters get the number of their cell before their names."""

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix)
        if len(args) == 1:
            self.extend(args[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._cells.values())[index])
        return self._cells[self._place(index)]

    def __delitem__(self, index: Any) -> None:
        super().__delitem__(index)
        self._renumber(list(self._cells.values()))

    def _renumber(self, cells: list[Cell]) -> None:
        self._cells.clear()
        self._cells.update((str(number), cell) for number, cell in enumerate(cells))

    def insert(self, index: int, cell: Cell) -> None:
        """Puts a cell before that of a place."""
        cells = list(self)
        self._place(index)
        cells.insert(index, _checked(cell))
        if self._auto_prefix:
            cell.update_parameters_name(f"{index % len(self)}.")
        self._renumber(cells)

    def extend(self, cells: list[Cell]) -> CellList:
        """Adds cells at the end."""
        if not isinstance(cells, list):
            raise TypeError(f"CellList takes a list of cells, and got {cells!r}")
        for cell in cells:
            self.append(cell)
        return self

    __iadd__ = extend


__all__ = ["CellList", "SequentialCell"]
