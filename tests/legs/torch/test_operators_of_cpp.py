"""Operators whose C++ takes another way for tensors that are not its own: each was wrong, or ended the process, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.legs.torch.beside_cpu import check


def _complex(*shape: int) -> torch.Tensor:
    return torch.complex(torch.randn(*shape), torch.randn(*shape))


def _with_gradient(compute: Callable[[torch.Tensor], torch.Tensor], given: Callable[[], torch.Tensor]) -> Callable[[str], Any]:
    def computed(device: str) -> Any:
        leaf = given().to(device).requires_grad_()
        made = compute(leaf)
        (made.abs() * torch.arange(1.0, made.numel() + 1).view(made.shape).to(device)).sum().backward()
        return made, leaf.grad

    return computed


def _out(
    compute: Callable[..., Any], *given: Callable[[], torch.Tensor], dtype: torch.dtype = torch.float32
) -> Callable[[str], Any]:
    def computed(device: str) -> Any:
        made = torch.empty(0, dtype=dtype, device=device)
        assert compute(*[make().to(device) for make in given], out=made) is made
        return made, made + 1

    return computed


def _reduced(device: str) -> Any:
    dense = torch.randn(4, 3).to(device).requires_grad_()
    sparse = torch.eye(4).to_sparse_csr().to(device).requires_grad_()
    made = torch.sparse.mm(sparse, dense, "amax")
    made.sum().backward()
    return made, dense.grad


COMPUTATIONS = {
    "a product with a conjugate": _with_gradient(lambda x: x.conj() * x.mT.conj().mT, lambda: _complex(2, 2)),
    "the imaginary part of a conjugate": _with_gradient(lambda x: x.conj().imag, lambda: _complex(3)),
    "an adjoint": _with_gradient(lambda x: x.mH @ x, lambda: _complex(3, 2)),
    "a pseudo-inverse": _with_gradient(torch.linalg.pinv, lambda: _complex(4, 3)),
    "a conjugate of the host": lambda device: _complex(3).conj().to(device) * 2,
    "polar": _with_gradient(lambda x: torch.polar(x, x), lambda: torch.rand(4)),
    "hfft": _with_gradient(torch.fft.hfft, lambda: _complex(5)),
    "eigenvalues": lambda device: torch.linalg.eigvals(torch.eye(3).to(device) * 2),
    "silu": _with_gradient(torch.nn.functional.silu, lambda: torch.randn(20)),
    "mish": _with_gradient(torch.nn.functional.mish, lambda: torch.randn(20)),
    "cumprod": _with_gradient(lambda x: x.cumprod(0), lambda: torch.randn(5)),
    "cummax": _with_gradient(lambda x: x.cummax(0)[0], lambda: torch.randn(5)),
    "a quotient without remainder": _with_gradient(
        lambda x: torch.div(x, 2 * x.detach().abs() + 1, rounding_mode="floor") + x, lambda: torch.randn(5)
    ),
    "diagonal_scatter": _with_gradient(lambda x: x.diagonal_scatter(torch.ones(3).to(x.device)), lambda: torch.randn(3, 3)),
    "index_reduce": lambda device: torch.ones(3, 2, device=device).index_reduce(
        0, torch.tensor([0, 2], device=device), torch.full((2, 2), 3.0, device=device), "prod"
    ),
    "renorm": _with_gradient(lambda x: x.renorm(2, 0, 1.0), lambda: torch.randn(3, 4)),
    "a rank into a tensor": _out(torch.linalg.matrix_rank, lambda: torch.eye(3), dtype=torch.long),
    "a product of many into a tensor": _out(torch.matmul, lambda: torch.randn(2, 5, 5), lambda: torch.randn(5)),
    "a sparse product with a reduction": _reduced,
    "forward gradients of what has none": lambda device: torch.func.jvp(
        lambda x: torch.sgn(x.detach()) * x, (torch.ones(2).to(device),), (torch.ones(2).to(device),)
    ),
}


LAST_DIGIT = {"cumprod"} if torch.__version__.startswith("2.10.") else set[str]()
"""Computations whose gradient PyTorch 2.10 takes from other operators for a tensor that is wrapped."""


@pytest.mark.parametrize(("name", "compute"), COMPUTATIONS.items(), ids=COMPUTATIONS)
def test_numbers_are_the_cpus(name: str, compute: Callable[[str], Any]) -> None:
    check(compute, within=1e-6 if name in LAST_DIGIT else 0)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_sparse_tensors_may_need_gradients(layout: torch.layout) -> None:
    sparse = torch.eye(3).to_sparse(layout=layout).npu().requires_grad_()
    assert sparse.layout is layout and sparse.device.type == "npu" and sparse.is_leaf


def test_numbers_cannot_be_lost_in_a_way_that_we_do_not_know() -> None:
    with pytest.raises(
        RuntimeError, match=r"in a way that the simulated NPU cannot follow: make it on the host, then \.to\('npu'\)"
    ):
        torch._C._VariableFunctions.tensor([1.0, 2.0], device="npu")
    with pytest.raises(RuntimeError, match="cannot follow"):
        torch._C.TensorBase.new_tensor(torch.ones(1), [1.0], device="npu")
