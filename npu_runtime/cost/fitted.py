"""The numbers of the cost model that no public source gives: fitted to published step and kernel times, six in all."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Fitted:
    """start_us: microseconds from the end of a task to the first cycle of the next one on its stream.

    hbm_share: share of the nominal bandwidth of device memory that tasks reach.  burst_share: share of the rate of a path that a
    product of a first-generation chip reaches where it reads an operand in row order, which its units want in blocks.
    int8_share: share of the cycles of an 8-bit product in which the cube unit computes.  depthwise_share: share of the path from
    L1 to L0A that depthwise convolutions reach, which cut windows out of one block of channels at a time.  issue_us: microseconds
    of the host to issue a single task or a graph.
    """

    start_us: float
    hbm_share: float
    burst_share: float
    int8_share: float
    depthwise_share: float
    issue_us: float


@cache
def load_fitted() -> Fitted:
    """The numbers of fitted.toml, which benchmarks/fit_device_model.py writes."""
    text = (resources.files("npu_runtime.cost") / "fitted.toml").read_text(encoding="utf-8")
    return Fitted(**tomllib.loads(text))
