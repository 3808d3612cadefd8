"""The API table in which `tf2npu api` looks a name up: that of the framework which is asked for, or which has the name."""

from __future__ import annotations

from npu_formats.device.chip import ChipProblem
from npu_formats.pytorch.chip_column import column_of
from tf2npu.api_support.table import ApiTable, qualified, table
from tf2npu.frameworks.pytorch.apis import ROOTS, apis
from tf2npu.frameworks.registry import known
from tf2npu.refused_request import RefusedRequest

AUTO, TENSORFLOW, TORCH = "auto", "tensorflow", "torch"
CHOICES = (AUTO, TENSORFLOW, TORCH)


def table_for(framework: str, name: str, chip: str = "") -> ApiTable:
    """The table of a framework, one of CHOICES; of AUTO that of the name's first part, and of TensorFlow where none has it.

    chip: the one that verdicts are about, as `--soc` names it, or "".
    Raises: RefusedRequest for a chip that is none, and for one with a table that does not tell chips apart.
    """
    root = qualified(name.strip()).partition(".")[0].removesuffix("()")
    if framework == TORCH or (framework == AUTO and root in ROOTS):
        return apis(_short(chip))
    if chip:
        raise RefusedRequest(
            f"{name} is looked up among TensorFlow's names, of which no list tells chips apart: leave --soc out, or give "
            "--framework torch"
        )
    owners = (known_one.apis() for known_one in known() if framework == AUTO and root in known_one.api_roots)
    found: ApiTable = next(owners, table())
    return found


def _short(chip: str) -> str:
    """The name of a chip without `Ascend`."""
    try:
        return column_of(chip).chip if chip else ""
    except ChipProblem as problem:
        raise RefusedRequest(str(problem)) from None
