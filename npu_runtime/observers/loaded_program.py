"""A program as its observers are told of it: while it is compiled, and when it is ready to run."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from npu_runtime.compiler.compilation import Compilation
from npu_runtime.executor.program import Program
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.spec import Spec
from npu_runtime.observers.models import Model, load_model
from npu_runtime.trace.run_log import ProgramRecord


class UserGraph(Protocol):
    """The user's graph, as the importer of a framework follows it."""

    graph: Graph

    def source_of(self, name: str) -> str:
        """The line "file:line" of the user's that made a node, "" if unknown."""

    def text_of(self, names: Iterable[str]) -> str:
        """Nodes as the framework writes them down."""

    def lines_of_input(self, name: str) -> tuple[str, ...]:
        """The lines of the user's that made an input."""


@dataclass(frozen=True, eq=False)
class Loading:
    """A program that is being compiled.

    made: its compilation.  asked: its graph before that, pruned for the request.  users: the whole graph.  inputs: names of what
    gives a step its shapes.  record: of its kind of run.
    """

    made: Compilation
    asked: Graph
    users: UserGraph
    inputs: Sequence[str]
    record: ProgramRecord

    @cached_property
    def model(self) -> Model:
        """The name and number of the program, which the files of all observers share."""
        return load_model()


@dataclass(frozen=True, eq=False)
class LoadedProgram:
    """A program that is ready to run.

    request: tells its kind of run from others; programs for other shapes share it.  order: names of its steps.  fetched: specs of
    the fetches.  variable_bytes: of the session.
    """

    request: Hashable
    record: ProgramRecord
    program: Program
    order: Sequence[str]
    fetched: Sequence[Spec]
    variable_bytes: int
