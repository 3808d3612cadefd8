"""The verdict on a name of PyTorch, by the vendor's list and by the names for the NPU of what is CUDA's."""

from __future__ import annotations

from functools import cache

from npu_formats.pytorch.api_support import (
    FALLS_BACK,
    LIMITED,
    REFUSED,
    SUPPORTED,
    UNKNOWN,
    Support,
    entries,
    instead_of,
    support_of_api,
)  # fmt: skip
from npu_formats.pytorch.chip_column import column_of
from npu_formats.pytorch.cuda_names import CudaName, cuda_names
from tf2npu.api_support.table import Api, ChipSupport
from tf2npu.findings import Verdict
from tf2npu.frameworks.pytorch.cuda_names import npu_name

CHIPS = {"910B1": "A2", "910_93": "A3", "950": "950DT", "910A": "910A"}
"""A chip of each column of the list, and one of the first generation, which has none; each with a short name."""
USUAL = "910B1"
"""The chip that a verdict is about where none is named: nearly all that is known is known of its family."""
VERDICTS = {
    SUPPORTED: Verdict.RUNS, LIMITED: Verdict.RUNS, FALLS_BACK: Verdict.HOST, REFUSED: Verdict.UNSUPPORTED,
    UNKNOWN: Verdict.UNKNOWN,
}  # fmt: skip
_NOT_NAMED = "the vendor's pages do not name it: nobody has verified it"
_MODULE, _CONSTANT = "a module: what is used of it counts", "a constant"
_OF_PYTORCH, _OF_TORCH_NPU = "PyTorch 2.13", "the names that torch_npu exports"


def judged(name: str, kind: str, aliases: tuple[str, ...], chip: str) -> Api:
    """An API with its verdict.  chip: the one that is asked about; "" for the usual one, with the support on each beside it."""
    cuda = npu_name(name)
    if cuda is not None:
        verdict, note, source = _of_cuda(cuda, chip)
        write = cuda.npu if verdict is Verdict.CONVERTED else ""
    else:
        (verdict, note, source), write = _of_name(name, kind, chip), ""
    chips = () if chip or kind == "module" else _on_each_chip(_listed(name))
    return Api(name, kind, verdict, "", source, note, aliases, write, chips)


def _of_cuda(cuda: CudaName, chip: str) -> tuple[Verdict, str, str]:
    """Verdict, note and source of a name that is CUDA's: the NPU has it under another name, or a person writes something else."""
    support = support_of_api(_listed(cuda.name), chip or USUAL)
    is_listed = _listed(cuda.name) in entries()
    source = support.source if is_listed else _OF_TORCH_NPU if cuda.npu else _OF_PYTORCH
    if support.verdict == REFUSED:
        return Verdict.UNSUPPORTED, _note(cuda.advice, support, chip), source
    if not cuda.npu:
        return Verdict.MANUAL, cuda.advice, source
    if cuda.kind == "module":
        return Verdict.CONVERTED, _MODULE, source
    return Verdict.CONVERTED, _note(cuda.advice, support, chip) if is_listed else _NOT_NAMED, source


def _of_name(name: str, kind: str, chip: str) -> tuple[Verdict, str, str]:
    """Verdict, note and source of any other name."""
    listed = _listed(name)
    if kind == "module":
        return Verdict.RUNS, _MODULE, _OF_PYTORCH
    support = support_of_api(listed, chip or USUAL)
    if listed != name and listed not in entries():
        return Verdict.UNKNOWN, _NOT_NAMED, _OF_TORCH_NPU
    if support.verdict == UNKNOWN and kind == "constant":
        return Verdict.RUNS, _CONSTANT, _OF_PYTORCH
    return VERDICTS[support.verdict], _note(instead_of(listed), support, chip), support.source


def _note(advice: str, support: Support, chip: str) -> str:
    """The advice, with what the list says: all of it for a chip that was named, else what keeps the API from running there."""
    is_said = chip or VERDICTS[support.verdict] is not Verdict.RUNS
    return "; ".join(filter(None, (advice, *(support.words if is_said else ()))))


def _on_each_chip(listed: str) -> tuple[ChipSupport, ...]:
    """The support on a chip of each generation; none for an API that no list has."""
    found = {chip: support_of_api(listed, chip) for chip in CHIPS}
    if listed not in entries() and all(support.verdict == UNKNOWN for support in found.values()):
        return ()
    return tuple(_on_chip(support, found[USUAL]) for support in found.values())


def _on_chip(support: Support, usual: Support) -> ChipSupport:
    """The support on a chip; what the first generation has of another's list is not said twice."""
    column = column_of(support.chip)
    words = support.words
    if not column.verified and (support.verdict, support.facts) == (usual.verdict, usual.facts):
        words = (column.remark,)
    elif support.verdict == REFUSED and support.name in entries():
        words = ()  # limits of what is not there
    return ChipSupport(
        CHIPS[support.chip],
        column.family if column.verified else "Ascend 910A and others of its generation",
        support.verdict.replace("_", " "),
        "; ".join(words),
    )


def _listed(name: str) -> str:
    """The name under which the list has an API: that of torch.cuda for one of torch.npu."""
    return _names_of_cuda().get(name, name)


@cache
def _names_of_cuda() -> dict[str, str]:
    return {row.npu: row.name for row in cuda_names().values() if row.npu.startswith(("torch.npu", "torch_npu."))}
