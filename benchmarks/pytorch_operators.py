"""Each operator of PyTorch's own list on the simulated NPU and on the CPU: results and gradients are compared bit by bit.

    python -m benchmarks.pytorch_operators [--samples N] [--only NAME ...] [--complex]

The list is `op_db` of torch.testing, some 700 entries with inputs for each; it needs the package expecttest. Types: float32 and
int64, or complex64. What is known to differ, and why, is in KNOWN. Exit codes: 0 nothing else differs, 1 something does,
77 PyTorch or expecttest is not there.
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

ABSENT = 77
ADAPTER = Path(__file__).parents[1] / "tf2npu" / "adapters" / "pytorch"
MOST = 1e-3
"""Relative difference up to which numbers are those of another order of sums."""
KNOWN = {
    "empty": "memory that nothing has written has any numbers",
    "empty_like": "memory that nothing has written has any numbers",
    "empty_permuted": "memory that nothing has written has any numbers",
    "empty_strided": "memory that nothing has written has any numbers",
    "new_empty": "memory that nothing has written has any numbers",
    "new_empty_strided": "memory that nothing has written has any numbers",
    "tensor_split": "places to split at are of the host on every accelerator, and the list moves them to the device",
}
"""Operators that differ, with the reason."""


class Outcome(NamedTuple):
    """The outcome of one sample: "equal", "close", "different", or the first line of an error."""

    name: str
    text: str


def _moved(value: Any, device: str) -> Any:
    import torch
    from torch.utils._pytree import tree_map

    def move(part: Any) -> Any:
        if isinstance(part, torch.Tensor):
            return part.detach().clone().to(device).requires_grad_(part.requires_grad)
        if isinstance(part, torch.device):
            return torch.device(device)
        return device if isinstance(part, str) and part == "cpu" else part

    return tree_map(move, value)


def _tensors(value: Any) -> list[Any]:
    import torch
    from torch.utils._pytree import tree_leaves

    return [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]


def _computed(entry: Any, sample: Any, device: str) -> tuple[list[Any], list[Any]]:
    """Results and gradients on the host.  Raises: AssertionError for a result that is on no device of ours."""
    import torch

    given = _moved((sample.input, sample.args, sample.kwargs), device)
    torch.manual_seed(0)
    function = operator.getitem if entry.name == "__getitem__" else entry
    made = _tensors(function(given[0], *given[1], **given[2]))
    if lost := [part for part in made if part.device.type != torch.device(device).type]:
        raise AssertionError(f"a result on {lost[0].device}")
    roots = [part for part in made if part.requires_grad]
    leaves = [part for part in _tensors(given) if part.requires_grad and part.is_leaf]
    gradients: list[Any] = []
    if roots and leaves:
        torch.manual_seed(1)
        weights = [torch.randn(part.shape, dtype=part.dtype).to(device) for part in roots]
        gradients = [part for part in torch.autograd.grad(roots, leaves, weights, allow_unused=True) if part is not None]
    return [part.detach().cpu() for part in made], [part.detach().cpu() for part in gradients]


def _distance(one: Any, other: Any) -> float:
    """The largest difference relative to the largest number; infinite for other shapes, types or places of what is not finite."""
    import torch

    one, other = (part.to_dense() if part.layout is not torch.strided else part for part in (one, other))
    if one.shape != other.shape or one.dtype != other.dtype:
        return float("inf")
    if one.is_complex():
        one, other = (torch.view_as_real(part.resolve_conj()) for part in (one, other))
    one, other = one.resolve_neg().double(), other.resolve_neg().double()
    finite = one.isfinite()
    if not torch.equal(torch.where(finite, 0.0, one).nan_to_num(7.0), torch.where(other.isfinite(), 0.0, other).nan_to_num(7.0)):
        return float("inf")
    if not finite.any() or torch.equal(one[finite], other[finite]):
        return 0.0
    return float((one - other)[finite].abs().max() / one[finite].abs().max().clamp(min=1e-30))


def _outcome(entry: Any, sample: Any) -> str:
    """An empty text where the CPU refuses the sample."""
    try:
        expected = _computed(entry, sample, "cpu")
    except Exception:
        return ""
    try:
        found = _computed(entry, sample, "npu:0")
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    pairs = [*zip(expected[0], found[0], strict=False), *zip(expected[1], found[1], strict=False)]
    if [len(part) for part in expected] != [len(part) for part in found]:
        return "different"
    distance = max((_distance(*pair) for pair in pairs), default=0.0)
    return "equal" if distance == 0 else "close" if distance <= MOST else "different"


def outcomes(samples: int, only: tuple[str, ...], is_complex: bool) -> Iterator[Outcome]:
    """The outcomes of samples of each operator, `samples` of them at most for each type."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    for entry in op_db:
        name = f"{entry.name}.{entry.variant_test_name}".rstrip(".")
        if only and name not in only:
            continue
        for dtype in (torch.complex64,) if is_complex else (torch.float32, torch.int64):
            if not entry.supports_dtype(dtype, "cpu"):
                continue
            torch.manual_seed(7)
            has_gradients = dtype is not torch.int64 and entry.supports_autograd
            all_samples = list(entry.sample_inputs("cpu", dtype, requires_grad=has_gradients))
            for sample in all_samples[:: max(1, len(all_samples) // samples)][:samples]:
                if text := _outcome(entry, sample):
                    yield Outcome(name, text)


@click.command()
@click.option("--samples", default=4, help="Inputs of an operator for each type.")
@click.option("--only", multiple=True, help="Operators to compare.")
@click.option("--complex", "is_complex", is_flag=True, help="complex64 in place of float32 and int64.")
def main(samples: int, only: tuple[str, ...], is_complex: bool) -> None:
    """Print the operators that differ, and how many agree."""
    sys.path.insert(0, str(ADAPTER))
    try:
        import expecttest  # noqa: F401
        import torch
        import torch_npu  # noqa: F401
    except ImportError as error:
        print(f"operators are not compared: {error}")
        sys.exit(ABSENT)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    worst: dict[str, str] = {}
    for name, text in outcomes(samples, only, is_complex):
        rank = ("equal", "close").index(text) if text in ("equal", "close") else 2
        if name not in worst or rank > (("equal", "close").index(worst[name]) if worst[name] in ("equal", "close") else 2):
            worst[name] = text
    counts = Counter(
        text if text in ("equal", "close") else "known" if name in KNOWN else "not right" for name, text in worst.items()
    )
    for name, text in worst.items():
        if text != "equal":
            print(f"{name}: {KNOWN.get(name, text)}")
    print(f"{len(worst)} operators: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}")
    sys.exit(1 if counts["not right"] else 0)


if __name__ == "__main__":
    main()
