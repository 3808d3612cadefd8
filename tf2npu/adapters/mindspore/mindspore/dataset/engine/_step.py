"""The steps that change the order or the number of rows.

A step knows the names of its columns, makes an iterator over the rows of one epoch from those of the steps above it, and says how
many rows an epoch has if it knows. All that a pass changes stands in its `Run`.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..core.random_numbers import Run

Row = tuple
Epoch = Callable[[], Iterator[Row]]
"""A call that begins an epoch of a step above."""


class Step:
    """One step of a pipeline.  names: of its columns."""

    without_rows = "has no rows: give it data"
    """The end of the message where a source gives no row."""
    batch_size: int | None = None
    repeat_count: int | None = None

    def __init__(self, names: Sequence[str]):
        self.names = list(names)

    def rows(self, run: Run, *above: Epoch) -> Iterator[Row]:
        """The rows of one epoch; those of the step above, unless a subclass says otherwise."""
        return above[0]()

    def size(self, *above: int | None) -> int | None:
        """Rows of an epoch; None where only a pass tells."""
        return above[0]


def places(names: Sequence[str], wanted: Sequence[str], who: str) -> list[int]:
    """Places of columns among the names, or an error that lists those that are there."""
    for name in wanted:
        if name not in names:
            raise RuntimeError(f"{who}: there is no column {name!r}; the columns here are {', '.join(map(repr, names))}")
    return [names.index(name) for name in wanted]


def as_names(columns, who: str) -> list[str]:
    """Names of columns as a list without twins; one name may stand alone."""
    listed = [columns] if isinstance(columns, str) else list(columns or [])
    for name in listed:
        if not isinstance(name, str) or not name:
            raise TypeError(f"{who}: {name!r} is no name of a column; give texts that are not empty")
    if len(set(listed)) != len(listed):
        raise ValueError(f"{who}: a column stands twice in {listed}; give each name once")
    return listed


def whole_number(who: str, name: str, value, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{who}: {name} is {value!r}; give a whole number from {least} on")
    if value < least:
        raise ValueError(f"{who}: {name} is {value}; give a whole number from {least} on")
    return int(value)


class Shuffle(Step):
    """Rows drawn from a buffer that is filled up from above.  seed: of an order that is the same in all epochs and runs."""

    def __init__(self, names, buffer_size: int, seed: int | None = None):
        super().__init__(names)
        self.buffer_size, self.seed = buffer_size, seed

    def rows(self, run, *above):
        random = run.random(self) if self.seed is None else np.random.RandomState(self.seed)
        buffer: list[Row] = []
        for row in above[0]():
            buffer.append(row)
            if len(buffer) == self.buffer_size:
                drawn = random.randint(len(buffer))
                buffer[drawn], buffer[-1] = buffer[-1], buffer[drawn]
                yield buffer.pop()
        yield from (buffer[place] for place in random.permutation(len(buffer)))


class Repeat(Step):
    """All rows several times, or for ever."""

    def __init__(self, names, count: int):
        super().__init__(names)
        self.count = self.repeat_count = count

    def rows(self, run, *above):
        for _ in itertools.repeat(None) if self.count < 0 else range(self.count):
            row = None
            for row in above[0]():
                yield row
            if row is None:
                return  # a pass without rows, which no repetition helps

    def size(self, *above):
        return above[0] if self.count < 0 or above[0] is None else above[0] * self.count


class Take(Step):
    """The first rows alone."""

    def __init__(self, names, count: int):
        super().__init__(names)
        self.count = count

    def rows(self, run, *above):
        return itertools.islice(above[0](), self.count)

    def size(self, *above):
        return None if above[0] is None else min(self.count, above[0])


class Skip(Step):
    """All rows but the first."""

    def __init__(self, names, count: int):
        super().__init__(names)
        self.count = count

    def rows(self, run, *above):
        return itertools.islice(above[0](), self.count, None)

    def size(self, *above):
        return None if above[0] is None else max(0, above[0] - self.count)


class Zip(Step):
    """Columns of several pipelines beside each other, until the first one ends."""

    def __init__(self, *names: Sequence[str]):
        joined = [name for each in names for name in each]
        if twins := sorted({name for name in joined if joined.count(name) > 1}):
            raise RuntimeError(f"zip: column {twins[0]!r} stands in several datasets; call rename on one of them first")
        super().__init__(joined)

    def rows(self, run, *above):
        return (sum(parts, ()) for parts in builtins.zip(*(epoch() for epoch in above), strict=False))

    def size(self, *above):
        return None if None in above else min(above)


class Concat(Step):
    """Rows of several pipelines one after the other, whose columns have the same names, types and numbers of axes."""

    def __init__(self, *names: Sequence[str]):
        super().__init__(names[0])
        for other in names[1:]:
            if list(other) != self.names:
                raise RuntimeError(
                    f"concat: the columns are {self.names} and {list(other)}; rename or project one of the datasets"
                )

    def rows(self, run, *above):
        first = None
        for epoch in above:
            for number, row in enumerate(epoch()):
                if number == 0:
                    kinds = [(column.dtype, column.ndim) for column in row]
                    first = first or kinds
                    self._compare(first, kinds)
                yield row

    def _compare(self, first, kinds) -> None:
        for name, (old, rank), (new, new_rank) in builtins.zip(self.names, first, kinds, strict=True):
            if (old.kind not in "SU" and old != new) or rank != new_rank:
                raise RuntimeError(
                    f"concat: column {name!r} is {old} with {rank} axes in the first dataset and {new} with {new_rank} axes in "
                    "another; cast it with TypeCast in map first"
                )

    def size(self, *above):
        return None if None in above else sum(above)


class Filter(Step):
    """The rows for which a predicate is true."""

    def __init__(self, names, predicate, input_columns):
        super().__init__(names)
        self.predicate = predicate
        self.places = places(self.names, input_columns or self.names, "filter")

    def rows(self, run, *above):
        return (row for row in above[0]() if np.all(self.predicate(*(row[place] for place in self.places))))

    def size(self, *above):
        return None


class Columns(Step):
    """Some columns in some order, under the same or other names."""

    def __init__(self, names, taken: list[int]):
        super().__init__(names)
        self.taken = taken

    def rows(self, run, *above):
        return (tuple(row[place] for place in self.taken) for row in above[0]())


class FlatMap(Step):
    """Rows of a pipeline that a function makes of each row.  begin: gives an epoch of such a pipeline in a run."""

    def __init__(self, names, function, begin):
        super().__init__(names)
        self.function, self.begin = function, begin

    def rows(self, run, *above):
        for row in above[0]():
            yield from self.begin(self.function(*row), run)

    def size(self, *above):
        return None
