"""Libraries that compute by CUDA, and what there is for NPUs in their place.

Sources, each as it was read in 2026: PyTorch's own replacements from its documentation of 2.13; Ascend/pytorch's guides; the
package pages of triton-ascend and flash-attn-npu; Ascend/apex; DeepSpeed's table of accelerators; the installation page of
bitsandbytes, which names no NPU.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CudaLibrary:
    """A library.  works: whether it, or a package of the same name, has a version for NPUs.  instead: what a person does."""

    title: str
    instead: str
    works: bool = False


CUDA_LIBRARIES: dict[str, CudaLibrary] = {
    "amp_C": CudaLibrary("amp_C of apex", "let torch.amp scale the loss, and torch.nn.utils.clip_grad_norm_ clip gradients"),
    "apex": CudaLibrary(
        "apex",
        "write torch.amp.autocast('npu') and torch.amp.GradScaler('npu') for apex.amp, DistributedDataParallel of PyTorch, and "
        "torch.nn.LayerNorm; or install the vendor's patched apex (Ascend/apex)",
    ),
    "apex.optimizers": CudaLibrary(
        "apex.optimizers",
        "write torch.optim.AdamW or SGD for FusedAdam or FusedSGD, or torch_npu.optim.NpuFusedAdamW and its likes on a card",
    ),
    "bitsandbytes": CudaLibrary("bitsandbytes", "take an optimizer of torch.optim, and weights in bfloat16"),
    "cupy": CudaLibrary("cupy", "compute with torch on the NPU, or with numpy on the host"),
    "deepspeed": CudaLibrary(
        "DeepSpeed", "install a release that has the NPU among its accelerators, and leave its CUDA operators out", works=True
    ),
    "flash_attn": CudaLibrary(
        "flash_attn",
        "call torch.nn.functional.scaled_dot_product_attention, or on a card torch_npu.npu_fusion_attention or the package "
        "flash-attn-npu",
    ),
    "numba.cuda": CudaLibrary("numba.cuda", "compute with torch on the NPU, or with numba.njit on the host"),
    "nvidia.dali": CudaLibrary("NVIDIA DALI", "read and decode with torch.utils.data.DataLoader and torchvision on the host"),
    "nvidia_smi": CudaLibrary("nvidia_smi", "ask torch.npu.mem_get_info and torch.npu.get_device_properties, or run npu-smi"),
    "py3nvml": CudaLibrary("py3nvml", "ask torch.npu.mem_get_info and torch.npu.get_device_properties, or run npu-smi"),
    "pycuda": CudaLibrary("PyCUDA", "write the computation with operators of PyTorch"),
    "pynvml": CudaLibrary("pynvml", "ask torch.npu.mem_get_info and torch.npu.get_device_properties, or run npu-smi"),
    "tensorrt": CudaLibrary("TensorRT", "run the model with torch_npu as it is"),
    "torch_tensorrt": CudaLibrary("Torch-TensorRT", "leave the compilation out, and run the model with torch_npu as it is"),
    "transformer_engine": CudaLibrary(
        "Transformer Engine", "write its layers with torch.nn.Linear and torch.nn.LayerNorm, in bfloat16 in place of FP8"
    ),
    "triton": CudaLibrary(
        "Triton", "install triton-ascend on Atlas A2 or A3 and test each kernel, or write it with operators of PyTorch"
    ),
    "xformers": CudaLibrary("xformers", "call torch.nn.functional.scaled_dot_product_attention for memory_efficient_attention"),
}
"""Module -> library; the longest name that fits an import counts."""

OTHER_DEVICES = {
    "torch_xla": "TPUs",
    "jax": "JAX's devices",
    "habana_frameworks": "Gaudi",
    "intel_extension_for_pytorch": "Intel's GPUs",
}
"""Packages beside PyTorch that bring devices of their own."""


def library_of(module: str) -> str:
    """The name in CUDA_LIBRARIES that a dotted module belongs to; empty for others."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in CUDA_LIBRARIES), "")
