"""Writes the graphs of a session's programs at the stages that are asked for. Numbers of files count up over the process."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from npu_runtime.compilation import Compilation, Observer, Step
from npu_runtime.dump.models import Model
from npu_runtime.executor.program import Program
from npu_runtime.graph.text import to_text
from npu_runtime.graph_files.device_graph import built_model, graph_model
from npu_runtime.graph_files.onnx_graph import onnx_model
from npu_runtime.graph_files.request import (
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
from npu_runtime.notices import tell_once
from npu_runtime.whole_file import put_text

_BEHIND = {"fold_constants": SHAPES, "optimise_bodies": OPTIMIZED}
"""The stage that is reached behind a step of our compiler: shapes are known, and what can be joined is."""
_NUMBERS = count(0)


class GraphFiles:
    """Of one session."""

    def __init__(self, request: GraphRequest) -> None:
        self.request = request

    def follow(self, model: Model, made: Compilation, text: Callable[[], str]) -> None:
        """Write the stages of a compilation that has not begun, beside whoever else looks on.

        text: makes the text of what TensorFlow hands to the device, which is written where that is asked for.
        """
        made.observer = _Stages(self, model, made.observer)
        if self.request.prints_model:
            _put(model_folder(os.environ, self.request), f"TF_GeOp{model.number}_0.pbtxt", text)

    def built(self, model: Model, made: Compilation, program: Program) -> None:
        """Write the last stage."""
        if BUILD in self.request.stages:
            self.write(model, BUILD, made, lambda: built_model(model.name, made, program, self._with_weights))

    @property
    def _with_weights(self) -> bool:
        return self.request.content == WITH_WEIGHTS

    def stage(self, model: Model, stage: str, made: Compilation) -> None:
        if stage in self.request.stages:
            self.write(model, stage, made, lambda: graph_model(model.name, made.graph, self._with_weights))

    def write(self, model: Model, stage: str, made: Compilation, described: Callable[[], Any]) -> None:
        """The files of one moment, which have one number."""
        name = f"{next(_NUMBERS):08d}_graph_{model.number}_{stage}"
        folder, formats, graph = self.request.folder, self.request.formats, None
        if PROTO in formats or ONNX in formats:
            graph = described()
        if PROTO in formats:
            _put(folder, f"ge_proto_{name}.txt", lambda: text_format.MessageToString(graph))
        if ONNX in formats:
            onnx = onnx_model(graph, self.request.content != RELATIONS)
            _put(folder, f"ge_onnx_{name}.pbtxt", lambda: text_format.MessageToString(onnx))
        if READABLE in formats:
            _put(folder, f"ge_readable_{name}.txt", lambda: to_text(made.graph))


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


def _put(folder: Path, name: str, text: Callable[[], str]) -> None:
    """Write a file whole; where that fails, say so once and go on."""
    try:
        put_text(folder, name, text())
    except OSError as error:
        tell_once(f"Graph files: {folder} cannot be written ({error.strerror or error}): graphs are missing there")
