"""Numbers that PyTorch's C++ would lose, as it has no kernels for the simulated device: each was lost once without a word."""

from __future__ import annotations

import pytest
import torch


def _trained(device: str, foreach: bool | None) -> torch.Tensor:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        (10 * model(torch.ones(3, 4, device=device)).sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5, foreach=foreach)
        optimizer.step()
    return torch.cat([parameter.detach().flatten().cpu() for parameter in model.parameters()])


@pytest.mark.parametrize("foreach", [None, True, False])
def test_clipping_of_gradients_clips(foreach: bool | None) -> None:
    assert torch.equal(_trained("npu", foreach), _trained("cpu", foreach))


@pytest.mark.parametrize("index", [[0, 2], [True, False, True], (slice(None), [1, 0]), [[0, 1], [1, 0]], ..., None, True, 1])
def test_an_index_of_numbers_reads_and_writes(index: object) -> None:
    host = torch.arange(9.0).view(3, 3)
    device = host.npu()
    assert torch.equal(device[index].cpu(), host[index])
    host[index], device[index] = 7, 7
    assert torch.equal(device.cpu(), host)


def test_a_tensor_without_numbers_is_refused() -> None:
    with pytest.raises(RuntimeError, match="which has no numbers"):
        torch.ones(2).npu() * torch.tensor(3.0, device="meta")
