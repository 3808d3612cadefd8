"""The first place of a script that runs only once npu_bridge is imported."""

from __future__ import annotations

import libcst as cst

from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.frameworks.tensorflow1.restored_names import METHODS, import_needs_npu_bridge, needs_npu_bridge
from tf2npu.scanner.import_names import asked_modules
from tf2npu.scanner.script import Script


def first_need(script: Script) -> cst.CSTNode | None:
    """The first place of a script with something that only works once npu_bridge is imported.

    That is a name of another library, or the import of a file of the project that has one, whether it runs at once or later.
    """
    if script.path not in tensorflow_in(script.project).with_old_names:
        return None
    needs: list[cst.CSTNode] = [node for node, _ in script.walked.imports if _needs_npu_bridge(script, node)]
    needs += [node for node, scope in script.walked.references if needs_npu_bridge(script.name_of(node, scope) or "")]
    methods = (node.func for node, _ in script.walked.calls)
    needs += [func for func in methods if isinstance(func, cst.Attribute) and func.attr.value in METHODS]
    return min(needs, key=lambda node: script.tree.span(node)[0], default=None)


def _needs_npu_bridge(script: Script, node: cst.Import | cst.ImportFrom) -> bool:
    """Whether an import statement asks for what npu_bridge has back, or runs a file that does."""
    asked = asked_modules(node)
    if any(level == 0 and import_needs_npu_bridge(module) for level, module in asked):
        return True
    loaded = (script.project.loaded_by(script.path, level, module) for level, module in asked)
    return any((files - {script.path}) & tensorflow_in(script.project).with_old_names for files in loaded)
