"""`tf2npu check` of scripts for PyTorch: what agrees, planted errors, and scripts that have no step."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from npu_formats.documents.check_record import Record, read_record
from npu_formats.documents.training_steps import Steps, steps_in
from tests.legs.torch.cuda_runs import ROOT, environment, tf2npu_run
from tests.legs.torch.test_converted_names import SCRIPT as ALL_NAMES
from tests.legs.torch.test_predicted_scripts import SCRIPT as TWO_OPTIMIZERS
from tf2npu.accuracy_check import as_text
from tf2npu.accuracy_check.texts import texts
from tf2npu.accuracy_check.training_record import AGAIN, CPU, DEVICE, MadeRun, asks_device, record
from tf2npu.accuracy_check.verdicts import exit_code

EXAMPLES = ROOT / "examples_pytorch"
SCRIPT = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)).cuda()
frozen = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=1e-4)
data, labels = torch.randn(64, 8), torch.randint(0, 3, (64,))
for step in range(5):
    x, y = data[step * 8 : step * 8 + 8].cuda(), labels[step * 8 : step * 8 + 8].cuda()
    loss = nn.functional.cross_entropy(frozen(net(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
NAMES = ALL_NAMES.replace('torch.empty(1 << 40, device="cuda")', "raise torch.cuda.OutOfMemoryError")
NAMES = NAMES.replace(".float().sum()", ".float().mean()")
"""All names of CUDA, without an allocation that neither memory holds, and with a loss of which float16 holds the gradients."""
STEPS = 3
Made = Callable[[str, str], Steps]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """made(role, source): the steps that a script writes down in a process of a check, each made once."""
    known: dict[tuple[str, str], Steps] = {}

    def make(role: str, source: str) -> Steps:
        if (role, source) not in known:
            folder = tmp_path_factory.mktemp("made")
            (folder / "train.py").write_text(source, encoding="utf-8")
            asked = json.dumps({"role": role, "adapter": "torch_npu", "folder": str(folder), "steps": STEPS})
            tf2npu_run("train.py", cwd=folder, TF2NPU_CHECK=asked)
            known[role, source] = steps_in(folder / f"{role}.jsonl")
        return known[role, source]

    return make


def checked(made: Made, planted: str, run: str = CPU) -> Record:
    """The record of a check in which the migrated script has an error that was planted."""
    role = {CPU: "migrated", DEVICE: "device", AGAIN: "again"}[run]
    steps = made(role, planted)
    failure = steps.ending.failure if steps.ending is not None else None
    found = record("PyTorch", made("original", SCRIPT), [MadeRun(run, steps, failure)], None)
    return read_record({**found, "script": "train.py"})


def test_the_device_has_the_losses_of_the_cpu_to_the_last_digit(made: Made) -> None:
    found = checked(made, SCRIPT, DEVICE)
    assert exit_code(found) == 0 and found.runs[1].loss == found.runs[0].loss and len(found.runs[1].loss) == STEPS
    assert {one.device for step in made("device", SCRIPT).steps for one in step.parameters} == {"npu"}
    assert {one.device for step in made("original", SCRIPT).steps for one in step.parameters} == {"cpu"}


PLANTS = {
    "rate": ("lr=0.1", "lr=0.05", ("setting", "param_groups[0]['lr']", 0, "0.1", "0.05")),
    "decay": (", weight_decay=1e-4", "", ("setting", "param_groups[0]['weight_decay']", 0, "0.0001", "0")),
    "seed": ("manual_seed(0)", "manual_seed(1)", ("start", "Sequential.0.weight", 0, "", "")),
    "eval": ("for step", "net[3].eval()\nfor step", ("mode", "Sequential.3", 0, "train()", "eval()")),
    "data": ("data[step * 8 : step * 8 + 8]", "data[:8]", ("forward", "loss", 1, "", "")),
    "clip": ("loss.backward()", "loss.backward(); net[4].bias.grad *= 2", ("gradient", "Sequential.4.bias", 0, "", "")),
    "more": ("SGD(net.parameters()", "SGD([*net.parameters(), frozen.bias]", ("parameters", "Linear.bias", 0, "", "trained")),
    "less": ("SGD(net.parameters()", "SGD([*net[:4].parameters()]", ("parameters", "Sequential.4.weight", 0, "trained", "")),
    "adam": ("SGD(net.parameters(), lr=0.1", "Adam(net.parameters(), lr=0.1", ("setting", "optimizer", 0, "SGD", "Adam")),
    "decay by hand": (
        "optimizer.step()", "optimizer.step(); net[0].weight.data.mul_(0.9)", ("start", "Sequential.0.weight", 1, "", ""),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_is_named_with_its_step(name: str, made: Made) -> None:
    before, after, expected = PLANTS[name]
    assert SCRIPT.count(before) >= 1
    found = checked(made, SCRIPT.replace(before, after, 1))
    run = found.runs[1]
    assert run.first is not None and exit_code(found) == 1 and run.cause == "conversion"
    first = run.first
    assert (first.what, first.node, first.step, first.original, first.here) == expected
    assert Path(first.file).name == "train.py" and first.line in (12, 13)
    lines = [line.text for line in as_text.lines(found, texts("en"))]
    assert any(f"step {first.step}: " in line for line in lines) and max(map(len, lines)) <= 100


def test_a_tensor_that_is_not_moved_is_the_failure_of_the_device(made: Made) -> None:
    found = checked(made, SCRIPT.replace(", labels[step * 8 : step * 8 + 8].cuda()", ", labels[step * 8 : step * 8 + 8]"), DEVICE)
    failure = found.runs[1].failure
    assert failure is not None and failure.type == "RuntimeError" and failure.line == 10 and exit_code(found) == 3


def test_a_script_that_moves_nothing_is_told(made: Made) -> None:
    found = checked(made, SCRIPT.replace(".cuda()", ""), DEVICE)
    first = found.runs[1].first
    assert first is not None and first.what == "host" and found.runs[1].cause == "conversion" and exit_code(found) == 1


def test_a_script_for_the_cpu_may_stay_there(made: Made) -> None:
    source = SCRIPT.replace(".cuda()", "")
    original = made("original", source)
    found = record("PyTorch", original, [MadeRun(DEVICE, made("device", source))], None)
    assert found["runs"][1]["agrees"] and not asks_device(original.steps) and asks_device(made("original", SCRIPT).steps)


def test_an_original_that_is_another_each_time_has_no_cause(made: Made) -> None:
    found = checked(made, SCRIPT.replace("manual_seed(0)", "manual_seed(2)"), AGAIN)
    assert found.randomness and found.runs[1].cause == "randomness"


def test_a_parameter_that_rounding_moves_is_not_judged_on_the_device(made: Made) -> None:
    """The bias in front of a batch normalisation has a gradient of zero, of which rounding makes something."""
    found = checked(made, SCRIPT, DEVICE)
    assert found.runs[1].compared == found.runs[1].agreeing == len(found.nodes) - 1


REFERENCE = """\
import torch, torch_npu
from torch import nn
net = nn.Linear(2, 2).to(0)
seen = [net.weight, torch.ones(2).cuda(), torch.ones(2).npu(), torch.ones(2).to("cuda:1"), torch.ones(2, device=0)]
seen += [torch.ones(2, device=torch.device("cuda", 0)), torch.cuda.FloatTensor([1.0]), torch.npu.FloatTensor([1.0])]
seen += [torch.ones(2).type("torch.cuda.FloatTensor"), nn.Linear(2, 2, device="npu:0").weight, torch.ones(2).to(device=0)]
torch.save(torch.ones(2), "ones.pt")
seen += [torch.ones(2).to(torch.accelerator.current_accelerator())]
seen += [torch.load("ones.pt", map_location=place) for place in ("cuda", "npu:0", lambda storage, place: storage.cuda())]
print(sorted({(type(one).__name__, one.device.type) for one in seen}), all(one.is_cuda and one.is_npu for one in seen))
with torch.cuda.amp.autocast():
    print(net(torch.ones(1, 2)).dtype)
with torch.autocast("cuda"):
    print(net(torch.ones(1, 2)).dtype)
with torch.npu.amp.autocast(dtype=torch.bfloat16):
    print(net(torch.ones(1, 2)).dtype)
print(torch.cuda.is_available(), torch.accelerator.current_accelerator(), nn.DataParallel(net)(torch.ones(1, 2)).shape)
with torch.random.fork_rng():
    one = torch.rand(2, device="cuda")
torch.cuda.synchronize(); torch.cuda.empty_cache(); torch.cuda.set_device(0)
print(torch.equal(one, torch.rand(2)), torch.compile(net)(torch.ones(1, 2)).shape, torch.cuda.memory_allocated())
"""


def test_in_the_reference_every_device_is_the_cpu(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(REFERENCE, encoding="utf-8")
    asked = json.dumps({"role": "original", "adapter": "torch_npu", "folder": str(tmp_path), "steps": 1})
    done = tf2npu_run("train.py", cwd=tmp_path, TF2NPU_CHECK=asked)
    assert done.stdout.splitlines() == [
        "[('Parameter', 'cpu'), ('Tensor', 'cpu')] True",
        "torch.float16",
        "torch.float16",
        "torch.bfloat16",
        "True npu torch.Size([1, 2])",
        "True torch.Size([1, 2]) 0",
    ], done.stderr


def check(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`tf2npu check WORDS...` in a folder."""
    command = [sys.executable, "-m", "tf2npu", "check", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize(
    "script", [EXAMPLES / "image_amp" / "train.py", NAMES, EXAMPLES / "gpt_ddp" / "train.py", TWO_OPTIMIZERS]
)
def test_our_own_scripts_agree(script: Path | str, tmp_path: Path) -> None:
    """Mixed precision, all of CUDA's names, a transformer, a GAN's two optimizers."""
    if isinstance(script, str):
        (tmp_path / "train.py").write_text(script, encoding="utf-8")
        script = tmp_path / "train.py"
    done = check("--steps", "2", script, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "check" / "check.json").read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "tf2npu" / "accuracy_check" / "check.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    assert found["framework"] == "PyTorch" and [run["run"] for run in found["runs"]] == ["A", "A'", "B", "C"]
    assert found["runs"][0]["loss"] == found["runs"][1]["loss"] == found["runs"][2]["loss"] and found["steps"] == 2
    page = (tmp_path / "check" / "check.html").read_text(encoding="utf-8")
    assert "PyTorch" in page and "TensorFlow" not in page.partition("<body>")[2]


def test_a_migrated_script_is_named_beside_the_original(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "npu.py").write_text("import torch_npu\n" + SCRIPT.replace("cuda", "npu").replace("lr=0.1", "lr=0.2"), "utf-8")
    subprocess.run([sys.executable, "-m", "tf2npu", "scan", "train.py", "--report", "report"], cwd=tmp_path, env=environment())
    done = check("--steps", "2", "--report", "report", "--migrated", "npu.py", "train.py", cwd=tmp_path)
    assert done.returncode == 1 and "is 0.1 in the original, and 0.2 here" in done.stdout, done.stdout + done.stderr
    kept = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))["check"]
    assert kept["modes"][0]["first_difference"]["node"] == "param_groups[0]['lr']"


OVERFLOWING = """\
import torch
net = torch.nn.Linear(1, 1).cuda()
optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.cuda.amp.GradScaler()
scaler.scale(net(torch.full((1, 1), 1e35).cuda()).sum()).backward()
scaler.step(optimizer)
"""


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import torch\ntorch.load('data/none.pt')\n", "FileNotFoundError: [Errno 2]"),
        ("import torch\nprint(torch.ones(1).cuda())\n", "never called backward"),
        ("import torch\nw = torch.ones(1, requires_grad=True)\n(w * 2).backward()\n", "trains by hand"),
        (OVERFLOWING, "its GradScaler left out 1"),
        ("import sys, torch\nsys.exit('give me a file')\n", "give me a file"),
    ],
)
def test_a_script_without_a_step_is_told_in_one_line(source: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(source, encoding="utf-8")
    done = check("train.py", cwd=tmp_path)
    assert done.returncode == 3 and done.stdout == "" and "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert says in last and last.startswith("tf2npu check: train.py ")


def test_the_distance_of_sketches_is_about_that_of_the_tensors() -> None:
    import torch
    from torch_npu._observers.tensor_sketches import sketch

    from tf2npu.accuracy_check import step_comparison

    for length in (1, 5, 16, 1000, 100_003):
        one, other = torch.randn(length), torch.randn(length)
        assert step_comparison._distance(sketch(one), sketch(one.clone())) == 0
        found = step_comparison._distance(sketch(one), sketch(one + 1e-3 * other))
        expected = 1e-3 * float(torch.linalg.norm(other) / torch.linalg.norm(one))
        assert expected / 3 < found < 3 * expected
    for odd in (torch.zeros(0), torch.ones(3, dtype=torch.complex64), torch.eye(3).to_sparse(), torch.full((2,), float("nan"))):
        assert step_comparison._distance(sketch(odd), sketch(odd)) == 0
