"""The device that an entry script, or each of its processes, works on."""

from __future__ import annotations

import re

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.start.entry_block import entry_guard
from tf2npu.rules.pytorch.facts.file_kinds import names_device, reaches_torch
from tf2npu.rules.pytorch.facts.left_alone import is_transferred
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_ONLY = Config(select=frozenset({"NPT203"}))
_RANKS = frozenset({"torch.distributed.init_process_group", "torch.multiprocessing.spawn"})
_SETS = re.compile(r"\bset_device(?:_index)?\s*\(|\bset_default_device\s*\(")
_BY_INDEX = re.compile(
    r"""['"](?:cuda|npu):(?:\{|%|\d)|\.(?:cuda|npu|to)\(\s*(?:self\.|args\.)?\w*(?:rank|gpu)\w*|device_ids?\s*=|LOCAL_RANK\b""",
    re.IGNORECASE,
)
"""Places that name a device by an index."""
_NAMED = re.compile(r"\bcuda\b|\bnpu\b")
_MOVES = re.compile(r"\.(?:cuda|npu|to)\(|\bdevice\s*=")
_BY_OTHERS = re.compile(r"\b(?:accelerate|lightning|pytorch_lightning|deepspeed|transformers|ignite|horovod)\b")


@rule(
    id="NPT203",
    title="The device of a process",
    on="module",
    matches=("torch.cuda.set_device", "torch.npu.set_device"),
    why="Each process works on npu:0 unless it says otherwise, so that ranks that set no device share one NPU.",
    done_when="Each process calls torch.npu.set_device with the number of its NPU before it makes a tensor there.",
    source="the textbook's listing 5-45: torch.npu.set_device in the entry block; torch.npu.set_device of Ascend/pytorch",
    examples=(
        Example.same(
            "import torch\ndef main():\n    torch.distributed.init_process_group('hccl')\n    model = Net().npu()\n"
            "if __name__ == '__main__':\n    main()\n",
            level="manual",
            config=_ONLY,
            write=(
                "import os\nimport torch\ndef main():\n    torch.npu.set_device(int(os.environ['LOCAL_RANK']))\n"
                "    torch.distributed.init_process_group('hccl')\n    model = Net().npu()\n"
                "if __name__ == '__main__':\n    main()\n"
            ),
        ),
        Example.same(
            "import torch\nif __name__ == '__main__':\n    model = Net().npu()\n", note="one device", level="info", config=_ONLY
        ),
        Example.same(
            "import torch\nif __name__ == '__main__':\n    torch.npu.set_device(1)\n    model = Net().npu()\n",
            note="it says which",
        ),
        Example.same("import torch\nif __name__ == '__main__':\n    model = Net()\n", note="no device"),
        Example.same("import torch\ndef forward(x):\n    return x.npu()\n", note="it is not run"),
    ),
)  # fmt: skip
def device_of_process(site: Site) -> None:
    """Says which NPU an entry script works on that sets none."""
    script = site.script
    if not reaches_torch(script) or not script.is_entry or not names_device(script) or is_transferred(script):
        return None
    if _SETS.search(script.text) or _BY_OTHERS.search(script.text):
        return None
    start = _start_of_ranks(script)
    if start is None:
        return _one_device(site) if _NAMED.search(script.text) else None
    if _BY_INDEX.search(script.text) or not _MOVES.search(script.text):
        return None
    site.fix.site = start
    return site.manual(
        "Each process that is started here works on npu:0: call torch.npu.set_device with the number of its own NPU first.",
        'torch.npu.set_device(int(os.environ["LOCAL_RANK"]))',
    )


def _one_device(site: Site) -> None:
    guard = entry_guard(site.script)
    if guard is None:
        return None
    site.fix.site = site.script.tree.span(guard.test)
    return site.info(
        "The script works on npu:0. Where another NPU is meant, torch.npu.set_device at the beginning of this block says so, or "
        "ASCEND_RT_VISIBLE_DEVICES in the environment."
    )


def _start_of_ranks(script: Script) -> tuple[int, int] | None:
    """The place where a script starts or joins other processes."""
    spans = (script.tree.span(node) for node, scope in script.walked.calls if script.name_of(node.func, scope) in _RANKS)
    return next(spans, None)
