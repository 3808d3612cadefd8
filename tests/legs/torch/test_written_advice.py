"""Advice that the rules write for PyTorch scripts, beside PyTorch itself: names are there, and the lines for ranks run."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import tf2npu.rules.pytorch
from tests.legs.torch.cuda_runs import tf2npu_run
from tf2npu.engine.convert_file import convert_source

FOLDER = Path(tf2npu.rules.pytorch.__file__).parent
TEXTS = [
    *sorted((FOLDER / "detectors").glob("*.py")), *sorted((FOLDER / "remarks").glob("*.py")),
    FOLDER / "facts" / "cuda_libraries.py", FOLDER / "nccl_names.py", FOLDER / "data_parallel.py", FOLDER / "device_of_rank.py",
]  # fmt: skip
OF_CARDS = {
    "torch_npu.npu_fusion_attention", "torch_npu.optim", "torch_npu.optim.NpuFusedAdamW", "torch_npu.utils.cpp_extension",
    "torch_npu.utils.cpp_extension.NpuExtension", "torch_npu._C._distributed_c10d.ProcessGroupHCCL",
    "torch_npu._C._distributed_c10d.ProcessGroupHCCL.Options",
}  # fmt: skip
"""Names that the vendor's torch_npu has, and the simulated one does not."""
OF_BUILDS = ("torch.distributed.ProcessGroupNCCL", "torch.nn.parallel.data_parallel.", "torch.npu.config.")
"""Beginnings of names that other builds of PyTorch have, that only an import reaches, or that only a card has."""
NAME = re.compile(r"(?<![\w./])torch(?:_npu)?(?:\.[A-Za-z_]\w*)+(?![\w./{])")

SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
data = TensorDataset(torch.rand(16, 4), torch.rand(16, 2))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = torch.nn.Linear(4, 2)
model = torch.nn.DataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
n_steps = 0
for x, y in loader:
    loss = (model(x.npu()) - y.npu()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    n_steps += 1
import sys
total = sum(p.detach().sum() for p in model.parameters()).item()
sys.stdout.write(f"{n_steps} steps on {loss.device}: {total:.6f}\\n")
"""


def is_there(name: str) -> bool:
    found: object = importlib.import_module(name.partition(".")[0])
    path = name.split(".")
    for length in range(1, len(path)):
        if not hasattr(found, path[length]):
            try:
                importlib.import_module(".".join(path[: length + 1]))
            except ImportError:
                return False
        found = getattr(found, path[length])
    return True


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_names_in_advice_are_there(path: Path) -> None:
    import torch_npu  # noqa: F401  registers torch.npu

    names = set(NAME.findall(path.read_text(encoding="utf-8"))) - OF_CARDS
    assert [name for name in sorted(names) if not name.startswith(OF_BUILDS) and not is_there(name)] == []


def test_the_lines_for_several_devices_run_in_the_place_of_data_parallel(tmp_path: Path) -> None:
    (finding,) = [f for f in convert_source(SCRIPT, "train.py").findings if f.rule == "NPT202"]
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("model = torch.nn.DataParallel(model)\n", finding.after), encoding="utf-8")
    done = tf2npu_run("--devices", "2", script, cwd=tmp_path)
    lines = re.findall(r"(\d+) steps on (npu:\d): (-?[\d.]+)", done.stdout)
    assert sorted(device for _, device, _ in lines) == ["npu:0", "npu:1"], done.stdout + done.stderr
    assert {steps for steps, _, _ in lines} == {"2"}  # half of the 16 rows in batches of 4
    assert len({total for _, _, total in lines}) == 1
