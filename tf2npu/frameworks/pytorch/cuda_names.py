"""The name for the NPU of any name of PyTorch that is CUDA's, or what a person writes in its place."""

from __future__ import annotations

import re

from npu_formats.pytorch.cuda_names import CudaName, cuda_names

ROOT = "torch.cuda"
_HOMES = (
    *((f"torch.cuda.amp.{module}", "torch.cuda.amp") for module in ("autocast_mode", "common", "grad_scaler")),
    *((f"torch.cuda.{module}", ROOT) for module in ("green_contexts", "graphs", "memory", "random", "streams")),
)
"""Modules that names are written in, and the modules that have them as well."""
_WRITTEN_IN = {
    "torch.cuda.amp.autocast_mode": re.compile(r"autocast$|custom_"),
    "torch.cuda.amp.common": re.compile(r"amp_"),
    "torch.cuda.amp.grad_scaler": re.compile(r"GradScaler"),
    "torch.cuda.graphs": re.compile(r"graph", re.IGNORECASE),
    "torch.cuda.memory": re.compile(r"memory_(?!u)|(?:host_|_)memory(?!_u)|mem_|MemPool|cach|alloc|Alloc"),
    "torch.cuda.random": re.compile(r"seed|rng_state(?!_offset)"),
    "torch.cuda.streams": re.compile(r"(?:Stream|Event)$"),
}
"""Modules that names of torch.cuda are written in, each with the beginning or a part of such names."""
_UNKNOWN = "no list has it: look for what does the same in torch.npu, or leave it out"


def npu_name(name: str) -> CudaName | None:
    """The list's answer about a dotted name; None for a name that is not CUDA's, which can stay.

    Calls may stand in it, as in `torch.cuda.Event().record`. A member of a class goes where its class goes; what is below a
    module that the NPU has not has the module's advice; a name below torch.cuda that no list has gets advice, too.
    """
    parts = name.split(".")
    heads = (".".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((_answer(row, name, head) for head in heads if (row := _row(head.replace("()", "")))), None)


def spelled_names() -> tuple[str, ...]:
    """The names of the list below torch.cuda, with their other spellings: torch.cuda.random.seed_all is torch.cuda.seed_all."""
    rows = [row for name, row in cuda_names().items() if f"{name}.".startswith(f"{ROOT}.")]
    others = [
        module + row.name[len(home) :]
        for row in rows
        for module, home in _HOMES
        if row.kind != "module" and row.name.rpartition(".")[0] == home and _has_name(module, row.name.rpartition(".")[2])
    ]
    return tuple(sorted({*(row.name for row in rows), *others}))


def _has_name(module: str, name: str) -> bool:
    pattern = _WRITTEN_IN.get(module)
    return pattern is not None and pattern.search(name) is not None


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
