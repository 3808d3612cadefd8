"""Scripts for PyTorch: whether they can run here, and the path on which `import torch` finds the simulated NPU.

Neither PyTorch nor the adapter is imported: PyTorch loads its backends itself, by the entry point that stands beside the adapter.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from importlib import metadata
from pathlib import Path

import tf2npu
from npu_formats.device.chip import DEFAULT_CHIP, load_chip
from npu_formats.session_options import launcher_options

FOLDER = Path(tf2npu.__file__).resolve().parent / "adapters" / "pytorch"
"""The folder that is put on the path: it has torch_npu, and what names it as a backend of PyTorch."""
PACKAGE = "torch_npu"
TRANSFER = "TORCH_TRANSFER_TO_NPU"
"""The vendor's variable: with 1, torch_npu switches CUDA's names over when PyTorch loads it."""
FIRST, LAST = (2, 10), (2, 13)
"""The first and the last release that can run. Source: torch.utils.backend_registration lets a device be written in Python from
2.10 on, as the wheels of 2.9 and 2.10 show; that is experimental, so that a later release may change it."""
_INSTALL = 'pip install "tf2npu[torch]" (pytorch.org/get-started says how to take the CPU build, which is far smaller)'
_MEANT = ("soc", "profiling_mode", "profiling_options")
"""Options of the launcher that mean something for PyTorch."""


def version() -> str:
    """The version of PyTorch that is installed, "" for none."""
    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""


def why_not_run() -> str:
    """The reason that this Python cannot run a script for PyTorch on the simulated device; "" when it can."""
    needs = f"a script for PyTorch needs PyTorch {_readable(FIRST)} to {_readable(LAST)}"
    found = version()
    if not found:
        missing = (
            "which is not installed here" if importlib.util.find_spec("torch") is None else "whose version is not known here"
        )
        return f"{needs}, {missing}: {_INSTALL}"
    numbers = tuple(map(int, re.findall(r"\d+", found)[:2]))
    if FIRST <= numbers <= LAST or real_adapter() is not None:
        return ""
    return f"{needs}; here is {found}, which is too {'old' if numbers < FIRST else 'new'}: {_INSTALL}"


def _readable(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))


def real_adapter() -> Path | None:
    """The folder of a torch_npu that is not ours and that an import would find; None for none."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).resolve().parent
    return None if folder == FOLDER / PACKAGE else folder


def prepare(is_strict: bool, environment: MutableMapping[str, str] = os.environ) -> None:
    """Put the simulated NPU on the path of this process and of its children.  is_strict: CUDA's names stay CUDA's."""
    if is_strict:
        environment.pop(TRANSFER, None)
    else:
        environment[TRANSFER] = "1"
    real = real_adapter()
    if real is not None:
        print(f"tf2npu run: the script runs on the torch_npu of {real.parent}: nothing is simulated", file=sys.stderr)
        return
    folder = str(FOLDER)
    if folder not in sys.path:
        sys.path.insert(1, folder)  # 0 becomes the script's own folder
    importlib.invalidate_caches()
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and path != folder]
    environment["PYTHONPATH"] = os.pathsep.join([folder, *paths])


def check_chip(environment: Mapping[str, str] = os.environ) -> None:
    """Raises: ChipProblem for a chip that is not known, which PyTorch would tell in a traceback of its own."""
    load_chip(str(launcher_options(environment).get("soc") or DEFAULT_CHIP))


def without_effect(environment: Mapping[str, str] = os.environ) -> Iterable[str]:
    """The options of the launcher that mean nothing for a script for PyTorch."""
    return sorted(launcher_options(environment).keys() - set(_MEANT))


_FOR_CUDA = {
    "amp_C": "use torch.amp and torch.optim, or the vendor's apex for Ascend",
    "apex": "use torch.amp and torch.optim, or the vendor's apex for Ascend",
    "cupy": "use tensors of the NPU",
    "flash_attn": "use torch.nn.functional.scaled_dot_product_attention",
    "numba.cuda": "write the kernel with operators of PyTorch",
    "nvidia.dali": "use torch.utils.data",
    "pynvml": "use torch.npu.mem_get_info and torch.npu.utilization, or `npu-smi info` beside the script",
    "triton": "write the kernel with operators of PyTorch, or take the vendor's triton-ascend",
    "xformers": "use torch.nn.functional.scaled_dot_product_attention",
}
"""Packages that are made for CUDA -> what to use for the NPU."""


def about_missing(message: str) -> str:
    """A line on a package that Python does not find, by its message; "" for one that is not made for CUDA."""
    found = re.fullmatch(r"No module named '(.+)'", message)
    if str(FOLDER) not in sys.path or found is None:
        return ""
    package = next((name for name in _FOR_CUDA if f"{found[1]}.".startswith(f"{name}.")), "")
    return f"{package} is made for CUDA, and not for the NPU: {_FOR_CUDA[package]}" if package else ""


def doctor_lines() -> list[str]:
    """The lines of `tf2npu doctor` on the adapter for PyTorch."""
    real = real_adapter()
    if real is not None:
        return [f"{PACKAGE}: {real} (not tf2npu's: the vendor's adapter, or a folder of that name), which scripts run against"]
    return [
        f"{PACKAGE}: {FOLDER / PACKAGE} (tf2npu's simulated one)",
        f"  `tf2npu run` puts it on the path; for a run by python: PYTHONPATH={FOLDER}, and {TRANSFER}=1 for a script for CUDA",
    ]
