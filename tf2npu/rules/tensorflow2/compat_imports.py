"""Imports of TensorFlow in scripts of TensorFlow 1 that are to run on TensorFlow 2, where `tensorflow` has other names."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tf2npu.config import TF2_COMPAT, Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_COMPAT = Config(dialect=TF2_COMPAT)
_OLD, _NEW = "tensorflow", "tensorflow.compat.v1"


@rule(
    id="NPU815",
    title="Names of version 1",
    on="import",
    why="TensorFlow 2 has version 1's names in tensorflow.compat.v1; some of its own are spelled alike and mean something else.",
    done_when="A name of version 1 comes from tensorflow.compat.v1.",
    source="tensorflow.compat.v1 of TensorFlow 2.15",
    examples=(
        Example(
            "import tensorflow as tf\ndef net(x):\n    return tf.layers.dense(x, 2)",
            "import tensorflow.compat.v1 as tf\ndef net(x):\n    return tf.layers.dense(x, 2)",
            config=_COMPAT,
        ),
        Example(
            "import tensorflow\ndef net():\n    return tensorflow.get_variable('w', [2])",
            "import tensorflow.compat.v1 as tensorflow\ndef net():\n    return tensorflow.get_variable('w', [2])",
            config=_COMPAT,
        ),
        Example.same(
            "import tensorflow.compat.v1 as tf\ndef net():\n    return tf.get_variable('w', [2])", note="there", config=_COMPAT
        ),
        Example.same(
            "import tensorflow as tf\ndef net():\n    return tf.compat.v1.get_variable('w', [2])",
            note="the file says itself whose names it means",
            config=_COMPAT,
        ),
    ),
)
def compat_names(site: Site) -> None:
    """Brings the names of version 1 from tensorflow.compat.v1, in files that do not speak of compat themselves."""
    node = site.node
    if site.script.config.dialect != TF2_COMPAT or "compat" in site.script.text.replace("npu_device.compat", ""):
        return
    if isinstance(node, cst.ImportFrom):
        if node.module is not None and not node.relative and dotted_name(node.module) == _OLD:
            site.replace(node.module, _NEW)
    else:
        for alias, is_whole in _plain(node):
            site.replace(alias, f"{_NEW} as {_OLD}") if is_whole else site.replace(alias.name, _NEW)
    if site.fix.changes:
        site.fixed("Version 1's names come from tensorflow.compat.v1.")


def _plain(node: cst.Import) -> Iterator[tuple[cst.ImportAlias, bool]]:
    """Imports of TensorFlow as a whole, and whether one binds the name `tensorflow`, as one by another name does not."""
    for alias in node.names:
        if dotted_name(alias.name) == _OLD:
            yield alias, alias.asname is None


@part_of(
    compat_names,
    on="module",
    examples=(
        Example.same(
            "import tensorflow.compat.v1 as tf\ndef net(x):\n    return tf.contrib.layers.flatten(x)",
            level="manual",
            config=_COMPAT,
        ),
        Example.same(
            "import tensorflow.compat.v1 as tf\ndef net(x):\n    return tf.layers.flatten(x)", note="there", config=_COMPAT
        ),
    ),
)
def contrib_of_version_1(site: Site) -> None:
    """Reports the first use of each part of tf.contrib, which TensorFlow 2 does not have."""
    script = site.script
    if script.config.dialect != TF2_COMPAT:
        return
    said: set[str] = set()
    for node, scope in script.walked.references:
        name = script.name_of(node, scope) or ""
        if name.startswith("tensorflow.contrib.") and name not in said:
            said.add(name)
            site.fix.site = script.tree.span(node)
            site.manual(f"TensorFlow 2 has no tf.contrib: write {name} in another way, or convert with --target tf1.")
