"""Findings on PyTorch scripts beside edits: several devices, settings, libraries, float64, waits in steps, old files."""

from __future__ import annotations

import ast

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts
from tf2npu.findings import Finding
from tf2npu.rules.pytorch.facts.cuda_libraries import CUDA_LIBRARIES

TORCH = "import torch\n"
OS = f"import os\n{TORCH}"
STEP = "import torch\nimport torch_npu\nfor x, y in data:\n    x = x.npu()\n    loss = net(x)\n    loss.backward()\n"


def said(code: str, rule: str, path: str = "m.py") -> list[Finding]:
    return [f for f in convert_source(code, path).findings if f.rule == rule]


ROWS = [
    ("NPT001", f"{TORCH}if torch.accelerator.is_available():\n    pass", "info", "runs as it is"),
    ("NPT001", "from torch import accelerator\nd = accelerator.current_accelerator()", "info", "runs as it is"),
    ("NPT201", f"{OS}os.environ['NCCL_BUFFSIZE'] = '1'", "info", "HCCL_BUFFSIZE"),
    ("NPT201", f"{OS}os.environ.update({{'TORCH_NCCL_BLOCKING_WAIT': '1'}})", "info", "TORCH_HCCL_BLOCKING_WAIT"),
    ("NPT201", f"{OS}os.environ['NCCL_DEBUG'] = 'INFO'", "info", "no effect"),
    ("NPT202", f"{TORCH}net = torch.nn.parallel.DataParallel(net)", "manual", "DistributedDataParallel"),
    ("NPT202", "from torch.nn import DataParallel as DP\nnet = DP(net, device_ids=ids)", "manual", "DistributedDataParallel"),
    ("NPT202", f"{TORCH}y = torch.nn.parallel.data_parallel(net, x)", "manual", "DistributedDataParallel"),
    ("NPT203", f"{TORCH}import torch.multiprocessing as mp\ndef f(r):\n    x.npu()\nif __name__ == '__main__':\n    mp.spawn(f)",
     "manual", "set_device"),
    ("NPT402", f"{OS}os.environ['CUDA_VISIBLE_DEVICES'] = args.gpu", "info", "ASCEND_RT_VISIBLE_DEVICES"),
    ("NPT402", f"{OS}n = os.environ.get('CUDA_VISIBLE_DEVICES')", "manual", "ASCEND_RT_VISIBLE_DEVICES"),
    ("NPT402", f"{OS}os.environ['CUDA_VISIBLE_DEVICES'] = '-1'", "manual", "hides GPUs"),
    ("NPT403", "from torch.backends import cudnn\ncudnn.enabled = False", "info", "no effect"),
    ("NPT403", f"{TORCH}with torch.backends.cudnn.flags(enabled=False):\n    pass", "info", "no effect"),
    ("NPT405", "from torch import optim\no = optim.Adam(p, fused=use_fused)", "info", "NpuFusedAdam"),
    ("NPT405", f"{TORCH}@torch.compile\ndef f(x):\n    return x", "manual", "triton-ascend"),
    ("NPT405", f"{TORCH}f = torch.compile(f, backend='inductor')", "manual", "triton-ascend"),
    ("NPT501", "import torch.utils.cpp_extension as c\nc.CUDAExtension('a', ['a.cu'])", "unsupported", "NpuExtension"),
    ("NPT501", "from torch.utils import cpp_extension as c\nm = c.load_inline('a', cuda_sources=s)", "unsupported", "Ascend C"),
    ("NPT502", f"{TORCH}from numba import cuda", "unsupported", "numba.njit"),
    ("NPT502", f"{TORCH}import nvidia.dali.fn as fn", "unsupported", "DataLoader"),
    ("NPT502", f"{TORCH}from apex import amp", "unsupported", "torch.amp.autocast"),
    ("NPT502", f"{TORCH}if is_apex_available():\n    import apex", "info", "torch.amp.autocast"),
    ("NPT502", f"{TORCH}if __name__ == '__main__':\n    import triton", "unsupported", "triton-ascend"),
    ("NPT503", f"{TORCH}import torch_npu\nx = read().double()\nx.npu()", "manual", "float32"),
    ("NPT504", f"{STEP}    n = len(torch.nonzero(y))", "info", "nonzero"),
    ("NPT504", f"{STEP}    a = y[y == 1].sum()", "info", "mask"),
    ("NPT504", "import torch\nimport torch_npu\nwhile True:\n    scaler.scale(loss.npu()).backward()\n    print(loss.item())",
     "info", "Each step waits"),
    ("NPT505", f"{TORCH}self.net = torch.load(f)\nself.net.eval()", "manual", "weights_only=False"),
    ("NPT505", f"{TORCH}net = torch.load(f).eval()", "manual", "weights_only=False"),
    ("NPT505", f"{TORCH}net = torch.load(f)\ny = net(x)", "manual", "weights_only=False"),
    ("NPT506", f"{TORCH}total_loss += loss.data[0]", "manual", "item()"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "code", "level", "words"), ROWS)
def test_a_place_is_named(rule: str, code: str, level: str, words: str) -> None:
    findings = said(code, rule)
    assert [f.level.value for f in findings] == [level]
    assert words in findings[0].message


OTHERS = [
    ("NPT001", f"{TORCH}d = torch.accelerator.current_accelerator() or 'cuda'"),
    ("NPT001", "import torch\nclass A:\n    def f(self):\n        return self.accelerator"),
    ("NPT201", f"{OS}n = os.environ['NCCL_DEBUG']"),
    ("NPT201", "import os\nos.environ['NCCL_DEBUG'] = 'INFO'"),
    ("NPT202", f"{TORCH}if torch.npu.is_available():\n    pass\nelse:\n    net = torch.nn.DataParallel(net)"),
    ("NPT203", f"{TORCH}import torch.distributed as d\nif __name__ == '__main__':\n    d.init_process_group('hccl')\n"
     "    x = x.to(f'npu:{rank}')"),
    ("NPT203", f"{TORCH}from accelerate import Accelerator\nif __name__ == '__main__':\n    x.npu()"),
    ("NPT203", "import torch\nimport torch.distributed as d\nd.init_process_group('gloo')\n"),
    ("NPT402", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'"),
    ("NPT403", f"{TORCH}x.benchmark = True\ntorch.backends.mkldnn.benchmark = True"),
    ("NPT404", f"{TORCH}def train():\n    for x in data:\n        net(x.npu()).backward()"),
    ("NPT405", f"{TORCH}f = torch.compile(f, backend='aot_eager')"),
    ("NPT405", f"{TORCH}if device == 'npu':\n    pass\nelse:\n    f = torch.compile(f)"),
    ("NPT502", f"{TORCH}from .apex import amp"),
    ("NPT502", f"{TORCH}import numba\nimport apexcharts"),
    ("NPT502", f"{TORCH}if hasattr(torch, 'npu'):\n    pass\nelse:\n    import flash_attn"),
    ("NPT503", f"{TORCH}import torch_npu\nx = rotate.double(3).npu()"),
    ("NPT503", f"{TORCH}import numpy as np\nimport torch_npu\nx = np.float64(3)"),
    ("NPT504", f"{STEP}def f(v):\n    return v.item()"),
    ("NPT504", f"{STEP}print(loss.item())"),
    ("NPT504", f"{STEP}    y[y == 1] += 1"),
    ("NPT505", f"{TORCH}state = torch.load(f)\nnet.load_state_dict(state)\nnet.eval()"),
    ("NPT505", f"{TORCH}with torch.serialization.safe_globals([Net]):\n    net = torch.load(f)\nnet.eval()"),
    ("NPT505", f"{TORCH}net = torch.load(f, **options)\nnet.eval()"),
    ("NPT506", "device = 'cuda'\nx = loss.data[0]"),
    ("NPT506", f"{TORCH}x = losses.data[1]\ny = table.data[0]"),
    ("NPT506", f"{TORCH}x = loss.data[0]  # tf2npu: ignore[NPT506]"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "code"), OTHERS)
def test_others_are_not(rule: str, code: str) -> None:
    assert [f.message for f in said(code, rule)] == []


LOADER = """import torch
from torch.utils.data import DataLoader
test_loader = DataLoader(test_set, batch_size=8)
train_loader = DataLoader(train_set, batch_size=8,
                          shuffle=True)
self.net = torch.nn.DataParallel(self.net)
"""


def test_the_lines_for_several_devices_are_made_of_the_script() -> None:
    (finding,) = said(LOADER, "NPT202", "train.py")
    ast.parse(finding.after)
    lines = finding.after.splitlines()
    assert "self.net = torch.nn.parallel.DistributedDataParallel(self.net.npu(), device_ids=[local_rank])" in lines
    assert "train_loader = DataLoader(train_set, batch_size=8, sampler=DistributedSampler(train_set))" in lines
    assert "# torchrun --nproc_per_node 8 train.py" in lines
    assert lines.index("torch.npu.set_device(local_rank)") < lines.index('torch.distributed.init_process_group("hccl")')


def test_several_models_in_one_process_are_told_once() -> None:
    code = f"{TORCH}if torch.cuda.device_count() > 1:\n    a = torch.nn.DataParallel(a)\n    b = torch.nn.DataParallel(b)\n"
    assert len(said(code, "NPT202")) == 1


def test_a_rank_needs_no_more_once_it_sets_its_device() -> None:
    code = f"{TORCH}import torch_npu\ndef f(r):\n    x.npu()\nif __name__ == '__main__':\n    torch.multiprocessing.spawn(f)\n"
    assert [f.level.value for f in said(code, "NPT203")] == ["manual"]
    assert said(code.replace("    x.npu", "    torch.npu.set_device(r)\n    x.npu"), "NPT203") == []


def test_the_written_load_may_take_the_place_of_the_call() -> None:
    (finding,) = said(f"{TORCH}net = torch.load(f, map_location='cpu')\nnet.eval()\n", "NPT505")
    assert finding.replaces and finding.after == "torch.load(f, map_location='cpu', weights_only=False)"


@pytest.mark.parametrize("module", CUDA_LIBRARIES)
def test_every_library_is_found_by_its_import(module: str) -> None:
    assert [f.level.value for f in said(f"{TORCH}import {module}\n", "NPT502")] in (["manual"], ["unsupported"])
    assert [f.level.value for f in said(f"{TORCH}try:\n    import {module}\nexcept ImportError:\n    pass\n", "NPT502")] == [
        "info"
    ]


def test_a_package_of_the_project_is_no_library_from_outside() -> None:
    files = {"apex/__init__.py": "import torch\n", "apex/amp.py": "import torch\nimport apex\n", "train.py": "import apex.amp\n"}
    data = {path: text.encode() for path, text in files.items()}
    project = ProjectFacts.merge([gather_facts(path, text) for path, text in data.items()])
    found = [f for path, text in data.items() for f in convert_file(path, text, Config(), project).findings]
    assert [f for f in found if f.rule == "NPT502"] == []
