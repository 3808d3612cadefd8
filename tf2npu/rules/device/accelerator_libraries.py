"""Libraries that need a GPU."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules import hooks
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.asked_distribution import to_convert
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_INSTEAD = {
    "cupy": "numpy",
    "cupyx": "numpy or scipy",
    "pycuda": "TensorFlow ops or numpy",
    "pynvml": "the host's npu-smi command",
    "py3nvml": "the host's npu-smi command",
    "nvidia_smi": "the host's npu-smi command",
    "GPUtil": "the host's npu-smi command",
    "tensorrt": "a saved model converted by the vendor's ATC",
    "cudf": "pandas",
    "nvidia.dali": "tf.data",
    "byteps": "Horovod, whose functions have the same names{}",
    "smdistributed": "Horovod, whose functions have the same names{}",
}
_NUMBA = "numba.cuda"
_ROOTS = frozenset(name.partition(".")[0] for name in (*_INSTEAD, _NUMBA))
_HINT = re.compile(
    rb"^[ \t]*(?:import|from)\b[^\n]*\b(?:" + "|".join([*_INSTEAD, "nvidia", "numba"]).encode() + rb")\b", re.MULTILINE
)
"""A line of source that may import one of them."""


@hooks.before_file
def mentions_accelerator_library(data: bytes) -> bool:
    """Whether a file that a TensorFlow script reaches could import one; a quick look at its bytes."""
    return _HINT.search(data) is not None


@rule(
    id="NPU945",
    title="Library for GPUs",
    on="import",
    why="An NPU host has neither CUDA nor NVIDIA's driver, so the import or the first call fails.",
    done_when="The script starts where the library is not installed: `tf2npu run` passes its imports.",
    source="TensorFlow adapter porting guide: CuPy and pynvml are not supported",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport cupy as cp", level="unsupported", write="import tensorflow as tf\nimport numpy as cp"
        ),
        Example.same("import tensorflow as tf\nfrom numba import cuda", level="unsupported"),
        Example.same("import tensorflow as tf\nimport nvidia.dali.fn as fn", level="unsupported"),
        Example.same(
            "import tensorflow as tf\nimport byteps.tensorflow as bps\nbps.init()",
            level="unsupported",
            write="import tensorflow as tf\nimport horovod.tensorflow as bps",
        ),
        Example.same("import tensorflow as tf\nfrom numba import jit", note="compiles for the host"),
        Example.same("import torch  # and not tensorflow\nimport cupy", note="nothing to do with TensorFlow"),
        Example.same("import tensorflow as tf\nfrom .pynvml import x", note="the project's own module"),
        Example.same("import tensorflow as tf\ntry:\n    import cupy\nexcept ImportError:\n    pass", note="does without"),
    ),
)
def accelerator_library(site: Site) -> None:
    """Reports imports of libraries that need a GPU and names what does without."""
    script = site.script
    modules = [module for module in _modules(site.node) if module.partition(".")[0] in _ROOTS]
    is_reached = script.path in script.project.reaching or script.path in script.project.reached
    if not modules or not is_reached or is_guarded(site):
        return
    for module in modules:
        library = next((name for name in _INSTEAD if f"{module}.".startswith(f"{name}.")), None)
        if library is not None and not site.script.project.defines(site.script.path, 0, library.partition(".")[0]):
            instead = _INSTEAD[library].format(to_convert(site, ", and convert with --distributed horovod", "horovod"))
            site.unsupported(f"{library} needs a GPU: use {instead}, or import it only where a GPU is found.")
        elif module == _NUMBA or module.startswith(f"{_NUMBA}."):
            site.unsupported("numba.cuda needs a GPU: use numba.jit, numpy or TensorFlow ops.")


def _modules(node: Any) -> list[str]:
    """Modules and members that a statement imports; relative ones are the project's own."""
    if isinstance(node, cst.Import):
        return [dotted_name(alias.name) for alias in node.names]
    if node.relative or node.module is None:
        return []
    module = dotted_name(node.module)
    if isinstance(node.names, cst.ImportStar) or module not in ("numba", "nvidia"):
        return [module]
    return [f"{module}.{dotted_name(alias.name)}" for alias in node.names]
