"""Clusters that a script describes in TF_CONFIG."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.environment_writes import SETTERS, set_by_call, set_by_item
from tf2npu.rules.facts.old_libraries import takes_part
from tf2npu.scanner.sites import Call, Site

_HEAD = "import json\nimport os\nimport tensorflow as tf\n"


@rule(
    id="NPU423",
    title="Cluster in TF_CONFIG",
    once=True,
    matches=SETTERS,
    why="NPUs are told of each other by the rank table, and NPURunConfig takes a cluster only together with parameter servers.",
    done_when="With no TF_CONFIG in the environment `tf2npu run` comes to the first step of the training.",
    source="npu_bridge.estimator.npu.npu_config.NPURunConfig(distribute, mix_compile_mode); RANK_ID and RANK_SIZE of the adapter",
    examples=(
        Example.same(f"{_HEAD}os.environ.setdefault('TF_CONFIG', json.dumps(cluster))", level="manual"),
        Example.same(f"{_HEAD}os.environ.update(TF_CONFIG='{{}}')", note="no cluster"),
    ),
)
def cluster_by_call(call: Call) -> None:
    """Reports a cluster that a script puts into TF_CONFIG."""
    for name, value in set_by_call(call):
        _report(call, name, value)


@part_of(
    cluster_by_call,
    on="reference",
    matches=("os.environ",),
    examples=(
        Example.same(
            f"{_HEAD}os.environ['TF_CONFIG'] = json.dumps({{'cluster': {{'worker': hosts}}, 'task': task}})",
            level="manual",
            write=f"{_HEAD}rank, size = os.getenv('RANK_ID', '0'), os.getenv('RANK_SIZE', '1')",
        ),
        Example.same(f"{_HEAD}os.environ['TF_CONFIG'] = json.dumps({{'task': {{'index': 0}}}})", note="no cluster"),
        Example.same(f"{_HEAD}cluster = json.loads(os.environ['TF_CONFIG'])", note="read"),
    ),
)
def cluster_by_item(site: Site) -> None:
    """Reports a cluster that a script puts into TF_CONFIG as an item of os.environ."""
    for name, value in set_by_item(site):
        _report(site, name, value)


def _report(site: Site, name: str, value: Any) -> None:
    if name != "TF_CONFIG" or not takes_part(site) or not _may_hold_cluster(site, value):
        return
    site.manual(
        "With a cluster in TF_CONFIG, NPURunConfig raises a ValueError, except under ParameterServerStrategy with "
        "mix_compile_mode=True. Take the key 'cluster' out: the launcher of the ranks sets RANK_ID and RANK_SIZE."
    )


def _may_hold_cluster(site: Site, value: Any) -> bool:
    """Whether a value is not written out, or written out with a cluster."""
    text = text_of(value, site.scope)
    if isinstance(value, cst.Call) and value.args and isinstance(value.args[0].value, cst.Dict):
        text = site.source(value)
    return text is None or "cluster" in text
