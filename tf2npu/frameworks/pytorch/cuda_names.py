"""The name for the NPU of any name of PyTorch that is CUDA's, or what a person writes in its place."""

from __future__ import annotations

from npu_formats.pytorch.cuda_names import CudaName, cuda_names

ROOT = "torch.cuda"
_HOMES = (
    *((f"torch.cuda.amp.{module}", "torch.cuda.amp") for module in ("autocast_mode", "common", "grad_scaler")),
    *((f"torch.cuda.{module}", ROOT) for module in ("green_contexts", "graphs", "memory", "random", "streams")),
)
"""Modules that names are written in, and the modules that have them as well."""
_UNKNOWN = "no list has it: look for what does the same in torch.npu, or leave it out"


def npu_name(name: str) -> CudaName | None:
    """The list's answer about a dotted name; None for a name that is not CUDA's, which can stay.

    Calls may stand in it, as in `torch.cuda.Event().record`. A member of a class goes where its class goes; what is below a
    module that the NPU has not has the module's advice; a name below torch.cuda that no list has gets advice, too.
    """
    parts = name.split(".")
    heads = (".".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((_answer(row, name, head) for head in heads if (row := _row(head.replace("()", "")))), None)


def _row(name: str) -> CudaName | None:
    """The row of a name, or of its other name: `torch.cuda.memory.empty_cache` is torch.cuda.empty_cache."""
    others = (home + name[len(module) :] for module, home in _HOMES if name.startswith(f"{module}."))
    return next((row for one in (name, *others) if (row := cuda_names().get(one))), None)


def _answer(row: CudaName, name: str, head: str) -> CudaName | None:
    """The answer that the row for the first part of a name gives."""
    rest = name[len(head) :]
    if rest and row.kind == "module" and row.npu:
        return CudaName(name, "member", "", False, _UNKNOWN) if f"{name}.".startswith(f"{ROOT}.") else None
    called = "()" if head.endswith("()") else ""
    npu = f"{row.npu}{called}{rest}" if row.npu else ""
    return CudaName(name, "member" if rest else row.kind, npu, row.is_documented, row.advice)
