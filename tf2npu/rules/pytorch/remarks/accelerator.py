"""Files that need no conversion, as they ask PyTorch for the accelerator that is there."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.pytorch.facts.example_heads import BEFORE
from tf2npu.rules.pytorch.facts.file_kinds import names_cuda
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_ROOT = "torch.accelerator"
_DEVICE = "device = torch.accelerator.current_accelerator()\n"


@rule(
    id="NPT001",
    title="Runs as it is",
    on="module",
    matches=("torch.accelerator.current_accelerator",),
    why="torch.accelerator is the device of the extension that is installed, so that such a file names no device of CUDA.",
    source="PyTorch 2.6, torch.accelerator; setup.py of Ascend/pytorch: the entry point torch.backends, read since PyTorch 2.5",
    examples=(
        Example.same(f"{BEFORE}{_DEVICE}", level="info", write=f"{BEFORE}device = torch.device('npu')\n"),
        Example.same(f"{BEFORE}y = torch.zeros(3)\n", note="no device at all"),
        Example.same(f"{BEFORE}y = net(x).npu()\n", note="it names the NPU"),
    ),
)
def runs_as_it_is(site: Site) -> None:
    """Says of a file that uses torch.accelerator and names no CUDA that it needs no change."""
    script = site.script
    place = _first_use(script)
    if place is None or names_cuda(script):
        return
    site.fix.site = place
    site.info(
        "This file runs as it is: torch.accelerator is the NPU where torch_npu is installed, which PyTorch loads by itself since "
        "2.5. torch.accelerator needs PyTorch 2.6."
    )


def _first_use(script: Script) -> tuple[int, int] | None:
    """The first place of a file that names torch.accelerator."""
    if "accelerator" not in script.text:
        return None
    names = ((node, script.name_of(node, scope) or "") for node, scope in script.walked.references)
    return min((script.tree.span(node) for node, name in names if f"{name}.".startswith(f"{_ROOT}.")), default=None)
