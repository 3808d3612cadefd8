"""Import statements that name something of CUDA, as they are written for the NPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst

from npu_formats.pytorch.cuda_names import CudaName
from tf2npu.frameworks.pytorch.cuda_names import npu_name
from tf2npu.scanner.tree_walk import dotted_name

NPU, REAL_NPU = "torch.npu", "torch_npu.npu"
"""The module as an attribute of torch, and the module that an import finds on every release."""
_CLASSES_LIKE_MODULES = frozenset((f"{REAL_NPU}.mstx", f"{REAL_NPU}.backends"))
"""Names of torch_npu that look like modules, from which nothing can be imported."""
Answer = Callable[[str], CudaName | None]
"""The name for the NPU of a name, or None where the name stays."""


@dataclass
class NewName:
    """A name that a statement imports.  old, new: dotted.  local: the name that it binds.  is_whole: `import a.b` binds `a`."""

    alias: cst.ImportAlias
    old: str
    new: str
    local: str
    is_whole: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether it is imported from elsewhere, or by another name."""
        return self.new != self.old


@dataclass
class NewImport:
    """A statement as it is written for the NPU.  missing: names that the NPU has not; it cannot be written with them."""

    names: list[NewName] = field(default_factory=list)
    missing: list[CudaName] = field(default_factory=list)

    @property
    def can_be_written(self) -> bool:
        """Whether something changes, and all of it is known."""
        return not self.missing and any(name.is_changed for name in self.names)

    @property
    def modules(self) -> list[str]:
        """The modules that names come from, in the order of the statement."""
        return list(dict.fromkeys(name.new.rpartition(".")[0] for name in self.names))


def of_cuda(name: str) -> CudaName | None:
    """The answer about a name of torch.cuda, and of what lies beside it; names of other rules stay."""
    return None if name.startswith(("torch.profiler", "torch.distributed")) else npu_name(name)


def new_import(node: cst.Import | cst.ImportFrom, answer: Answer = of_cuda) -> NewImport:
    """The statement for the NPU; nothing changes in one that names nothing of CUDA, in a star import, and in one of a project."""
    found = NewImport()
    if isinstance(node, cst.Import):
        for alias in node.names:
            _add(found, alias, dotted_name(alias.name), answer)
    elif node.module is not None and not node.relative and not isinstance(node.names, cst.ImportStar):
        for alias in node.names:
            _add(found, alias, f"{dotted_name(node.module)}.{dotted_name(alias.name)}", answer, is_from=True)
    return found


def star_of_cuda(node: cst.Import | cst.ImportFrom) -> str:
    """The module of CUDA that a statement imports everything from; empty for any other statement."""
    if isinstance(node, cst.Import) or node.module is None or node.relative or not isinstance(node.names, cst.ImportStar):
        return ""
    module = dotted_name(node.module)
    return module if f"{module}.".startswith("torch.cuda.") else ""


def _add(found: NewImport, alias: cst.ImportAlias, name: str, ask: Answer, is_from: bool = False) -> None:
    answer = ask(name)
    local = dotted_name(alias.asname.name) if alias.asname is not None else name.rpartition(".")[2]
    is_whole = not is_from and alias.asname is None
    new = _importable(answer.npu) if answer is not None else name
    if answer is not None and (not new or (is_from and new.rpartition(".")[0] in _CLASSES_LIKE_MODULES)):
        found.missing.append(answer)
    else:
        found.names.append(NewName(alias, name, "torch" if is_whole and new != name else new, local, is_whole))


def _importable(name: str) -> str:
    """The name by which an import finds what an attribute of torch.npu is."""
    return f"{REAL_NPU}{name.removeprefix(NPU)}" if f"{name}.".startswith(f"{NPU}.") else name
