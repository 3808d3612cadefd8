"""Writes the graphs of a session's programs at the stages that are asked for. Numbers of files count up over the process.

Several processes may write into one folder, as the ranks of a job do: a number that a file there has is passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from npu_formats.files.lock import Busy
from npu_formats.files.whole_file import locked, put_text
from npu_runtime.compiler.compilation import Compilation, Observer, Step
from npu_runtime.executor.program import Program
from npu_runtime.graph.ops import CONSTANT
from npu_runtime.graph.text import to_text
from npu_runtime.log import tell_once
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.dump.operators import operators_of
from npu_runtime.observers.graph_files.device_graph import built_model, graph_model
from npu_runtime.observers.graph_files.onnx_graph import onnx_model
from npu_runtime.observers.graph_files.request import (
    BEGIN,
    BUILD,
    ONNX,
    OPTIMIZED,
    PROTO,
    READABLE,
    RELATIONS,
    SHAPES,
    WITH_WEIGHTS,
    GraphRequest,
    model_folder,
)  # fmt: skip
from npu_runtime.observers.loaded_program import Loading
from npu_runtime.observers.models import Model

_BEHIND = {"fold_constants": SHAPES, "find_constants": SHAPES, "optimise_bodies": OPTIMIZED}
"""The stage that is reached behind a step of our compiler: shapes are known, and what can be joined is."""
_NUMBERS = count(0)
_NUMBERED = re.compile(r"ge_(?:proto|onnx|readable)_(\d{8})_")
_PATIENCE_SECONDS = 60.0
"""Longest wait for other processes that write graphs into a folder: each writes for a second at most."""


class GraphFiles(SessionObserver):
    """The graph files of one session."""

    def __init__(self, request: GraphRequest) -> None:
        self.request = request

    def compiling(self, loading: Loading) -> None:
        """Write the stages of a compilation that has not begun, beside whoever else looks on, and what TensorFlow hands to the
        device, where that is asked for.
        """
        model, made = loading.model, loading.made
        made.observer = _Stages(self, model, made.observer)
        if self.request.prints_model:
            _put_model(model_folder(os.environ, self.request), f"TF_GeOp{model.number}", loading.users.text_of(made.graph.nodes))

    def compiled(self, loading: Loading, program: Program) -> None:
        """Write the last stage.  Beside a dump alone, a program that had nothing for the device has none: it has no dump either.
        Of one whose operators were all folded the file says what became of them.
        """
        if BUILD not in self.request.stages:
            return
        model, made, source_of = loading.model, loading.made, loading.users.source_of
        operators = operators_of(made.graph, program).all
        if self.request.wants_all or operators or any(node.op == CONSTANT for node in made.graph):
            self.write(model, BUILD, made, lambda: built_model(model.name, made, operators, source_of, self._with_weights))

    @property
    def _with_weights(self) -> bool:
        return self.request.content == WITH_WEIGHTS

    def stage(self, model: Model, stage: str, made: Compilation) -> None:
        if stage in self.request.stages:
            self.write(model, stage, made, lambda: graph_model(model.name, made.graph, self._with_weights))

    def write(self, model: Model, stage: str, made: Compilation, described: Callable[[], Any]) -> None:
        """The files of one moment, which have one number."""
        formats, graph, texts = self.request.formats, None, {}
        if PROTO in formats or ONNX in formats:
            graph = described()
        if PROTO in formats:
            texts["ge_proto_{}.txt"] = text_format.MessageToString(graph)
        if ONNX in formats:
            onnx = onnx_model(graph, self.request.content != RELATIONS)
            texts["ge_onnx_{}.pbtxt"] = text_format.MessageToString(onnx)
        if READABLE in formats:
            texts["ge_readable_{}.txt"] = to_text(made.graph)
        put_numbered(self.request.folder, f"graph_{model.number}_{stage}", texts)


class _Stages:
    """An observer of a compilation."""

    def __init__(self, files: GraphFiles, model: Model, others: Observer | None) -> None:
        self._files, self._model, self._others = files, model, others

    def begin(self, made: Compilation) -> None:
        if self._others is not None:
            self._others.begin(made)
        self._files.stage(self._model, BEGIN, made)

    def after(self, one: Step, made: Compilation) -> None:
        if self._others is not None:
            self._others.after(one, made)
        if one.name in _BEHIND:
            self._files.stage(self._model, _BEHIND[one.name], made)

    def inside(self) -> Observer | None:
        """Bodies of loops are part of the graph around them."""
        return None if self._others is None else self._others.inside()


def put_numbered(folder: Path, behind: str, texts: Mapping[str, str]) -> None:
    """Write texts, by their names with {} for what they share: the next number that is free in the folder, and what is behind."""
    with _telling(folder), locked(folder, _PATIENCE_SECONDS):
        taken = {int(found[1]) for found in map(_NUMBERED.match, os.listdir(folder)) if found}
        number = next(number for number in _NUMBERS if number not in taken)
        for name, text in texts.items():
            put_text(folder, name.format(f"{number:08d}_{behind}"), text)


def _put_model(folder: Path, name: str, text: str) -> None:
    """Write TensorFlow's graph; models of other processes may have the same number."""
    with _telling(folder), locked(folder, _PATIENCE_SECONDS):
        names = (f"{name}_{number}.pbtxt" for number in count(0))
        put_text(folder, next(each for each in names if not os.path.lexists(folder / each)), text)


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """Says once that a folder cannot be written, where it cannot, and goes on behind the block."""
    try:
        yield
    except (OSError, Busy) as error:
        why = getattr(error, "strerror", None) or error
        tell_once(f"Graph files: {folder} cannot be written ({why}): graphs are missing there")
