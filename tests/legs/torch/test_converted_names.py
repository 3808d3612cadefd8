"""A script for CUDA that is converted, on the simulated device with nothing switched over: what it names is there and does it."""

from __future__ import annotations

import inspect
from pathlib import Path

import torch

from tests.legs.torch.cuda_runs import tf2npu_run
from tests.legs.torch.test_listed_names import OF_SOME_RELEASES
from tests.legs.torch.test_written_advice import is_there
from tf2npu.engine.convert_file import convert_source
from tf2npu.rules import rule_parts
from tf2npu.rules.pytorch.device_numbers import MAKING

SCRIPT = """\
import torch, torch.cuda
import torch.profiler
from torch import cuda, nn
from torch.cuda import nvtx
from torch.cuda.amp import autocast, GradScaler as Scaler
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.autograd import Variable
from torch.nn.utils.rnn import pack_sequence


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, input):
        if input.is_cuda and self.training:
            nvtx.range_push("forward")
            nvtx.range_pop()
        with torch.cuda.nvtx.range("layer"):
            return self.layer(input)


torch.cuda.manual_seed_all(1)
cuda.random.manual_seed(1)
print(torch.cuda.is_available(), cuda.device_count(), torch.version.git_version is None)
net = Net().cuda()
x = torch.ones(4, 3).cuda(0, non_blocking=True)
y = Variable(torch.ones(4, 3)).cuda()
print(x.device, y.is_cuda, next(net.parameters()).is_cuda, pack_sequence([x[0].cpu()]).cuda().is_cuda)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler, other = Scaler(), torch.amp.GradScaler()
for _ in range(2):
    with autocast():
        print(torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype())
        loss = net(x).float().sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(other.is_enabled(), torch.cuda.memory.memory_allocated() > 0)
Kind = torch.cuda.HalfTensor if torch.cuda.is_available() else torch.HalfTensor
print(Kind([1, 2]).type(), x.type("torch.cuda.LongTensor").type() == "torch.cuda.LongTensor", x.to(1).device)
torch.save(net.state_dict(), "net.pt")
print(torch.load("net.pt", map_location=lambda storage, place: storage.cuda(1))["layer.bias"].device)
print(torch.load("net.pt", map_location={"cuda:0": "cuda:3"})["layer.bias"].device)
with torch.random.fork_rng(devices=[0]):
    first = torch.rand(2, device="cuda")
print(torch.equal(first, torch.rand(2, device="cuda")), len(torch.cuda.default_generators))
start, end = torch.cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
start.record()
with torch.cuda.stream(torch.cuda.Stream()):
    end.record()
torch.cuda.synchronize()
try:
    torch.empty(1 << 40, device="cuda")
except torch.cuda.OutOfMemoryError:
    print("out of memory")
kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
with profile(activities=kinds, schedule=schedule(wait=0, warmup=0, active=1),
             on_trace_ready=torch.profiler.tensorboard_trace_handler("profile")) as p:
    with record_function("step"):
        net(x)
    p.step()
"""

PRINTED = """\
True 8 False
npu:0 True True True
True torch.float16
True torch.float16
True True
torch.npu.HalfTensor True npu:1
npu:1
npu:3
True 8
out of memory
"""


def test_a_converted_script_runs_with_nothing_switched_over(tmp_path: Path) -> None:
    result = convert_source(SCRIPT)
    assert {finding.level.value for finding in result.findings if finding.rule.startswith("NPT")} <= {"fixed", "info"}
    (tmp_path / "train.py").write_bytes(result.after)
    run = tf2npu_run("--strict", "train.py", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout == PRINTED
    assert list((tmp_path / "profile").rglob("kernel_details.csv"))


def test_a_script_may_import_the_adapter_before_torch(tmp_path: Path) -> None:
    """As with the vendor's: PyTorch asks for the adapter while that imports PyTorch."""
    (tmp_path / "train.py").write_text("import torch_npu\nimport torch\nprint(torch.ones(1).npu(), torch.ones(1).cuda())\n")
    run = tf2npu_run("train.py", cwd=tmp_path)
    assert run.stdout == "tensor([1.], device='npu:0') tensor([1.], device='npu:0')\n", run.stderr


def test_a_second_conversion_of_it_changes_nothing() -> None:
    once = convert_source(SCRIPT).after
    assert convert_source(once).after == once


def test_names_that_rules_look_for_are_of_pytorch() -> None:
    parts = [part for part in rule_parts() if part.id in ("NPT101", "NPT301", "NPT302", "NPT305", "NPT107")]
    names = {name for part in parts for name in part.matches if name.startswith("torch.") and "()" not in name}
    names -= {name for name in names if name.startswith(("torch.backends.cuda.cufft_plan_cache", "torch.hub"))}
    assert len(names) > 150
    assert {name for name in names if not is_there(name)} <= OF_SOME_RELEASES


def test_arguments_that_rules_read_stand_where_pytorch_has_them() -> None:
    forked = list(inspect.signature(torch.random.fork_rng).parameters)
    assert [forked[position] for position in (0, 1, 4)] == ["devices", "enabled", "device_type"]
    scaler = inspect.signature(torch.amp.GradScaler).parameters["device"]
    assert (next(iter(inspect.signature(torch.amp.GradScaler).parameters)), scaler.default) == ("device", "cuda")
    assert [name for name in MAKING if "device" not in (getattr(torch, name).__doc__ or "")] == []


def test_cuda_takes_what_npu_takes() -> None:
    for owner in (torch.Tensor, torch.nn.Module):
        assert hasattr(owner, "cuda") and hasattr(owner, "npu")
    x = torch.ones(2)
    assert x.npu(0, non_blocking=True).npu(device=1).device == x.npu("npu:1").device == torch.device("npu:1")
