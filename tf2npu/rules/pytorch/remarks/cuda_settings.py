"""Settings of cuDNN and of other libraries of CUDA, which stay and do nothing."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.pytorch.cuda_names import npu_name
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.left_alone import knows_npu
from tf2npu.scanner.sites import Call, Site

_OWNERS = ("torch.backends.cudnn.", "torch.backends.cuda.")
_ATTENTION = ("flash", "mem_efficient", "math", "cudnn")
_ONLY = Config(select=frozenset({"NPT403"}))


@rule(
    id="NPT403",
    title="Settings of cuDNN",
    on="assign",
    why="cuDNN and cuBLAS compute nothing on NPUs, so that their settings have no effect there.",
    source="Ascend/pytorch has nothing that reads torch.backends.cudnn or torch.backends.cuda; set_compile_mode of torch_npu.npu",
    examples=(
        Example.same(f"{BEFORE}import torch.backends.cudnn as cudnn\ncudnn.benchmark = True\n", level="info", write=BEFORE),
        Example.same(f"{BEFORE}torch.backends.cudnn.deterministic = True\n", level="info"),
        Example.same(f"{BEFORE}torch.backends.cuda.matmul.allow_tf32 = True\n", level="info", config=_ONLY),
        Example.same(f"{BEFORE}torch.backends.mkldnn.enabled = False\n", note="of the CPU"),
        Example.same(f"{BEFORE}self.benchmark = True\n", note="the user's"),
    ),
)
def cuda_setting(site: Site) -> None:
    """Says of settings of cuDNN and cuBLAS that they do nothing."""
    name = site.resolve(site.node) or ""
    if not name.startswith(_OWNERS) or npu_name(name) or knows_npu(site.script, site.node):
        return
    what = name.rpartition(".")[2]
    if what == "deterministic":
        site.info(
            "It stays, and has no effect on NPUs: torch.use_deterministic_algorithms(True) asks for results that repeat there, "
            "and HCCL_DETERMINISTIC=true for sums of several ranks."
        )
    elif what == "benchmark":
        site.info("It stays, and has no effect on NPUs, which choose no algorithms by trying them.")
    elif "tf32" in what:
        site.info("It stays, and has no effect on NPUs: TF32 is a format of GPUs.")
    else:
        site.info("It stays, and has no effect on NPUs: it is a setting of CUDA's libraries.")


@part_of(
    cuda_setting,
    on="reference",
    matches=(
        *(f"torch.backends.cudnn.{name}" for name in ("allow_tf32", "benchmark", "deterministic", "enabled")),
        "torch.backends.cuda.matmul.allow_tf32",
    ),
    examples=(
        Example.same(f"{BEFORE}if torch.backends.cudnn.deterministic:\n    seed()\n", level="info"),
        Example.same(f"{BEFORE}if options.deterministic:\n    seed()\n", note="the user's"),
    ),
)
def read_cuda_setting(site: Site) -> None:
    """Says of settings of cuDNN and cuBLAS that are read that they tell nothing of NPUs."""
    if not knows_npu(site.script, site.node):
        site.info("It stays, and tells what is set for CUDA's libraries, which compute nothing on NPUs.")


@part_of(
    cuda_setting,
    matches=(
        "torch.backends.cudnn.flags", "torch.backends.cudnn.set_flags", "torch.backends.cuda.sdp_kernel",
        *(f"torch.backends.cuda.enable_{name}_sdp" for name in _ATTENTION),
        "torch.backends.cuda.preferred_linalg_library", "torch.backends.cuda.preferred_blas_library",
    ),
    examples=(
        Example.same(f"{BEFORE}torch.backends.cuda.enable_flash_sdp(True)\n", level="info", config=_ONLY),
        Example.same(f"{BEFORE}torch.backends.mps.is_available()\n", note="of another device"),
    ),
)  # fmt: skip
def cuda_setting_by_call(call: Call) -> None:
    """Says of calls that set CUDA's libraries that they do nothing."""
    if not knows_npu(call.script, call.node):
        call.info("It stays, and has no effect on NPUs: it is a setting of CUDA's libraries.")


@part_of(
    cuda_setting,
    on="reference",
    matches=("torch.channels_last", "torch.channels_last_3d"),
    why="channels_last is the layout that CUDA's convolutions like best; NPUs choose a format of their own.",
    source="torch.npu.config.allow_internal_format of Ascend/pytorch; its switch from CUDA leaves memory formats alone",
    examples=(
        Example.same(f"{BEFORE}x = x.to(memory_format=torch.channels_last)\n", level="info"),
        Example.same(f"{BEFORE}x = x.contiguous(memory_format=torch.contiguous_format)\n", note="the usual one"),
    ),
)
def channels_last(site: Site) -> None:
    """Says of channels_last that it is meant for GPUs."""
    if not knows_npu(site.script, site.node):
        site.info(
            "channels_last is there for CUDA's convolutions. Results are the same with it; NPUs have formats of their own, so "
            "that it may cost copies: measure a step without it."
        )
