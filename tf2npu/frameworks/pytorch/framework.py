"""The record of PyTorch and of its adapter torch_npu."""

from __future__ import annotations

from typing import Any

from tf2npu.frameworks.base import Adapter, Framework
from tf2npu.frameworks.pytorch.file_facts import file_facts
from tf2npu.frameworks.pytorch.launch_settings import said_of_settings
from tf2npu.frameworks.pytorch.object_kinds import canonical, returned

NAME = "pytorch"
ADAPTER_MODULE = "torch_npu"
IMPORT = "import torch_npu  # noqa: F401  registers the NPU"
"""The line by which a converted script brings the adapter."""


def _apis() -> Any:
    from tf2npu.frameworks.pytorch.apis import apis  # a table that conversions of other frameworks need not load

    return apis()


ADAPTER = Adapter(
    module=ADAPTER_MODULE,
    names=frozenset(),
    side_effect=lambda config: IMPORT,
    for_entries=False,  # since PyTorch 2.5 it loads torch_npu by itself, so that a script without CUDA needs no line
    comes_behind=True,
    rule="NPT100",
    message="Imports torch_npu, the adapter of PyTorch.",
)

FRAMEWORK = Framework(
    name=NAME,
    title="PyTorch",
    family="torch",
    roots=frozenset({"torch", ADAPTER_MODULE}),
    bound_by=frozenset({"torch"}),
    mention=r"\btorch(?:_npu)?\b",
    mention_where_reached=r"\bcuda\b|\bnccl\b|\.is_cuda\b",
    rule_ids=("NPT",),
    adapter=ADAPTER,
    canonical=canonical,
    returned=returned,
    running=frozenset({"torch.multiprocessing.spawn"}),
    starts=frozenset({"torch.distributed.init_process_group"}),
    api_roots=("torch",),
    apis=_apis,
    no_api="no public name of PyTorch 2.13",
    said_of_settings=said_of_settings,
    facts=file_facts,
)
