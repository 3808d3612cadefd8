"""`tf2npu predict` of scripts for PyTorch, and what `tf2npu run --report` puts into a report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[3]
TOOL = Path(sys.executable).with_name("tf2npu")
SCRIPT = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 4))
net.cuda()
judge = torch.nn.Linear(4, 1).cuda()
first, second = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.Adam(judge.parameters())
for step in range(50):
    images, labels = torch.randn(16, 3, 8, 8).cuda(), torch.randint(0, 4, (16,)).cuda()
    made = net(images)
    loss = torch.nn.functional.cross_entropy(made, labels)
    first.zero_grad()
    loss.backward()
    first.step()
    second.zero_grad()
    judge(made.detach()).mean().backward()
    second.step()
    print(step, loss.item())
print("the end")
"""


def _tool(*words: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([TOOL, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("scripts")
    (made / "train.py").write_text(SCRIPT, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def predicted(folder: Path) -> dict[str, Any]:
    _tool("predict", "--soc", "910A,910B2", "--json", "step.json", "train.py", cwd=folder)
    return json.loads((folder / "step.json").read_text(encoding="utf-8"))


def test_a_step_has_two_bounds_and_no_single_time(predicted: dict[str, Any]) -> None:
    jsonschema.validate(
        predicted, json.loads((ROOT / "npu_formats/documents/prediction.schema.json").read_text(encoding="utf-8"))
    )
    assert [chip["soc"] for chip in predicted["chips"]] == ["Ascend910A", "Ascend910B2"]
    for chip in predicted["chips"]:
        fused, alone = chip["bounds_ms"]
        assert 0 < fused < alone and chip["step_ms"] is None
        assert max(task["start_us"] + task["duration_us"] for task in chip["tasks"]) == pytest.approx(1000 * alone)
        assert sum(filter(None, chip["shares"].values())) == pytest.approx(1)
    assert predicted["batch"] == 16


def test_a_step_has_the_operators_of_both_optimizers_at_their_lines(predicted: dict[str, Any]) -> None:
    """Convolution forward and backward: 2 x 16 x 36 x 8 x 27 operations, and as many to the filters; images want none."""
    convolutions = [task for task in predicted["tasks"] if "onv2D" in task["op_type"]]
    assert [task["flops"] for task in convolutions] == [2 * 16 * 36 * 8 * 27] * 2
    lines = {int(task["source"].rpartition(":")[2]) for task in predicted["tasks"] if task["source"]}
    assert lines >= {10, 13, 14, 16, 17}
    places = {place for chip in predicted["chips"] for task in chip["tasks"] if (place := task["source"])}
    assert {place.rpartition(":")[0] for place in places} == {"train.py"}, "places are told from the current folder"


def test_shapes_alone_give_the_same_bounds(predicted: dict[str, Any], folder: Path) -> None:
    done = _tool("predict", "--shapes-only", "--soc", "910A,910B2", "--json", "shapes.json", "train.py", cwd=folder)
    alone = json.loads((folder / "shapes.json").read_text(encoding="utf-8"))
    assert [chip["bounds_ms"] for chip in alone["chips"]] == [chip["bounds_ms"] for chip in predicted["chips"]]
    assert alone["memory_peak_bytes"] == predicted["memory_peak_bytes"]
    assert "the end" not in done.stdout + done.stderr and "each operator a task" in done.stdout
    assert "shapes alone, no numbers" in done.stderr and "PyTorch's on the CPU" not in done.stderr


@pytest.mark.parametrize(
    ("command", "words", "says"),
    [
        ("predict", ("--precision", "force_fp16"), "torch.autocast"),
        ("predict", ("--batch", "32", "--devices", "2"), "one after the other"),
        ("check", ("--mode", "force_fp16"), "torch.autocast"),
        ("check", ("--free",), "own parameters"),
        ("check", ("--option", "fusion=off"), "no session"),
        ("tune", (), "does not know"),
    ],
)
def test_a_command_or_option_that_knows_no_pytorch_says_so(command: str, words: tuple[str, ...], says: str, folder: Path) -> None:
    done = _tool(command, *words, "train.py", cwd=folder, code=2)
    assert says in done.stderr and len(done.stderr.splitlines()) == 1


def test_another_batch_is_what_the_script_has_with_that_batch(predicted: dict[str, Any], folder: Path) -> None:
    done = _tool("predict", "--batch", "16", "32", "--json", "more.json", "train.py", cwd=folder)
    first, second = (line for line in done.stderr.splitlines() if " operators of " in line)
    assert "PyTorch's on the CPU" in first and second.endswith("; shapes alone, no numbers, for a batch of 32")
    assert "`tf2npu run --report DIR` says where" in done.stderr, "predict has no list of names"
    more = json.loads((folder / "more.json").read_text(encoding="utf-8"))
    (folder / "larger.py").write_text(SCRIPT.replace("16, 3", "32, 3").replace("(16,)", "(32,)"), encoding="utf-8")
    _tool("predict", "--shapes-only", "--json", "larger.json", "larger.py", cwd=folder)
    larger = json.loads((folder / "larger.json").read_text(encoding="utf-8"))
    assert more["bounds_ms"] == predicted["chips"][0]["bounds_ms"] and more["batch"] == 16
    (other,) = more["alternatives"]
    assert other["batch"] == 32 and other["bounds_ms"] == pytest.approx(larger["bounds_ms"], rel=0.01)
    assert other["memory_peak_bytes"] == pytest.approx(larger["memory_peak_bytes"], rel=0.05)
    assert 16 < more["largest_batch"] < 34e9 / (4 * 3 * 64)


def test_a_batch_that_the_script_cannot_have_is_said(tmp_path: Path) -> None:
    script = SCRIPT.replace("made = net(images)", "made = net(images.view(16, 3, 8, 8))")
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    done = _tool("predict", "--batch", "8", "--steps", "1", "train.py", cwd=tmp_path)
    assert "There is no prediction for a batch of 8" in done.stdout


def test_a_script_without_a_step_has_no_prediction(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("import torch\nprint(torch.ones(2).cuda().sum())\n", encoding="utf-8")
    done = _tool("predict", "short.py", cwd=tmp_path, code=1)
    assert "no prediction; a step is seen that ends with the step of an optimizer" in done.stderr


def test_a_report_has_the_run_with_limits_copies_memory_and_names(tmp_path: Path) -> None:
    script = SCRIPT.replace("range(50)", "range(3)").replace("    made = net", "    torch.lgamma(images)\n    made = net")
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    _tool("scan", "train.py", "--report", "report", cwd=tmp_path)
    done = _tool("run", "--soc", "Ascend910B2", "--report", "report", "train.py", cwd=tmp_path)
    assert "the end" in done.stdout and "falls back" not in done.stdout
    assert "taken for the NPU's: the report says where" in done.stderr and "--report" not in done.stderr
    run = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))["run"]
    assert run["steps"] == 6 and run["eager_operators"]["count"] > 100 and run["device_share"] < 1
    (limit,) = [one for one in run["limit_lines"] if one["operator"].startswith("aten::lgamma")]
    assert (limit["at"], limit["kind"], limit["is_certain"], limit["count"]) == (
        {"path": "train.py", "line": 10},
        "falls_back",
        True,
        3,
    )
    assert [one["at"]["line"] for one in run["host_lines"]] == [10]
    copies = {(one["at"]["line"], one["direction"]): one["count"] for one in run["copy_lines"]}
    assert copies[9, "host to device"] == 6 and copies[19, "number to Python"] == 3
    assert {one["at"]["line"] for one in run["switched_lines"]} >= {5, 6, 9}
    assert run["memory_peaks"][0]["capacity"] == 64 << 30
    page = (tmp_path / "report" / "runs.html").read_text(encoding="utf-8")
    assert all(
        title in page for title in ("On the host", "Copies between host and device", "Memory of the devices", "Names of CUDA")
    )
