"""A framework that nobody has: what a new one takes, and a proof that the scanner and the engine need no more."""

from __future__ import annotations

from tf2npu.api_support.table import ApiTable
from tf2npu.config import Config
from tf2npu.frameworks.base import Adapter, Framework
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

APIS = ApiTable([["toy.gpu", "function", "converted", "TOY101", "The toy's guide", "", "", "", ""]])
PREFIXES = ("toy.internal.", "toy.")


def canonical(name: str) -> str:
    """A public name has another spelling where it is defined."""
    return name.replace(*PREFIXES, 1) if name.startswith(PREFIXES[0]) else name


def side_effect(config: Config) -> str:
    return "import toy_npu  # noqa: F401  brings the NPU"


FRAMEWORK = Framework(
    name="toy",
    title="Toy",
    roots=frozenset({"toy", "toy_npu"}),
    bound_by=frozenset({"toy"}),
    mention=r"\btoy\b",
    rule_ids=("TOY",),
    canonical=canonical,
    running=frozenset({"toy.train"}),
    training_methods=("Model().fit",),
    api_roots=("toy",),
    apis=lambda: APIS,
    adapter=Adapter(
        module="toy_npu",
        names=frozenset({"device", "stream"}),
        rule="TOY100",
        message="Imports the NPU's part of toy.",
        side_effect=side_effect,
        comes_behind=True,
    ),
)


@rule(
    id="TOY101", title="Devices", why="There is no GPU.", source="The toy's guide",
    examples=(Example("import toy\ntoy.gpu(0)\n", "import toy\nfrom toy_npu import device\ndevice(0)\n"),),
    matches=("toy.gpu",),
)  # fmt: skip
def devices(call: Call) -> None:
    """Takes the NPU where a script takes a GPU."""
    call.replace(call.node.func, call.need("device"))
    call.fixed("The NPU takes the place of the GPU.")


@rule(
    id="TOY102", title="Moves", why="Objects are where they are made.", source="The toy's guide",
    examples=(Example.same("import toy\nx.to_gpu()\n", level="manual"),), on="unknown_method", matches=("to_gpu",),
)  # fmt: skip
def moves(call: Call) -> None:
    """Reports a method of an object that is not known."""
    call.manual("Take this call out.")
