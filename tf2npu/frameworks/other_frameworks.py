"""Files that are written for a framework that is not converted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tf2npu.frameworks.registry import known

OTHER_FRAMEWORKS = {
    "mindspore": "MindSpore", "paddle": "PaddlePaddle", "mxnet": "MXNet", "jax": "JAX", "theano": "Theano",
    "chainer": "Chainer", "tensorlayerx": "TensorLayerX",
}  # fmt: skip
"""Top-level module -> the framework's name."""

BUILT_ON_TENSORFLOW = {
    "sugartensor": "SugarTensor", "tflearn": "TFLearn", "tensorlayer": "TensorLayer", "prettytensor": "Pretty Tensor",
    "tensorpack": "Tensorpack", "tensorforce": "Tensorforce", "stable_baselines": "Stable Baselines", "deepctr": "DeepCTR",
}  # fmt: skip
"""Top-level module of a package that builds TensorFlow 1 graphs and opens sessions by itself -> its name."""
NEEDS_MORE = frozenset({"tensorpack", "sugartensor", "prettytensor"})
"""Packages of these that need more than sessions on the NPU: they choose GPUs, or ended before TensorFlow 1.15."""
_FOR_DATA = ("tensorpack.dataflow.", "tensorpack.utils.")
"""Parts of these packages that read and change arrays and make no graph: tensorpack 0.9 has them without TensorFlow, too."""

BUILT_ON_PYTORCH = frozenset(
    ("accelerate", "clip", "detectron2", "diffusers", "fairseq", "fastai", "ignite", "kornia", "lightning", "mmcv", "mmengine",
     "monai", "open_clip", "peft", "pytorch_lightning", "sentence_transformers", "timm", "torch_geometric", "torch_npu",
     "torchaudio", "torchtext", "torchvision", "transformers", "trl", "ultralytics", "whisper")
)  # fmt: skip
"""Top-level modules of packages that import PyTorch by themselves."""


def other_framework_of(imports: Iterable[tuple[int, str]]) -> str:
    """Module of the framework that a file imports which imports nothing that the converter knows; or nothing."""
    roots = [module.partition(".")[0] for level, module in imports if level == 0 and not f"{module}.".startswith(_FOR_DATA)]
    if any(map(known().is_known, roots)):
        return ""
    return next((root for root in roots if root in OTHER_FRAMEWORKS or root in BUILT_ON_TENSORFLOW), "")


def builds_on_tensorflow(imports: Iterable[tuple[int, str]]) -> str:
    """The package through which alone a file uses TensorFlow; "" for none."""
    module = other_framework_of(imports)
    return module if module in BUILT_ON_TENSORFLOW else ""


def line_of_import(module: str, text: str) -> int:
    """The line, from 1, of the first statement that imports a module, which the file is known to import."""
    found = re.search(rf"^[ \t]*(?:import|from)\b[^\n]*\b{module}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found is not None else 1
