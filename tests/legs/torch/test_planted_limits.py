"""Thirty scripts with something that the device lacks: each is found, at its line, as what the vendor's lists say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_npu._device import dispatch
from torch_npu._observers import operator_log

from npu_formats.device.chip import load_chip
from npu_formats.user_frames import is_library

HEAD = "import torch\nx = torch.rand(4, 4).npu() + 0.1\n"
TAIL = "\ntorch.relu(x).sum().item()\n"
PLANTED = {
    "torch.lgamma(x)": ("falls_back", "aten::lgamma"),
    "torch.digamma(x)": ("falls_back", "aten::digamma"),
    "torch.polygamma(1, x)": ("falls_back", "aten::polygamma"),
    "torch.igamma(x, x)": ("falls_back", "aten::igamma"),
    "torch.i0(x)": ("falls_back", "aten::i0"),
    "torch.special.i1(x)": ("falls_back", "aten::special_i1"),
    "torch.special.entr(x)": ("falls_back", "aten::special_entr"),
    "torch.linalg.eigh(x @ x.T)": ("falls_back", "aten::_linalg_eigh"),
    "torch.linalg.inv(x + 4 * torch.eye(4).npu())": ("falls_back", "aten::linalg_inv_ex"),
    "torch.linalg.det(x)": ("falls_back", "aten::_linalg_det"),
    "torch.linalg.cholesky(x @ x.T + 4 * torch.eye(4).npu())": ("falls_back", "aten::linalg_cholesky_ex"),
    "torch.geqrf(x)": ("falls_back", "aten::geqrf"),
    "torch.lcm(x.int() + 1, x.int() + 2)": ("falls_back", "aten::lcm"),
    "torch.nextafter(x, x + 1)": ("falls_back", "aten::nextafter"),
    "torch.copysign(x, -x)": ("falls_back", "aten::copysign"),
    "torch.hypot(x, x)": ("falls_back", "aten::hypot"),
    "torch.heaviside(x, x)": ("falls_back", "aten::heaviside"),
    "torch.binomial(x.round(), x.clamp(0, 1))": ("falls_back", "aten::binomial"),
    "torch.mode(x)": ("refused", "aten::mode"),
    "torch.poisson(x)": ("refused", "aten::poisson"),
    "torch.frac(x.double())": ("type_refused", "aten::frac"),
    "torch.multinomial(x.double(), 2)": ("type_refused", "aten::multinomial"),
    "torch.histc(x.double())": ("type_refused", "aten::histc"),
    "torch.cdist(x.double(), x.double())": ("type_refused", "aten::_cdist_forward"),
    "torch.remainder(x.bfloat16(), 2)": ("type_refused", "aten::remainder"),
}  # fmt: skip
"""The expression of the third line, and the kind and operator of its limit on an Ascend910B2."""
REFUSED = {
    "torch.nn.DataParallel(torch.nn.Linear(4, 4))": (RuntimeError, "DistributedDataParallel"),
    "torch.ones(2, device='npu:8')": (RuntimeError, "Invalid NPU device ID 8"),
    "x + torch.ones(4, 4)": (RuntimeError, "found at least two devices, npu:0 and cpu"),
    "x.numpy()": (TypeError, "can't convert npu:0 device type tensor to numpy"),
    "torch.empty(1 << 40, device='npu')": (torch.OutOfMemoryError, "NPU out of memory"),
}
"""The expression of the third line, and the error that it ends with."""


def _run(folder: Path, expression: str) -> str:
    """The place of the third line of a script, which is run."""
    script = folder / "planted.py"
    script.write_text(HEAD + expression + TAIL, encoding="utf-8")
    exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), {"__name__": "__main__"})
    return f"{script}:3"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[operator_log.OperatorLog]:
    """The log of all that runs in a test, on an Ascend910B2."""
    monkeypatch.setattr(operator_log, "chip_of_run", lambda: load_chip("Ascend910B2"))
    made = operator_log.OperatorLog(with_places=False)
    dispatch.OBSERVERS.append(made.observe)
    yield made
    dispatch.OBSERVERS.remove(made.observe)


@pytest.mark.parametrize("expression", PLANTED)
def test_a_limit_is_found_at_its_line(expression: str, tmp_path: Path, log: operator_log.OperatorLog) -> None:
    place = _run(tmp_path, expression)
    found = {(at.place, at.limit.kind, at.limit.name.partition(".")[0]) for at in log.limits if at.limit.certain}
    assert (place, *PLANTED[expression]) in found
    assert {at for at, _, _ in found} == {place}, "the other lines have none"


def test_the_scaler_of_the_adapter_meets_no_limit(log: operator_log.OperatorLog) -> None:
    """The vendor's class makes the reciprocal of the scale in float32. PyTorch's is in float64, which the chip refuses."""
    weight = torch.ones(3, device="npu", requires_grad=True)
    optimizer, scaler = torch.optim.SGD([weight], lr=0.5), torch.npu.amp.GradScaler(init_scale=1000.0)
    for _ in range(2):
        optimizer.zero_grad()
        scaler.scale((weight * weight).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert weight.tolist() == pytest.approx([0.0] * 3, abs=1e-6)
    assert not [at.limit.message for at in log.limits if at.limit.certain]
    scaler.scale((weight * weight).sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)


@pytest.mark.parametrize("expression", REFUSED)
def test_what_the_device_refuses_is_an_error_at_its_line(expression: str, tmp_path: Path) -> None:
    kind, words = REFUSED[expression]
    with pytest.raises(kind, match=words) as caught:
        _run(tmp_path, expression)
    assert _last_line(caught.value) == 3


def _last_line(error: BaseException) -> int:
    """The innermost line of the script in a traceback."""
    trace: Any = error.__traceback__
    lines = []
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1]


def test_there_are_thirty() -> None:
    assert len(PLANTED) + len(REFUSED) == 30
