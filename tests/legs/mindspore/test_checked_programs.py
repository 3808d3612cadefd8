"""`tf2npu check --frontend mindspore`: programs that agree, planted errors, and programs that have no step or no reference."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from npu_formats.documents.check_record import Record, read_record
from npu_formats.documents.training_steps import Steps, steps_in
from tests import fork_server
from tests.check.forked_check import checked
from tests.check.plants import BREAK
from tests.legs.mindspore.recordings import read
from tf2npu.accuracy_check.training_record import DEVICE, MadeRun, record
from tf2npu.accuracy_check.verdicts import exit_code

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
SCHEMA = ROOT / "tf2npu" / "accuracy_check" / "check.schema.json"
NETWORKS = "networks_in_steps.py"
STEPS = 3
ENVIRONMENT = {
    **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))), "OMP_NUM_THREADS": "1",
}  # fmt: skip
Made = Callable[..., Steps]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """made(role, words): the steps that a program writes down in a process of a check, each made once.

    broken: source that breaks a kernel in that process.
    """
    known: dict[tuple[str, ...], Steps] = {}

    def make(role: str, *words: str, broken: str = "") -> Steps:
        key = (role, broken, *words)
        if key not in known:
            folder = tmp_path_factory.mktemp("made")
            request = {"role": role, "adapter": "mindspore", "folder": str(folder), "steps": STEPS}
            environment = {**ENVIRONMENT, "TF2NPU_CHECK": json.dumps(request)}
            program = ("run", "--frontend", "mindspore", str(PROGRAMS / words[0]), *words[1:])
            ended = fork_server.python(["-c", f"{broken}\n{fork_server.COMMAND}", *program], environment, folder)
            known[key] = steps_in(folder / f"{role}.jsonl")
            assert known[key].steps, ended.stderr
        return known[key]

    return make


def compared(made: Made, words: Sequence[str], broken: str = "") -> Record:
    """The record of the device's run of a program beside the reference."""
    steps = made("device", *words, broken=broken)
    return read_record({**record("MindSpore", made("original", *words), [MadeRun(DEVICE, steps)], None), "script": "train.py"})


AGREEING = {
    "LeNet": (NETWORKS, "LeNet", "GRAPH_MODE"),
    "LeNet with a step of its own, one by one": (NETWORKS, "LeNet", "PYNATIVE_MODE", "own"),
    "batch normalization": (NETWORKS, "BatchNormNetwork", "GRAPH_MODE"),
    "Transformer": (NETWORKS, "Transformer", "GRAPH_MODE"),
    "a loss scale with an overflow": (NETWORKS, "Linear", "GRAPH_MODE", "scaled"),
    "sunk data": ("model_sink.py",),
    "O2": ("small_resnet.py",),
}


@pytest.mark.parametrize("name", AGREEING)
def test_the_device_agrees_with_the_kernels_of_tensorflow(name: str, made: Made) -> None:
    found = compared(made, AGREEING[name])
    run = found.runs[1]
    assert exit_code(found) == 0 and len(run.loss) == STEPS, run.first
    assert run.compared >= 2 and run.agreeing == run.compared
    devices = [
        {one.device for step in made(role, *AGREEING[name]).steps for one in step.parameters} for role in ("original", "device")
    ]
    assert devices == [{"cpu"}, {"npu"}]
    assert any(step.is_half for step in made("device", *AGREEING[name]).steps) == (name == "O2")


RECORDED = {"LeNet": "lenet_built_in_step", "batch normalization": "batch_norm_network", "Transformer": "transformer"}


@pytest.mark.parametrize("name", RECORDED)
def test_the_losses_of_the_reference_are_those_of_mindspore(name: str, made: Made) -> None:
    losses = [step.loss for step in made("original", *AGREEING[name]).steps]
    np.testing.assert_allclose(losses, read("training.npz")[RECORDED[name]]["losses"][:STEPS], rtol=1e-5)


def test_a_step_that_an_overflow_leaves_out_is_counted(made: Made) -> None:
    for role in ("original", "device"):
        assert [step.left_out for step in made(role, *AGREEING["a loss scale with an overflow"]).steps] == [0, 1, 0]


def test_a_step_names_the_lines_of_the_program(made: Made) -> None:
    text = (PROGRAMS / NETWORKS).read_text().splitlines()
    step = made("original", *AGREEING["LeNet"]).steps[0]
    assert Path(step.file).name == Path(step.backward_file).name == NETWORKS
    assert "step(Tensor(data)" in text[step.line - 1] and "step(Tensor(data)" in text[step.backward_line - 1]
    own = made("original", *AGREEING["LeNet with a step of its own, one by one"]).steps[0]
    lines = (Path(__file__).parent / "networks.py").read_text().splitlines()
    assert "self.optimizer(grads)" in lines[own.line - 1] and "self.grad(self.network" in lines[own.backward_line - 1]


def times(operator: str, factor: float = 1.05) -> str:
    """Source that makes a kernel's first result so many times as large."""
    return (
        f"{BREAK}\nkernels[{operator!r}] = wrong(kernels[{operator!r}], lambda value: (value * {factor}).astype(value.dtype))\n"
    )


PLANTS = {
    "forward": ("LeNet", times("MaxPool"), ("forward", "loss")),
    "backward": ("LeNet", times("MaxPoolGrad"), ("gradient", "conv2.bias")),
    "weights": ("LeNet", times("Conv2DBackpropFilter"), ("gradient", "conv2.weight")),
    "one by one": ("LeNet with a step of its own, one by one", times("MaxPoolGrad"), ("gradient", "conv2.bias")),
    "normalization": ("batch normalization", times("FusedBatchNormGradV3"), ("gradient", "fc1.weight")),
    "sunk": ("sunk data", times("Conv2DBackpropFilter"), ("gradient", "body.0.weight")),
}


@pytest.mark.whole(but=("backward", "sunk"))
@pytest.mark.parametrize("name", PLANTS)
def test_a_kernel_that_is_wrong_is_found_at_the_first_parameter(name: str, made: Made) -> None:
    program, broken, expected = PLANTS[name]
    found = compared(made, AGREEING[program], broken)
    run = found.runs[1]
    assert run.first is not None and exit_code(found) == 1 and run.cause == "kernel"
    assert (run.first.what, run.first.node, run.first.step) == (*expected, 0)
    assert run.first.line > 0


def test_a_check_tells_of_the_device_and_of_the_kernels_beside_it(tmp_path: Path) -> None:
    found = checked(PROGRAMS / "small_resnet.py", (), tmp_path / "check", frontend="mindspore")
    assert found.code == 0, found.text
    assert "A TensorFlow's CPU loss" in found.text and "(TensorFlow against itself: 0 %)" in found.text
    assert "C device " in found.text and "agrees, 13 of 13 parameters" in found.text
    assert "nothing of it is converted" in found.text
    jsonschema.validate(found.document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert found.document["framework"] == "MindSpore" and [run["run"] for run in found.document["runs"]] == ["A", "A'", "C"]
    page = (tmp_path / "check" / "check.html").read_text(encoding="utf-8")
    assert "The device agrees with TensorFlow&#39;s CPU" in page and "migrated" not in page.partition("<body>")[2]


DILATED = """\
import numpy as np
from mindspore import Tensor, context, nn
context.set_context(mode=context.GRAPH_MODE)
class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, dilation=2, pad_mode="pad", padding=2)
    def construct(self, x):
        return self.conv(x).mean()
network = Network()
step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.1, 0.9))
print(step(Tensor(np.ones((1, 1, 8, 8), np.float32))))
"""
BY_HAND = """\
from mindspore import Tensor, ms_function, nn
from mindspore.ops import composite as C
network = nn.Dense(2, 1)
print(C.GradOperation(get_by_list=True)(network, network.trainable_params())(Tensor([[1.0, 2.0]])))
"""
WITHOUT_STEP = {
    "no kernel": (DILATED, ("cannot compute", "(Conv2DBackpropFilter, ", "train.py:9)", "do not yet support dilation")),
    "by hand": (BY_HAND, ("it computed gradients 1 times", "no optimizer of mindspore.nn was called")),
    "no gradient": ("import mindspore\n", ("made no training step: it computed no gradient",)),
    "an error": ("import mindspore\nmindspore.Tensor('a')\n", ("failed before its first training step", "train.py:2")),
}


@pytest.mark.whole(but=("no kernel", "by hand"))
@pytest.mark.parametrize("name", WITHOUT_STEP)
def test_a_program_without_a_step_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    source, says = WITHOUT_STEP[name]
    (tmp_path / "train.py").write_text(source, encoding="utf-8")
    found = checked(tmp_path / "train.py", (), tmp_path / "check", frontend="mindspore")
    last = found.text.splitlines()[-1]
    assert found.code == 3 and found.document == {} and "Traceback" not in found.text
    assert last.startswith(f"tf2npu check: {tmp_path / 'train.py'} ") and all(part in last for part in says), last
