"""Names of CUDA that classes of a project have themselves, in the files beside them; and names that go from file to file."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import FileResult

USE = "import torch\nfrom batches import {name}\ndef go(x):\n    return x.cuda(), x.is_cuda, torch.ones(2).cuda()\n"
OWN = {
    "method": ("class Batch:\n    def cuda(self):\n        return self\n", ("x.cuda()", "x.is_npu", "torch.ones(2).npu()")),
    "field": ("class Batch:\n    is_cuda = False\n", ("x.npu()", "x.is_cuda", "torch.ones(2).npu()")),
    "attribute": ("class Batch:\n    def go(self):\n        self.is_cuda = 1\n", ("x.npu()", "x.is_cuda")),
    "option": ("def Batch(parser):\n    parser.add_argument('--is-cuda')\n", ("x.npu()", "x.is_cuda")),
    "function": ("def cuda(x):\n    return x\ndef Batch():\n    pass\n", ("x.npu()", "x.is_npu")),
    "neither": ("class Batch:\n    def to_cuda(self):\n        return self\n", ("x.npu()", "x.is_npu")),
}


def converted(files: dict[str, str]) -> dict[str, FileResult]:
    project = ProjectFacts.merge(gather_facts(path, text.encode()) for path, text in files.items())
    return {path: convert_file(path, text.encode(), Config(), project) for path, text in files.items()}


@pytest.mark.parametrize("kind", OWN)
def test_a_class_of_another_file_holds_calls_back(kind: str) -> None:
    own, wanted = OWN[kind]
    results = converted({"batches.py": own, "use.py": USE.format(name="Batch")})
    text = results["use.py"].after.decode()
    assert [part for part in wanted if part not in text] == []
    is_left = {"x.cuda()", "x.is_cuda"} & {*wanted}
    levels = {f.level.value for f in results["use.py"].findings if f.rule in ("NPT103", "NPT104")}
    assert ("manual" in levels) is bool(is_left)


def test_a_name_that_another_file_hands_on_is_written_there_and_not_where_it_is_used() -> None:
    files = {
        "kinds.py": "import torch\nfrom torch import cuda\nFloats = torch.cuda.FloatTensor\n",
        "use.py": "import torch\nfrom kinds import Floats, cuda\nx = Floats(2)\ncuda.synchronize()\ncuda.CUDAGraph()\n",
    }
    results = converted(files)
    assert "torch_npu import npu as cuda" in results["kinds.py"].after.decode()
    assert "Floats = torch.npu.FloatTensor" in results["kinds.py"].after.decode()
    assert "x = Floats(2)\ncuda.synchronize()\n" in results["use.py"].after.decode()
    assert [f.level.value for f in results["use.py"].findings if f.rule == "NPT304"] in (["fixed"], ["fixed", "info"], ["manual"])


OF_CUDA = "import torch\ndef wait():\n    torch.cuda.synchronize()\n    return 'cuda', torch.ones(2).cuda()\n"


@pytest.mark.parametrize(
    ("path", "twin", "is_kept"),
    [
        ("run/cuda_device.py", "run/npu_device.py", True),
        ("run/cuda/device.py", "run/npu/device.py", True),
        ("run/cuda_device.py", "run/ascend_device.py", True),
        ("run/cuda_device.py", "run/cpu_device.py", False),
        ("run/cuda_device.py", "npu_device.py", False),
    ],
)
def test_a_file_for_cuda_beside_one_for_the_npu_stays_and_says_so(path: str, twin: str, is_kept: bool) -> None:
    result = converted({path: OF_CUDA, twin: "import torch\n"})[path]
    told = [f.message for f in result.findings if f.rule == "NPT002"]
    assert (result.after.decode() == OF_CUDA) is is_kept
    assert bool(told) is is_kept and all(twin in message for message in told)


NOTHING = (
    "import torch\nimport mine.torch as torch\ntorch.cuda.synchronize()\n",
    "from cuda import synchronize\nimport torch\nsynchronize()\n",
    "import torch\ncuda = args.cuda\nif cuda:\n    run(cuda=cuda, no_cuda=not cuda)\n",
    "import torch\nfrom pycuda import driver as cuda\ncuda.init()\n",
    "import torch\nfrom numba import cuda\n@cuda.jit\ndef f(x):\n    return cuda.grid(1)\n",
    "import torch\nfrom . import cuda\ncuda.amp.autocast()\n",
    "import torch\nclass Net:\n    cuda = True\n    def go(self):\n        return self.cuda\n",
    "import torch\nfrom torch.profiler import ProfilerActivity, profile\nkinds = [ProfilerActivity.CPU]\n",
)


@pytest.mark.parametrize("source", NOTHING)
def test_names_that_are_not_of_pytorch_stay(source: str) -> None:
    result = converted({"a.py": source})["a.py"]
    assert result.after.decode() == source
    assert [f.rule for f in result.findings if f.rule.startswith(("NPT1", "NPT3"))] == []
