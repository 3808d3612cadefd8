"""The part that computes each operator of PyTorch on the device: a kernel of the device, other operators, the CPU, or none.

torch_npu registers kernels of the device under PrivateUse1 (op_plugin_functions.yaml, npu_native_functions.yaml) and a fallback
for all the rest, which copies to the CPU and back (torch_npu/csrc/aten/VariableFallbackKernel.cpp). PyTorch's dispatcher takes
a backend's own kernel first, then one of the composite ones, which are made of other operators, then the fallback; which
operators have composite kernels is in PyTorch's native_functions.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

DEVICE, COMPOSITE, CPU, NONE = "device", "composite", "cpu", "none"
OWN_KERNELS = ("acl_op", "op_api", "sparse")
"""Keys of op_plugin_functions.yaml that name releases: kernels of the graph engine, of aclnn, and of sparse tensors."""
COMPOSITE_KEYS = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def device_kernels(op_plugin: Path, native: Path, release: tuple[int, int]) -> frozenset[str]:
    """Names with overloads of the operators that have a kernel of the device in a release of PyTorch."""
    tables = _yaml(op_plugin)
    rows = [row for section in ("official", "autograd", "symint") for row in tables[section]]
    ours = {_name(row["func"]) for row in rows if any(_has(release, row.get(key)) for key in OWN_KERNELS)}
    native_rows = _yaml(native)["supported"]
    return frozenset(ours | {_name(row["func"] if isinstance(row, dict) else row) for row in native_rows})


def kernels(native_functions: Path, on_device: frozenset[str]) -> dict[str, str]:
    """DEVICE, COMPOSITE, CPU or NONE by operator, as `add.Tensor`; NONE where CUDA has a kernel and the CPU has not.

    Operators of sparse, nested and other special tensors alone are left out: their own keys decide about them.
    """
    rows = {_name(row["func"]): row for row in _yaml(native_functions)}
    found = {name: _kernel(name, row, rows, on_device) for name, row in rows.items()}
    for name in list(found):
        if found[name] == COMPOSITE and _by_its_out(name, found):
            found[name] = CPU
    made = {name: COMPOSITE for row in rows.values() for name in _generated(row) if name not in found}
    made |= {name: DEVICE for name in made if name in on_device}
    return {name: kernel for name, kernel in sorted((found | made).items()) if kernel}


def _kernel(name: str, row: Mapping[str, Any], rows: Mapping[str, Any], on_device: frozenset[str]) -> str:
    if name in on_device:
        return DEVICE
    if out := row.get("structured_delegate"):
        return _kernel(out, rows[out], rows, on_device)
    keys = {key.strip() for keys in row.get("dispatch", {}) for key in keys.split(",")}
    if "dispatch" not in row or keys & set(COMPOSITE_KEYS):
        return COMPOSITE
    return CPU if "CPU" in keys else NONE if "CUDA" in keys else ""


def _by_its_out(name: str, found: Mapping[str, str]) -> bool:
    """Whether the composite kernel calls the operator's own form with `out`, which the CPU computes."""
    base, _, overload = name.partition(".")
    return found.get(f"{base}.{overload}_out" if overload else f"{base}.out") == CPU


def _generated(row: Mapping[str, Any]) -> Iterator[str]:
    yield from filter(None, (name.strip() for name in row.get("autogen", "").split(",")))


def _has(release: tuple[int, int], said: str | list[str] | None) -> bool:
    """Whether a release is among those of a row: `all_version`, "v2.1, v2.2", or [first, last], where last may be `newest`."""
    if said is None:
        return False
    if said == "all_version":
        return True
    if isinstance(said, str):
        return release in map(_release, said.split(","))
    first, last = said
    return _release(first) <= release and (last == "newest" or release <= _release(last))


def _release(text: str) -> tuple[int, int]:
    major, minor = text.strip().removeprefix("v").split(".")
    return int(major), int(minor)


def _name(schema: str) -> str:
    return schema.partition("(")[0].strip()


def _yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
