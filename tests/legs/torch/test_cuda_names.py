"""CUDA's names in a script that `tf2npu run` runs: what the NPU has takes their place, and the rest says so in one line."""

from __future__ import annotations

import json

import pytest

from tests.legs.torch.cuda_runs import tf2npu_run

ON_NPU = (
    ("torch.zeros(2, device='cuda').device", "npu:0"),
    ("torch.ones(2, device='cuda:1').device", "npu:1"),
    ("torch.full((2,), 3.0, device=torch.device('cuda', 2)).device", "npu:2"),
    ("torch.arange(3, device=torch.device('cuda')).device", "npu:0"),
    ("torch.tensor([1, 2], device='cuda:7').tolist()", "[1, 2]"),
    ("torch.as_tensor([1, 2], device='cuda:7').device", "npu:7"),
    ("torch.eye(2, device=3).device", "npu:3"),
    ("torch.linspace(0, 1, 3, device='cuda').device", "npu:0"),
    ("torch.randn(2, device='cuda').device", "npu:0"),
    ("torch.randint(3, (2,), device='cuda').device", "npu:0"),
    ("torch.randperm(3, device='cuda').device", "npu:0"),
    ("torch.empty(2, 2, device='cuda').device", "npu:0"),
    ("torch.zeros_like(HOST, device='cuda').device", "npu:0"),
    ("torch.rand_like(HOST, device='cuda:1').device", "npu:1"),
    ("torch.empty_strided((2,), (1,), device='cuda').device", "npu:0"),
    ("torch.normal(0.0, 1.0, (2,), device='cuda').device", "npu:0"),
    ("torch.fft.fftfreq(4, device='cuda').device", "npu:0"),
    ("HOST.cuda().device, HOST.cuda(1).device, HOST.cuda('cuda:2', non_blocking=True).device", "npu:0 npu:1 npu:2"),
    ("HOST.to('cuda').device, HOST.to(1).device, HOST.to(device='cuda:3').device", "npu:0 npu:1 npu:3"),
    ("HOST.cuda().to('cuda:1').device, HOST.cuda().cuda(2).device", "npu:1 npu:2"),
    ("HOST.to('cuda', torch.float16).dtype", "torch.float16"),
    ("HOST.new_zeros(2, device='cuda').device, HOST.new_full((1,), 2.0, device='cuda:1').device", "npu:0 npu:1"),
    ("HOST.is_cuda, HOST.cuda().is_cuda, HOST.cuda().cpu().is_cuda", "False True False"),
    ("HOST.type(torch.cuda.LongTensor).type()", "torch.npu.LongTensor"),
    ("HOST.type('torch.cuda.HalfTensor').type()", "torch.npu.HalfTensor"),
    ("isinstance(HOST.cuda(), torch.cuda.FloatTensor), isinstance(HOST, torch.cuda.FloatTensor)", "True False"),
    ("torch.cuda.FloatTensor(2, 3).shape, torch.cuda.LongTensor([4, 5]).tolist()", "torch.Size([2, 3]) [4, 5]"),
    ("torch.cuda.DoubleTensor(1).dtype", "torch.float32"),
    ("torch.nn.Linear(2, 3).cuda().weight.device, torch.nn.Linear(2, 3).to('cuda:1').weight.device", "npu:0 npu:1"),
    ("torch.nn.Linear(2, 3, device='cuda').bias.device", "npu:0"),
    ("torch.nn.LazyLinear(3).cuda()(torch.ones(1, 2, device='cuda')).device", "npu:0"),
    ("torch.nn.Linear(2, 3, device='meta').to_empty(device='cuda').weight.device", "npu:0"),
    ("torch.nn.utils.rnn.pack_sequence([HOST]).cuda().is_cuda", "True"),
    ("torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device()", "True 8 0"),
    ("torch.cuda.get_device_name(0), torch.cuda.get_device_properties('cuda:1').name", "Ascend910A Ascend910A"),
    ("inside(torch.cuda.device(1)), inside(torch.cuda.device('cuda:2'))", "npu:1 npu:2"),
    ("inside(torch.cuda.device(torch.device('cuda:3')))", "npu:3"),
    ("inside(torch.device('cuda:4'))", "npu:4"),
    ("inside(torch.cuda.stream(torch.cuda.Stream()))", "npu:0"),
    ("isinstance(torch.device('cuda'), torch.device), isinstance(HOST.cuda().device, torch.device)", "True True"),
    ("torch.device('cuda:1').type, torch.device('cuda', 1).index, torch.device(type='cuda', index=2)", "cuda 1 cuda:2"),
    ("pickle.loads(pickle.dumps(torch.device('cuda:1'))), copy.deepcopy(torch.device('cpu'))", "cuda:1 cpu"),
    ("torch.Generator(device='cuda').manual_seed(3).initial_seed()", "3"),
    ("cast(torch.cuda.amp.autocast()), cast(torch.autocast('cuda'))", "torch.float16 torch.float16"),
    ("cast(torch.amp.autocast(device_type='cuda'))", "torch.float16"),
    ("cast(torch.autocast('cuda', enabled=False)), torch.is_autocast_enabled()", "torch.float32 False"),
    ("scaled(torch.cuda.amp.GradScaler()), scaled(torch.amp.GradScaler())", "65536.0 65536.0"),
    ("scaled(torch.amp.GradScaler('cuda')), scaled(torch.amp.GradScaler(device='cuda'))", "65536.0 65536.0"),
    ("torch.get_device_module('cuda') is torch.npu", "True"),
    ("torch.distributed.is_nccl_available()", "True"),
    ("timed()", "True"),
    ("defaults('cuda:1'), defaults(torch.device('cuda'))", "npu:1 npu:0"),
    ("default_type(torch.cuda.FloatTensor), default_type(torch.FloatTensor)", "npu:0 torch.float32 cpu torch.float32"),
    ("default_type('torch.cuda.HalfTensor')", "npu:0 torch.float16"),
    ("[batch.device for batch in torch.utils.data.DataLoader(HOST, pin_memory=True, pin_memory_device='cuda')][0]", "cpu"),
    ("loaded(None), loaded('cuda:1'), loaded(torch.device('cuda:2')), loaded('cpu')", "npu:0 npu:1 npu:2 cpu"),
    ("loaded({'npu:0': 'cuda:3'}), loaded({'cuda:0': 'cuda:2'}), loaded({'cuda:0': 'cpu'})", "npu:3 npu:2 cpu"),
    ("loaded(lambda storage, where: storage), loaded(lambda storage, where: storage.cuda(1))", "cpu npu:1"),
    ("of_cuda(None), of_cuda('cuda:2'), of_cuda('cpu'), of_cuda({'cuda:1': 'cuda:0'})", "npu:1 npu:2 cpu npu:0"),
    ("of_cuda({'cuda:1': 'cpu'}), of_cuda(lambda storage, where: storage), of_cuda(map_cuda_1_to_3)", "cpu cpu npu:3"),
    ("forked()", "True"),
    ("scripted(HOST).tolist()", "[2.0, 2.0]"),
    ("patched()", "False True False True"),
)  # fmt: skip
"""Expressions of a script, and what they print: devices of the NPU for those of CUDA."""

REFUSED = (
    ("torch.cuda.nvtx.range_push('a')", "torch.cuda.nvtx.range_push is not on the simulated NPU: mark ranges by torch.npu.mstx"),
    ("torch.cuda.CUDAGraph()", "torch.cuda.CUDAGraph is not on the simulated NPU: operators are not captured"),
    ("enter(torch.cuda.graph(None))", "run the step without a graph"),
    ("torch.cuda.comm.scatter(HOST, [0, 1])", "torch.cuda.comm.scatter is not on the simulated NPU"),
    ("torch.cuda.memory_usage()", "torch.npu.mem_get_info"),
    ("torch.cuda.temperature()", "`npu-smi info`"),
    ("torch.cuda.cudart().cudaProfilerStart()", "torch_npu.profiler"),
    ("torch.cuda.FloatStorage(2)", "old types of storages are not simulated"),
    ("HOST.cuda(8)", "Invalid NPU device ID 8"),
    ("HOST.to('cuda:9')", "9"),
)

SCRIPT = '''
import copy, json, pickle, sys, unittest.mock, warnings
import torch
import torch.cuda.comm, torch.cuda.nvtx
from torch.cuda.amp import autocast
warnings.simplefilter("ignore")
HOST = torch.ones(2)

def inside(context):
    with context:
        return torch.zeros(1, device="cuda").device if not isinstance(context, torch.device) else torch.zeros(1).device

def enter(context):
    with context:
        pass

def cast(context):
    with context:
        return torch.nn.Linear(2, 2).cuda()(HOST.cuda()).dtype

def scaled(scaler):
    return scaler.scale(torch.ones((), device="cuda")).item()

def timed():
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record(); end.record(); torch.cuda.synchronize()
    return begin.elapsed_time(end) >= 0

def defaults(device):
    torch.set_default_device(device)
    try:
        return torch.zeros(1).device
    finally:
        torch.set_default_device("cpu")

def default_type(kind):
    torch.set_default_tensor_type(kind)
    try:
        made = torch.zeros(1)
        return f"{made.device} {made.dtype}"
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)

def loaded(location):
    torch.save({"x": HOST.cuda()}, "x.pt")
    return torch.load("x.pt", map_location=location)["x"].device

def forked():
    before = torch.cuda.get_rng_state()
    with torch.random.fork_rng(devices=[0]), torch.random.fork_rng(devices=[1], device_type="cuda"):
        torch.cuda.manual_seed(5)
    return torch.equal(before, torch.cuda.get_rng_state())

def of_cuda(location):
    """A file in which CUDA's device 1 stands, as a GPU writes it."""
    with unittest.mock.patch("torch.serialization.location_tag", lambda storage: "cuda:1"):
        torch.save({"x": HOST}, "cuda.pt")
    return torch.load("cuda.pt", map_location=location)["x"].device

def map_cuda_1_to_3(storage, where):
    assert where == "cuda:1"
    return storage.cuda(3)

@torch.jit.script
def scripted(x):
    return 2 * x

def patched():
    answers = []
    with unittest.mock.patch.object(torch.cuda, "is_available", lambda: False):
        answers.append(torch.cuda.is_available())
    answers.append(torch.cuda.is_available())
    before = torch.cuda.is_available
    torch.cuda.is_available = lambda: False
    answers.append(torch.cuda.is_available())
    torch.cuda.is_available = before
    return (*answers, torch.cuda.is_available())

answers = {}
for expression in json.loads(sys.argv[1]):
    try:
        made = eval(expression)
        answers[expression] = " ".join(map(str, made)) if type(made) is tuple else str(made)
    except Exception as error:
        answers[expression] = f"{type(error).__name__}: {error}"
json.dump(answers, open("answers.json", "w"))
'''


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, str]:
    """The value of each expression, all in one process."""
    folder = tmp_path_factory.mktemp("cuda")
    (folder / "train.py").write_text(SCRIPT)
    done = tf2npu_run("train.py", json.dumps([expression for expression, _ in (*ON_NPU, *REFUSED)]), cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "answers.json").read_text())


@pytest.mark.parametrize(("expression", "expected"), ON_NPU)
def test_a_name_of_cuda_means_the_npu(answers, expression, expected):
    assert answers[expression] == expected


@pytest.mark.parametrize(("expression", "expected"), REFUSED)
def test_what_the_npu_has_not_says_what_to_do(answers, expression, expected):
    assert answers[expression].startswith("RuntimeError: ") and expected in answers[expression]
    assert "\n" not in answers[expression]


PLACES = """import torch
from torch.cuda.amp import autocast
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def step(x):
    with autocast():
        return x.cuda().sum().item()

for _ in range(3):
    step(torch.ones(2))
model = torch.nn.Linear(2, 2).to(device)
torch.cuda.synchronize(
)
from torch_npu._observers import switched
for place in switched.places():
    print(place.line, place.says, place.instead, place.count)
"""


def test_each_place_is_told_once_with_its_line_and_what_to_write(tmp_path):
    (tmp_path / "train.py").write_text(PLACES)
    done = tf2npu_run("train.py", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "2 torch.cuda.amp.autocast torch.npu.amp.autocast 1",
        '3 "cuda" "npu" 1',
        "3 torch.cuda.is_available torch.npu.is_available 1",
        "7 .cuda .npu 3",
        "12 torch.cuda.synchronize torch.npu.synchronize 1",
    ], done.stderr


def test_strict_switches_nothing(tmp_path):
    (tmp_path / "train.py").write_text(
        "import torch\nprint(torch.cuda.is_available(), torch.ones(1).npu().device)\ntorch.ones(1).cuda()\n"
    )
    done = tf2npu_run("--strict", "train.py", cwd=tmp_path, TORCH_TRANSFER_TO_NPU="1")
    assert done.stdout == "False npu:0\n" and done.returncode == 1
    of_build = ("Torch not compiled with CUDA enabled", "Found no NVIDIA driver on your system")
    assert any(words in done.stderr for words in of_build)


def test_a_script_that_imports_the_transfer_itself_is_switched_under_python(tmp_path):
    """As on a card: `import torch_npu` alone leaves CUDA's names; the import of its module switches them."""
    (tmp_path / "train.py").write_text(
        "import torch, torch_npu\nprint(torch.cuda.is_available())\n"
        "from torch_npu.contrib import transfer_to_npu\nprint(torch.cuda.is_available(), torch.ones(1).cuda().device)\n"
    )
    done = tf2npu_run("--strict", "train.py", cwd=tmp_path)
    assert done.stdout == "False\nTrue npu:0\n", done.stderr
