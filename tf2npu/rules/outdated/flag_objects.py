"""Reads of `FLAGS.__flags`, which held values before TensorFlow 1.5, where absl keeps an object for each flag."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.rules.facts.tree_search import nodes_in
from tf2npu.rules.outdated.older_tensorflow import old_name
from tf2npu.scanner.sites import Site

_FLAGS = tuple(f"tensorflow.{module}.FLAGS" for module in ("app.flags", "flags"))
_OF_OBJECT = re.compile(r"\.(?:value|default|present|serialize|using_default_value)\b")
"""Attributes of absl's flags: a file with one of them knows that it has objects."""
_WRITTEN = frozenset(("__flags", "'__flags'", '"__flags"'))
_NAMES_ONLY = ("keys", "has_key", "__contains__")
_CHANGES = ("update", "pop", "setdefault", "clear", "popitem", "__setitem__")
_BY_NAME = ("sorted", "list", "len", "set", "tuple", "iter", "enumerate")
"""Built-in functions to which a mapping is the names in it."""


@part_of(
    old_name,
    on="module",
    matches=tuple(f"{name}.__flags" for name in _FLAGS),
    why="The flags are absl's since TensorFlow 1.5, which keep an object for each, where the value was kept before.",
    done_when="`tf2npu run` passes this line, and the flags have the values of the command line.",
    source="tensorflow/python/platform/flags.py of TensorFlow 1.4 and 1.15",
    examples=(
        Example(
            "FLAGS = tf.app.flags.FLAGS\nfor key, value in FLAGS.__flags.items():\n    sizes[key] = value",
            "FLAGS = tf.app.flags.FLAGS\nfor key, value in FLAGS.flag_values_dict().items():\n    sizes[key] = value",
        ),
        Example(
            "FLAGS = tf.flags.FLAGS\nconfig = dict(FLAGS.__flags.items())\nrate = config['rate'] * 2",
            "FLAGS = tf.flags.FLAGS\nconfig = dict(FLAGS.flag_values_dict().items())\nrate = config['rate'] * 2",
        ),
        Example(
            "FLAGS = tf.flags.FLAGS\nprint(FLAGS.__dict__['__flags'])",
            "FLAGS = tf.flags.FLAGS\nprint(FLAGS.flag_values_dict())",
        ),
        Example.same(
            "FLAGS = tf.flags.FLAGS\nFLAGS.__flags['rate'] = 0.1",
            level="manual",
            write="FLAGS = tf.flags.FLAGS\nFLAGS.rate = 0.1",
        ),
        Example.same(
            "FLAGS = tf.app.flags.FLAGS\nfor key, flag in FLAGS.__flags.items():\n    print(key, flag.value)",
            note="asks the objects",
        ),
        Example.same("FLAGS = tf.app.flags.FLAGS\nfor key in FLAGS.__flags.keys():\n    print(key)", note="only the names"),
    ),
)
def flag_values(site: Site) -> None:
    """Has what reads the values out of `FLAGS.__flags` read values, which are objects there now."""
    script = site.script
    if _WRITTEN.isdisjoint(script.tree.tokens) or not uses_tensorflow(script):
        return
    for node, flags in _places(site):
        here = Site(script, site.fix.rule, node, script.module_scope)
        if script.is_switched_off(site.fix.rule, node) or is_guarded(here):
            continue
        site.fix.site = script.tree.span(node)
        is_changed = _is_changed(script.walked.parents, node)
        if is_changed:
            site.manual("Flags are objects since TensorFlow 1.5, which this takes the place of: write FLAGS.name = value.")
        elif isinstance(node, cst.Subscript) or not (_takes_names(site, node) or _knows_objects(site, node)):
            site.replace(node, f"{site.source(flags)}.flag_values_dict()")
            site.fixed("Flags are objects since TensorFlow 1.5: flag_values_dict() gives their values.")


def _places(site: Site) -> list[tuple[Any, Any]]:
    """Each `FLAGS.__flags` and `FLAGS.__dict__['__flags']`, with the FLAGS in it."""
    module = site.script.tree.module
    found: list[tuple[Any, Any]] = []
    for node in nodes_in(module, cst.Attribute):
        if node.attr.value == "__flags":
            found.append((node, node.value))
    for node in nodes_in(module, cst.Subscript):
        is_of_dict = isinstance(node.value, cst.Attribute) and node.value.attr.value == "__dict__"
        if is_of_dict and re.fullmatch(r"\[\s*(['\"])__flags\1\s*\]", site.source(node).removeprefix(site.source(node.value))):
            found.append((node, node.value.value))
    return [(node, flags) for node, flags in found if site.script.name_of(flags, site.script.module_scope) in _FLAGS]


def _is_changed(parents: dict[int, cst.CSTNode], node: cst.CSTNode) -> bool:
    """Whether an item of the mapping is set or taken out."""
    parent = parents.get(id(node))
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in _CHANGES
    above = parents.get(id(parent))
    return isinstance(parent, cst.Subscript) and isinstance(above, (cst.AssignTarget, cst.AugAssign, cst.Del))


def _takes_names(site: Site, node: cst.CSTNode) -> bool:
    """Whether only the names of the flags are asked for."""
    parent = site.script.walked.parents.get(id(node))
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in _NAMES_ONLY
    if isinstance(parent, cst.Arg):
        call: Any = site.script.walked.parents.get(id(parent))
        return isinstance(call.func, cst.Name) and call.func.value in _BY_NAME
    return isinstance(parent, (cst.For, cst.CompFor, cst.ComparisonTarget, cst.Comparison))


def _knows_objects(site: Site, node: cst.CSTNode) -> bool:
    """Whether what is read is treated as absl's objects: in the loop over them, or anywhere in the file."""
    for around in site.script.walked.ancestors(node):
        if isinstance(around, (cst.For, cst.CompFor)) and isinstance(around.target, cst.Tuple):
            value = around.target.elements[-1].value
            whole = around if isinstance(around, cst.For) else site.script.walked.parents[id(around)]
            is_asked = isinstance(value, cst.Name) and re.search(rf"\b{value.value}\s*\.\s*\w", site.source(whole))
            return bool(is_asked) or not isinstance(value, cst.Name)
        if isinstance(around, cst.BaseStatement):
            break
    return _OF_OBJECT.search(site.script.text) is not None
