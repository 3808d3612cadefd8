"""The record of Horovod, which is no framework of its own: rules of the frameworks that it serves look at its names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tf2npu.api_support.table import table
from tf2npu.findings import Seen
from tf2npu.frameworks.base import FoundFacts, Framework, ParsedFile, instance_of
from tf2npu.frameworks.horovod.names import canonical, is_horovod
from tf2npu.frameworks.horovod.project import NAME, HorovodProject, horovod_in
from tf2npu.scanner.project_facts import ProjectFacts

if TYPE_CHECKING:
    from tf2npu.config import Config

# A rule that takes one of these calls out puts None there, and the name that gets it must mean the same before and after.
_GIVING_NOTHING = frozenset({
    "horovod.tensorflow.init", "horovod.tensorflow.shutdown", "horovod.tensorflow.keras.init",
    "horovod.tensorflow.keras.shutdown",
})  # fmt: skip


def _returned(name: str) -> str | None:
    return "None" if name in _GIVING_NOTHING else instance_of(name)


def _facts(file: ParsedFile) -> FoundFacts:
    imports = _imports(file.import_statements)
    return FoundFacts(distribution=tuple((NAME, Seen(file.path, line, module)) for module, line in imports))


def _imports(nodes: list[ast.Import | ast.ImportFrom]) -> Iterator[tuple[str, int]]:
    """Modules of Horovod that import statements name, with their lines."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if is_horovod(alias.name))
        elif node.level == 0 and any(is_horovod(name) for name in _names(node)) and is_horovod(node.module or ""):
            yield node.module or "", node.lineno


def _names(node: ast.ImportFrom) -> list[str]:
    return [f"{node.module}.{alias.name}" for alias in node.names]


def _settings(config: Config, path: str, project: ProjectFacts) -> Config:
    """A file that cannot do without Horovod is not distributed in the other way: its gradients would be averaged twice."""
    is_left = config.distributed == "tf" and path in horovod_in(project).of_horovod
    return replace(config, distributed="none") if is_left else config


FRAMEWORK = Framework(
    name=NAME,
    title="Horovod",
    roots=frozenset({"horovod"}),
    mention="horovod",
    canonical=canonical,
    returned=_returned,
    starts=frozenset({"horovod.tensorflow.init", "horovod.tensorflow.keras.init"}),
    api_roots=("horovod",),
    apis=table,
    no_api="no public name of TensorFlow 1.15",
    facts=_facts,
    part=HorovodProject,
    settings=_settings,
)
