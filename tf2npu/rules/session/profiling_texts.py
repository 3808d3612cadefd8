"""Options of the device's profiler, which are a JSON text."""

from __future__ import annotations

import ast
import json
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Call, Site

_IMPORT = "from npu_bridge.npu_init import ProfilingConfig\nimport tensorflow as tf\n"
_MAP = "o = tf.ConfigProto().graph_options.rewrite_options.custom_optimizers.add()\no.name = 'NpuOptimizer'\n"


@rule(
    id="NPU988",
    title="Options of the profiler",
    matches=("npu_bridge.npu_init.ProfilingConfig",),
    why="The device reads them as JSON, which knows double quotes alone: with others nothing is profiled.",
    done_when="`tf2npu run` writes a PROF folder and has no word about profiling_options.",
    source="TensorFlow adapter porting guide, profiling_options; RFC 8259, strings",
    examples=(
        Example(
            f"{_IMPORT}p = ProfilingConfig(enable_profiling=True, profiling_options=\"{{'output': '/tmp/prof'}}\")",
            f'{_IMPORT}p = ProfilingConfig(enable_profiling=True, profiling_options=\'{{"output": "/tmp/prof"}}\')',
        ),
        Example.same(f'{_IMPORT}p = ProfilingConfig(True, \'{{"output": "/tmp/prof"}}\')', note="is JSON"),
        Example.same(f"{_IMPORT}p = ProfilingConfig(True, options)", note="nobody sees it"),
        Example.same(
            f"{_IMPORT}p = ProfilingConfig(True, 'training_trace')",
            level="info",
            write=f'{_IMPORT}p = ProfilingConfig(True, \'{{"output": "/tmp/prof", "training_trace": "on"}}\')',
        ),
    ),
)
def profiling_config(call: Call) -> None:
    """Gives options in a config of an Estimator the quotes that JSON has."""
    _look_at(call, call.value("profiling_options", 1))


@part_of(
    profiling_config,
    on="assign",
    examples=(
        Example(
            f"{_MAP}o.parameter_map['profiling_options'].s = tf.compat.as_bytes(\"{{'output': '/tmp', 'task_trace': 'on'}}\")",
            f'{_MAP}o.parameter_map[\'profiling_options\'].s = tf.compat.as_bytes(\'{{"output": "/tmp", "task_trace": "on"}}\')',
        ),
        Example.same(f"{_MAP}o.parameter_map['profiling_options'].s = b'{{\"output\": \"/tmp\"}}'", note="is JSON"),
        Example.same(f"{_MAP}o.parameter_map['precision_mode'].s = b'must_keep_origin_dtype'", note="another option"),
    ),
)
def profiling_option(site: Site) -> None:
    """Gives options of a session the quotes that JSON has."""
    target = site.source(site.node)
    if "profiling_options" not in target or "parameter_map" not in target:
        return
    value: Any = next(v for t, v, _ in site.script.walked.attribute_assigns if t is site.node)
    if isinstance(value, cst.Call) and len(value.args) == 1:
        value = value.args[0].value
    _look_at(site, value)


def _look_at(site: Site, value: cst.BaseExpression | None) -> None:
    """Say what there is to say of a text that is written out, and is no JSON object."""
    text = value.evaluated_value if isinstance(value, cst.SimpleString) else None
    if text is None or not isinstance(value, cst.SimpleString) or not text.strip():
        return
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        json.loads(plain.replace("\n", ""), strict=False)
    except ValueError:
        options = _as_python(plain)
        if options is None:
            return site.info(
                "The device reads profiling_options as JSON, which this is not, and profiles nothing: write an object such as "
                '{"output": "/path", "task_trace": "on"}.'
            )
        prefix = "b" if isinstance(text, bytes) else ""
        site.replace(value, prefix + repr(json.dumps(options)))
        return site.fixed("JSON has double quotes alone: with others in profiling_options the device profiles nothing.")


def _as_python(text: str) -> dict[str, Any] | None:
    """The options of a text that is a dictionary in Python, of texts and numbers."""
    try:
        found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    is_plain = isinstance(found, dict) and all(isinstance(one, (str, int)) for pair in found.items() for one in pair)
    return found if is_plain else None
