"""Horovod that is called by way of what keeps it, in the file that imports it or in another: told at the call."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts
from tf2npu.findings import FileResult, Level

HVD = Config(distributed="horovod")
WRAPPER = b"""the_hvd = None


class Alone(object):
    def size(self):
        return 1


def start(many):
    global the_hvd
    if many:
        import horovod.tensorflow as hvd
        hvd.init()
        the_hvd = hvd
    else:
        the_hvd = Alone()


def size():
    return the_hvd.size()


def DistributedOptimizer(optimizer):
    return the_hvd.DistributedOptimizer(optimizer) if size() > 1 else optimizer


class Kept(object):
    @classmethod
    def DistributedOptimizer(cls, optimizer):
        return DistributedOptimizer(optimizer)
"""
TRAIN = """import tensorflow as tf
from parts import ranks
import horovod.tensorflow as hvd
from parts.ranks import start
{}
"""


def _convert(files: dict[str, bytes]) -> dict[str, FileResult]:
    project = ProjectFacts.merge(gather_facts(path, data) for path, data in files.items())
    return {path: convert_file(path, data, HVD, project) for path, data in files.items()}


def _told(line: str) -> list[tuple[str, int, str]]:
    results = _convert(
        {"parts/__init__.py": b"from .ranks import Kept\n", "parts/ranks.py": WRAPPER, "train.py": TRAIN.format(line).encode()}
    )
    found = [(path, f) for path, result in results.items() for f in result.findings if f.rule == "NPU424"]
    assert all(f.level is Level.MANUAL for _, f in found)
    return [(path, f.span.line, f.message.partition(":")[0]) for path, f in found]


IN_WRAPPER = [
    ("parts/ranks.py", 20, "If this is Horovod, write get_npu_rank_size()"),
    ("parts/ranks.py", 24, "If this is Horovod, write npu_distributed_optimizer_wrapper(optimizer)"),
]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (
            "h = ranks.the_hvd.BroadcastGlobalVariablesHook(0)",
            "NPUBroadcastGlobalVariablesHook(root_rank, index=get_npu_rank_id())",
        ),
        ("x = make().DistributedOptimizer(opt)", "npu_distributed_optimizer_wrapper(optimizer)"),
        ("n = ranks.the_hvd.local_size()", "get_npu_local_rank_size()"),
    ],
)
def test_a_call_by_way_of_another_file_is_told_where_it_stands(line: str, advice: str) -> None:
    assert _told(line) == [*IN_WRAPPER, ("train.py", 5, f"If this is Horovod, write {advice}")]


@pytest.mark.parametrize(
    "line",
    [
        "opt = ranks.DistributedOptimizer(opt)",  # the project's own function, told inside
        "opt = ranks.Kept.DistributedOptimizer(opt)",  # the same, of a class
        "from parts import Kept\nopt = Kept.DistributedOptimizer(opt)",
        "n = array.size()",
        "opt = hvd.DistributedOptimizer(opt)",  # converted
        "opt = mine.distributed_optimizer(opt)",
    ],
)
def test_what_is_no_call_by_way_of_an_object_is_not_told(line: str) -> None:
    assert _told(line) == IN_WRAPPER


def test_what_an_attribute_may_hold_beside_none_is_told() -> None:
    text = (
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\nclass X(object):\n    hvd = None\n"
        "x = X()\nx.hvd = hvd\nx.hvd.init()\nprint(x.hvd.rank(), x.other.rank())\n"
    )
    findings = convert_source(text, "train.py", Config(distributed="horovod")).findings
    assert [f.span.line for f in findings if f.rule == "NPU424"] == [7, 8]
