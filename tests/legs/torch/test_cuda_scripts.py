"""Scripts for CUDA as people write them: `tf2npu run` prints what plain PyTorch prints on the CPU, and behaves as python does."""

from __future__ import annotations

import json

import pytest

from tests.legs.torch.cuda_runs import ROOT, python, tf2npu_run

LANGUAGE_MODEL = """
import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true")
args = parser.parse_args()
torch.manual_seed(1111)
device = torch.device("cuda" if args.cuda else "cpu")

class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(30, 16)
        self.rnn = getattr(nn, kind)(16, 16, 2, dropout=0.2)
        self.decoder = nn.Linear(16, 30)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return self.decoder(self.drop(out)).view(-1, 30), hidden

def detached(hidden):
    return hidden.detach() if isinstance(hidden, torch.Tensor) else tuple(map(detached, hidden))

for kind in ("LSTM", "GRU"):
    model = Model(kind).to(device)
    hidden = torch.zeros(2, 5, 16, device=device)
    hidden = (hidden, hidden.clone()) if kind == "LSTM" else hidden
    for step in range(5):
        words = torch.randint(0, 30, (8, 5)).to(device)
        model.zero_grad()
        out, hidden = model(words, detached(hidden))
        loss = nn.functional.cross_entropy(out, words.view(-1).roll(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-5.0)
        print(kind, step, repr(loss.item()))
    torch.save(model, "model.pt")
    model = torch.load("model.pt", weights_only=False)
    model.rnn.flatten_parameters()
    model.eval()
    print(kind, repr(model(words, hidden)[0].sum().item()))
"""

OLD_GAN = """
import torch
from torch.autograd import Variable

torch.manual_seed(0)
cuda = True if torch.cuda.is_available() else False
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
generator, critic = torch.nn.Linear(4, 6), torch.nn.Sequential(torch.nn.Linear(6, 1), torch.nn.Sigmoid())
loss = torch.nn.BCELoss()
if cuda:
    generator.cuda(); critic.cuda(); loss.cuda()
optimizers = [torch.optim.Adam(net.parameters(), lr=0.01) for net in (generator, critic)]
for step in range(5):
    valid = Variable(Tensor(3, 1).fill_(1.0), requires_grad=False)
    real = Variable(torch.linspace(0, 1, 18).view(3, 6).type(Tensor))
    noise = Variable(Tensor([[1, 2, 3, step]] * 3))
    made = generator(noise)
    for optimizer in optimizers:
        optimizer.zero_grad()
    total = loss(critic(made), valid) + loss(critic(real), 1 - valid)
    total.backward()
    for optimizer in optimizers:
        optimizer.step()
    print("[Batch %d] [loss: %r]" % (step, total.item()))
"""

LOADED_BY_WORKERS = """
import torch
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
data = TensorDataset(torch.randn(40, 3), torch.randint(0, 2, (40,)))
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), 0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=10)
if __name__ == "__main__":
    for x, y in DataLoader(data, batch_size=4, shuffle=True, num_workers=2, pin_memory=True):
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        print(repr(loss.item()))
"""


@pytest.mark.parametrize(("source", "asked"), [(LANGUAGE_MODEL, ["--cuda"]), (OLD_GAN, []), (LOADED_BY_WORKERS, [])])
def test_all_digits_are_those_of_the_cpu(tmp_path, source, asked):
    (tmp_path / "train.py").write_text(source)
    plain, npu = python("train.py", cwd=tmp_path), tf2npu_run("train.py", *asked, cwd=tmp_path)
    assert plain.returncode == npu.returncode == 0, plain.stderr + npu.stderr
    assert npu.stdout == plain.stdout and npu.stdout.count("\n") >= 5


class TestAProcess:
    def test_neither_tensorflow_nor_our_runtime_is_loaded_and_words_are_the_scripts(self, tmp_path):
        (tmp_path / "train.py").write_text(
            "import json, sys, torch\n"
            "print(json.dumps([sys.argv, [n for n in ('tensorflow', 'npu_runtime', 'npu_bridge') if n in sys.modules]]))\n"
        )
        done = tf2npu_run("train.py", "--epochs", "1", cwd=tmp_path)
        assert json.loads(done.stdout) == [["train.py", "--epochs", "1"], []], done.stderr

    def test_pytorch_that_only_a_file_of_the_project_imports(self, tmp_path):
        (tmp_path / "model.py").write_text("import torch\nx = torch.ones(2).cuda()\n")
        (tmp_path / "train.py").write_text("import model\nprint(model.x.device)\n")
        assert tf2npu_run("train.py", cwd=tmp_path).stdout == "npu:0\n"

    def test_a_module_and_its_exit_code(self, tmp_path):
        (tmp_path / "job").mkdir()
        (tmp_path / "job" / "__main__.py").write_text("import sys, torch\nprint(torch.ones(1).cuda().device)\nsys.exit(5)\n")
        done = tf2npu_run("-m", "job", cwd=tmp_path)
        assert (done.stdout, done.returncode) == ("npu:0\n", 5), done.stderr

    def test_a_traceback_begins_in_the_script(self, tmp_path):
        (tmp_path / "train.py").write_text("import torch\n\ntorch.ones(2).cuda() + torch.ones(2)\n")
        done = tf2npu_run("train.py", cwd=tmp_path)
        trace = done.stderr[done.stderr.index("Traceback") :].splitlines()
        assert done.returncode == 1 and 'train.py", line 3' in trace[1]
        assert "Expected all tensors to be on the same device" in done.stderr

    def test_a_package_for_cuda_that_is_missing_has_an_answer(self, tmp_path):
        (tmp_path / "train.py").write_text("import torch\nfrom pynvml.smi import nvidia_smi\n")
        done = tf2npu_run("train.py", cwd=tmp_path)
        assert done.returncode == 1 and "No module named 'pynvml'" in done.stderr
        assert "tf2npu run: pynvml is made for CUDA, and not for the NPU: use torch.npu.mem_get_info" in done.stderr

    def test_children_have_the_device(self, tmp_path):
        (tmp_path / "train.py").write_text(
            "import subprocess, sys\nimport torch\n"
            "subprocess.run([sys.executable, '-c', 'import torch; print(torch.ones(1).cuda().device)'], check=True)\n"
        )
        assert tf2npu_run("train.py", cwd=tmp_path).stdout == "npu:0\n"

    def test_pytorchs_own_launcher(self, tmp_path):
        (tmp_path / "train.py").write_text("import os, torch\nprint(os.environ['RANK'], torch.ones(1).cuda().device)\n")
        done = tf2npu_run("-m", "torch.distributed.run", "--nproc_per_node", "1", "train.py", cwd=tmp_path)
        assert done.stdout == "0 npu:0\n", done.stderr

    def test_a_real_torch_npu_wins(self, tmp_path):
        (tmp_path / "site" / "torch_npu").mkdir(parents=True)
        (tmp_path / "site" / "torch_npu" / "__init__.py").write_text("whose = 'the real one'\n")
        (tmp_path / "train.py").write_text("import torch, torch_npu\nprint(torch_npu.whose)\n")
        done = tf2npu_run("train.py", cwd=tmp_path, PYTHONPATH=f"{tmp_path / 'site'}:{ROOT}")
        assert done.stdout == "the real one\n", done.stderr
        assert done.stderr.count("\n") == 1 and "nothing is simulated" in done.stderr and str(tmp_path / "site") in done.stderr

    def test_options_without_meaning_are_told_and_a_chip_is_known(self, tmp_path):
        (tmp_path / "train.py").write_text("import torch\nprint(torch.cuda.get_device_name())\n")
        done = tf2npu_run("--option", "fusion=off", "--all-sessions", "--soc", "Ascend910B2", "train.py", cwd=tmp_path)
        assert done.stdout == "Ascend910B2\n"
        assert "--option fusion has no effect on a script for PyTorch" in done.stderr
        assert "--all-sessions has no effect: a script for PyTorch has no sessions" in done.stderr
        wrong = tf2npu_run("--soc", "910Z", "train.py", cwd=tmp_path)
        assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and "no chip is called '910Z'" in wrong.stderr
