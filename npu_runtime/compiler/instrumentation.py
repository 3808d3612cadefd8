"""Pass instrumentation: dumps and checks of a graph behind every step of the compiler, where options ask for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from npu_formats.files.whole_file import put_text
from npu_runtime.analysis.compute_types import type_remark
from npu_runtime.compiler.compilation import Compilation, Observer, Step, graph_text, streams_text
from npu_runtime.config import RuntimeConfig
from npu_runtime.graph.ops import WHILE
from npu_runtime.graph.text import to_text
from npu_runtime.graph.verify import verify


def observer(config: RuntimeConfig, name: str, is_whole: bool = False) -> Observer | None:
    """The observer that the options ask for; None where they ask for nothing.

    name: of what is compiled, for the files.  is_whole: whether the files before, typed and after are written, too.
    """
    dump = Dump(Path(config.dump_graph), name.replace(" ", "_").replace("/", "_"), is_whole) if config.dump_graph else None
    return Instrumentation(config.verify, dump) if config.verify or dump else None


@dataclass
class Dump:
    """Texts of one compilation in a folder: NAME_07_fold_constants.txt behind each step that changed something.

    is_whole: the compilation begins with the shapes of feeds and ends with a program, so there are also NAME_before.txt,
    NAME_typed.txt, if types were assigned, and NAME_after.txt.
    """

    folder: Path
    name: str
    is_whole: bool
    n_steps: int = 0
    last: dict[Callable[[Compilation], str], str] = field(default_factory=dict)
    """The last text of each kind."""

    def begin(self, made: Compilation) -> None:
        self.last.setdefault(graph_text, graph_text(made))

    def after(self, one: Step, made: Compilation) -> None:
        self.n_steps += 1
        text = one.shows(made)
        if self.last.get(one.shows) != text:
            self.last[one.shows] = text
            self._write(f"{self.n_steps:02d}_{one.name}", text)
        if self.is_whole and one.name in _LANDMARKS:
            self._write_landmark(one.name, made)

    def _write_landmark(self, step: str, made: Compilation) -> None:
        label, text = _LANDMARKS[step]
        if label != "typed" or not made.settings.policy.is_origin:
            self._write(label, text(made))

    def _write(self, label: str, text: str) -> None:
        put_text(self.folder, f"{self.name}_{label}.txt", text)


def _plain_text(made: Compilation) -> str:
    return to_text(made.graph)


def _typed_text(made: Compilation) -> str:
    return to_text(made.graph, type_remark)


_LANDMARKS: dict[str, tuple[str, Callable[[Compilation], str]]] = {
    "with_feed_shapes": ("before", _plain_text),
    "assign_precision": ("typed", _typed_text),
    "assign_streams": ("after", streams_text),
}
"""Steps behind which a file is written whatever has changed: the name of the file, and what makes its text."""


@dataclass
class Instrumentation:
    """verifies: whether the graph's invariants are checked behind every step, in bodies of loops too."""

    verifies: bool
    dump: Dump | None

    def begin(self, made: Compilation) -> None:
        if self.dump is not None:
            self.dump.begin(made)

    def after(self, one: Step, made: Compilation) -> None:
        if self.dump is not None:
            self.dump.after(one, made)
        if self.verifies:
            _verify(one, made)

    def inside(self) -> Observer | None:
        """Bodies are part of the text of the graph around them."""
        return Instrumentation(True, None) if self.verifies else None


def _verify(one: Step, made: Compilation) -> None:
    """Raises: ValueError naming the step behind which the graph, its prologue or a loop's body is broken."""
    graphs = [made.graph] if made.prologue is None else [made.graph, made.prologue]
    while graphs:
        graph = graphs.pop()
        try:
            verify(graph)
        except ValueError as error:
            raise ValueError(f"behind {one.name}: {error}") from None
        graphs += [node.attrs["loop"].graph for node in graph if node.op == WHILE]
