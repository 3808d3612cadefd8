"""The shim that prepares the process of a script: npu_bridge for TensorFlow 1 and MindSpore, npu_device, torch_npu, or none."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from npu_formats.device.chip import ChipProblem
from npu_formats.environment import TF2NPU_FRONTEND, TF2NPU_STRICT, watched_adapter
from tf2npu.frameworks.other_frameworks import BUILT_ON_PYTORCH
from tf2npu.frameworks.tensorflow1.adapter_imports import BRIDGE, DEVICE, adapter_of, files_of, roots_of
from tf2npu.launch import mindspore, pytorch
from tf2npu.launch.temporary_conversion import folders_of
from tf2npu.runs.write import script_of


@dataclass(frozen=True)
class Shim:
    """A package that stands for an adapter of the vendor's.

    settings: its module that says what is wrong with the launcher's options; the vendor's package has none of that name.
    hooks: its module that knows what ran.  unit: of what runs on the device, in the words of messages.
    """

    package: str
    settings: str
    hooks: str
    unit: str

    def loaded_hooks(self) -> ModuleType:
        """The hooks of the shim, once it is prepared."""
        return sys.modules[self.hooks]

    def prepare(self) -> str | None:
        """Import the shim, and say what is wrong with it or with the launcher's options; None for nothing."""
        try:
            package = importlib.import_module(self.package)
        except ImportError as error:
            return str(error)
        try:
            settings = importlib.import_module(self.settings)
        except ModuleNotFoundError as error:
            if error.name != self.settings and not self.settings.startswith(f"{error.name}."):
                raise
            return f"the {self.package} of {package.__file__} is the real one: run the script with python"
        problem: str | None = settings.problem()
        return problem


class _PyTorchShim(Shim):
    """torch_npu, which PyTorch itself imports: nothing is loaded before the script asks for it."""

    def prepare(self) -> str | None:
        """Put torch_npu on the path, say which options have no effect, and what is wrong with the chip's name."""
        try:
            pytorch.check_chip()
        except ChipProblem as error:
            return str(error)
        for option in pytorch.without_effect():
            print(f"tf2npu run: --option {option} has no effect on a script for PyTorch", file=sys.stderr)
        pytorch.prepare(os.environ.get(TF2NPU_STRICT) == "1")
        return None


class _MindSporeShim(Shim):
    """mindspore, whose cells are graphs of TensorFlow 1's sessions, so that npu_bridge knows what ran."""

    def prepare(self) -> str | None:
        """Put mindspore on the path, and say what is wrong with the launcher's options."""
        mindspore.prepare()
        return super().prepare()


TENSORFLOW1 = Shim(BRIDGE, "npu_bridge._launch_settings", "npu_bridge._session_hooks", "session")
TENSORFLOW2 = Shim(DEVICE, "npu_device._execution.launch_settings", "npu_device._execution.run_summary", "function")
PYTORCH = _PyTorchShim(pytorch.PACKAGE, "", "torch_npu._observers.run_summary", "operator")
MINDSPORE = _MindSporeShim(BRIDGE, "npu_bridge._launch_settings", "npu_bridge._session_hooks", "session")
_BY_PACKAGE = {shim.package: shim for shim in (TENSORFLOW1, TENSORFLOW2)}


def shim_of(script: str) -> Shim | None:
    """The shim that a script needs, told by the adapter that it or a file of its project imports.

    Without an adapter, that of PyTorch for what imports PyTorch and not TensorFlow, None for what only TensorFlow 2 can run, else
    that of TensorFlow 1: its sessions may be for the device.
    """
    if os.environ.get(TF2NPU_FRONTEND) == mindspore.FRONTEND:
        return MINDSPORE
    if not script:
        return TENSORFLOW1
    path = Path(script)
    try:
        texts = [text for _, text in files_of(path, folders_of(path))]
    except OSError:  # Python will say so
        return TENSORFLOW1
    adapter = next(filter(None, map(adapter_of, texts)), "")
    if adapter:
        return _BY_PACKAGE[adapter]
    if any(map(_is_pytorch, texts)) and not any(b"tensorflow" in text and "tensorflow" in roots_of(text) for text in texts):
        return PYTORCH
    dialects = set(map(_dialect, texts))
    return None if "2" in dialects and "1" not in dialects else TENSORFLOW1


def shim_of_run(module: str | None, script: str | Path | None) -> Shim | None:
    """The shim of what `tf2npu run` is given: a script, or a module, which may be one of PyTorch's own, as its launcher is."""
    root = (module or "").partition(".")[0]
    file = script_of(module, script)
    return PYTORCH if not file and root in _ROOTS else shim_of(file)


_ROOTS = BUILT_ON_PYTORCH | {"torch"}


def _is_pytorch(text: bytes) -> bool:
    return any(root.encode() in text for root in _ROOTS) and not _ROOTS.isdisjoint(roots_of(text))


def _dialect(text: bytes) -> str:
    """The TensorFlow that names of a file tell, "1", "2" or ""."""
    from tf2npu.frameworks.tensorflow1.file_facts import dialect  # which migrated scripts do not need
    from tf2npu.scanner.facts import gather_facts, mentions_relevant_module

    return dialect(gather_facts("script.py", text)) if mentions_relevant_module(text) else ""


def watching_shim() -> Shim | None:
    """The shim that looks at the steps of this process for `tf2npu check` or `dump reference`; None in all others."""
    return _BY_PACKAGE.get(watched_adapter(os.environ))


def loaded_shim() -> Shim | None:
    """The shim that knows what ran in this process: npu_bridge, too, where npu_device.compat.v1 loaded it."""
    return next((shim for shim in (TENSORFLOW1, TENSORFLOW2, PYTORCH) if shim.hooks in sys.modules), None)
