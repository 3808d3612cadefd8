"""Questions about a script that concern TensorFlow alone."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.project import NAME
from tf2npu.scanner.script import Script


def uses_tensorflow(script: Script) -> bool:
    """Whether a file imports TensorFlow, itself or through the project."""
    return script.project.is_reaching(script.path, NAME)


def tensorflow_name(script: Script) -> str:
    """The name under which TensorFlow 1's API is imported in a file, or nothing."""
    for name, bindings in sorted(script.module_scope.names.items()):
        if all(b.kind == "import" and b.level == 0 and b.target in ("tensorflow", "tensorflow.compat.v1") for b in bindings):
            return name
    return ""
