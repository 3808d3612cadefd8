"""The precision policy: the element type that a node runs in, for each precision mode of the device.

Source of the rules: the operator-matching code and the documents of the vendor's open graph engine, retold in docs/precision.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from npu_formats.device.chip import Chip
from npu_formats.device.op_table import BLACK, GRAY, WHITE, DeviceOp, OpOnDevice, device_ops, tensorflow_ops
from npu_formats.files.whole_file import given_text
from npu_runtime.analysis.customized_types import CustomizedTypes, read_customized_types
from npu_runtime.config import HIFLOAT8_MODES, ORIGIN, RuntimeConfig
from npu_runtime.device import float_status
from npu_runtime.errors import InvalidArgument

HALVES = frozenset({"float16", "bfloat16"})
CUBE_OPS = frozenset((
    "MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2", "GEMM", "FullyConnection", "Conv2D", "Conv2DCompress",
    "Conv2DTranspose", "Conv2DTransposeD", "Conv2DBackpropInput", "Conv2DBackpropInputD", "Conv2DBackpropFilter",
    "Conv2DBackpropFilterD", "Conv3D", "Conv3DBackpropInput", "Conv3DBackpropInputD", "Conv3DBackpropInputV2",
    "Conv3DBackpropFilter", "Conv3DBackpropFilterD", "Conv3DBackpropFilterV2", "Conv3DTranspose", "Conv3DTransposeD",
    "Conv3DTransposeV2", "DepthwiseConv2D", "DepthwiseConv2DBackpropInput", "DepthwiseConv2DBackpropInputD",
    "DepthwiseConv2DBackpropFilter", "DepthwiseConv2DBackpropFilterD", "Deconvolution",
))  # fmt: skip
"""Operators that every mode but the origin type's lets the cube unit do in 16 bits.  Source: the engine's list fp16.op_type."""


class Types(NamedTuple):
    """given: type of the node's inputs.  made: of its results."""

    given: str
    made: str


@dataclass(frozen=True)
class Question:
    """op: the operator.  origin: the type that the graph gives the node.  producer: type of the first float input, "" when
    there is none.  keeps: whether the script forbids fewer bits (keep_dtype_scope).
    """

    op: DeviceOp
    origin: str
    producer: str
    keeps: bool


def _same(dtype: str) -> Types:
    return Types(dtype, dtype)


def _reduced(question: Question, half: str) -> Types | None:
    """Fewer bits where the graph has 32, the operator takes them and nobody forbids it."""
    if question.origin != "float32" or question.keeps or not question.op.has(half):
        return None
    return Types(half, question.op.result_of(half))


def _only_where_needed(question: Question, half: str) -> Types:
    """The origin type; 16 bits only for an operator that has nothing wider."""
    has_origin = question.op.has(question.origin)
    return _same(question.origin) if has_origin else _reduced(question, half) or _same(question.origin)


def _keep_origin(question: Question, half: str) -> Types:
    return _same(question.origin)


def _allow_reduction(question: Question, half: str) -> Types:
    """Cube operators in 16 bits, all others as they are."""
    reduced = _reduced(question, half) if question.op.name in CUBE_OPS else None
    return reduced or _only_where_needed(question, half)


def _force_reduction(question: Question, half: str) -> Types:
    return _reduced(question, half) or _same(question.origin)


def _cube_in_half(question: Question, half: str) -> Types:
    """Cube operators take 16 bits and give 32, all others work in 32."""
    if question.op.name in CUBE_OPS:
        wide = not question.op.types or (half, "float32") in question.op.types
        if wide and not (question.keeps and question.origin == "float32"):
            return Types(half if question.origin == "float32" else question.origin, "float32")
    if question.origin in HALVES and question.op.has("float32"):
        return _same("float32")
    return _only_where_needed(question, half)


def _mix(question: Question, half: str) -> Types:
    """White operators in 16 bits, black ones in the origin type, gray ones as what they read."""
    if question.op.list == BLACK:
        return _same(question.origin)
    if question.op.list == WHITE:
        return _reduced(question, half) or _same(question.origin)
    if not question.producer:
        return _allow_reduction(question, half)
    if question.producer == half and question.origin == "float32":
        return _reduced(question, half) or _same(question.origin)
    return _only_where_needed(question, half)


Rule = Callable[[Question, str], Types]
_RULES: Mapping[str, tuple[Rule, str]] = {
    ORIGIN: (_keep_origin, ""),
    "allow_fp32_to_fp16": (_allow_reduction, "float16"),
    "allow_fp32_to_bf16": (_allow_reduction, "bfloat16"),
    "force_fp16": (_force_reduction, "float16"),
    "force_fp32": (_cube_in_half, "float16"),
    "cube_fp16in_fp32out": (_cube_in_half, "float16"),
    "allow_mix_precision": (_mix, "float16"),
    "allow_mix_precision_fp16": (_mix, "float16"),
    "allow_mix_precision_bf16": (_mix, "bfloat16"),
}


@dataclass(frozen=True)
class PrecisionPolicy:
    """mode: one of precision_mode's values.  lists: operators whose list a file has changed.  customized: what another file
    asks for.  notes: what to tell the user.
    """

    mode: str = ORIGIN
    lists: Mapping[str, str] = field(default_factory=dict)
    customized: CustomizedTypes = field(default_factory=CustomizedTypes)
    notes: tuple[str, ...] = ()

    @property
    def is_origin(self) -> bool:
        """Whether every node runs in the type that the graph gives it."""
        return self.mode == ORIGIN

    @property
    def uses_float16(self) -> bool:
        """Whether nodes that have more bits in the graph may run in fp16."""
        return _RULES[self.mode][1] == "float16" or self.customized.has("float16")

    @property
    def mixes(self) -> bool:
        """Whether the lists count."""
        return _RULES[self.mode][0] is _mix

    def types(self, node: str, row: OpOnDevice, origin: str, producer: str, keeps: bool) -> Types:
        """The types that a node of `row`'s op runs in."""
        op = device_ops()[row.device_op]
        asked = self.customized.of(node, row)
        if asked and op.has(asked[0]) and not (keeps and asked[0] in HALVES):
            return Types(*asked)
        if op.name in self.lists:
            op = replace(op, list=self.lists[op.name])
        rule, half = _RULES[self.mode]
        return rule(Question(op, origin, producer, keeps), half)


def load_policy(config: RuntimeConfig, chip: Chip) -> PrecisionPolicy:
    """The policy that a session's options ask for on a chip.

    A list file that is not there changes nothing, which a note tells.
    Raises: InvalidArgument for a list file that cannot be read or is not of the form.
    """
    mode = config.precision.mode or (_default(config, chip) if config.device_defaults else ORIGIN)
    notes = []
    if config.parameters.get("precision_mode_v2") in HIFLOAT8_MODES:
        notes.append(f"precision_mode_v2={config.parameters['precision_mode_v2']}: no Ascend 910 has HiFloat8; the types stay")
    if mode.endswith("_bf16") and not chip.has_bfloat16:
        notes.append(f"{mode}: numbers are rounded to bfloat16, which {chip.name} itself has not (--option soc=Ascend910B2 has)")
    policy, mixlist = PrecisionPolicy(mode), config.precision.mixlist
    lists: dict[str, str] = {}
    if mixlist and policy.mixes and _is_there("modify_mixlist", mixlist, notes):
        lists, unknown = read_mixlist(mixlist)
        notes += [f"modify_mixlist: the device has no operator {name!r}" for name in unknown]
    elif mixlist and not policy.mixes:
        notes.append(f"modify_mixlist is not read: it needs precision_mode allow_mix_precision, and the mode is {mode}")
    types, customized = config.parameters.get("customize_dtypes"), CustomizedTypes()
    if types and isinstance(types, str) and not policy.is_origin and _is_there("customize_dtypes", types, notes):
        customized = read_customized_types(types)
    if not policy.is_origin:
        customized = customized.with_float32(config.in_float32)
    return PrecisionPolicy(mode, lists, customized, tuple(notes))


def saturates(policy: PrecisionPolicy, config: RuntimeConfig, chip: Chip) -> bool:
    """Whether a run of a session cuts fp16 results that are too large: by option, else as the process asked, else as the chip
    does where a session lets nodes run in fp16; exact numbers stay TensorFlow's.
    """
    if config.overflow:
        return config.overflow == "saturation"
    if float_status.asked is not None:
        return float_status.asked
    return chip.saturates and (policy.uses_float16 or config.device_defaults)


def _is_there(option: str, path: str, notes: list[str]) -> bool:
    found = Path(path).exists()
    if not found:
        notes.append(f"{option}: there is no file {path} below {Path.cwd()}; the device's own lists are used")
    return found


def _default(config: RuntimeConfig, chip: Chip) -> str:
    return chip.inference_precision if config.parameters.get("graph_run_mode") == 0 else chip.training_precision


_LISTS = {"black-list": BLACK, "white-list": WHITE, "gray-list": GRAY}


def read_mixlist(path: str) -> tuple[dict[str, str], list[str]]:
    """New list by operator, and names that the device does not know.

    path: a file {"black-list": {"to-add": [...], "to-remove": [...]}, "white-list": ..., "gray-list": ...}.  What is removed
    from a list and not added to another is gray; what is added leaves its old list.
    Raises: InvalidArgument that names the file and the entry.
    """
    try:
        document = json.loads(given_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"modify_mixlist: {path} cannot be read as JSON: {error}") from None
    if not isinstance(document, dict) or not set(document) <= set(_LISTS):
        raise InvalidArgument(f"modify_mixlist: {path} must be an object with the keys {', '.join(_LISTS)}")
    removed = {name: GRAY for key in document for name in _names(path, document, key, "to-remove")}
    added: dict[str, str] = {}
    for key, chosen in _LISTS.items():
        for name in _names(path, document, key, "to-add"):
            if added.setdefault(name, chosen) != chosen:
                raise InvalidArgument(f"modify_mixlist: {path} adds {name} to two lists, {added[name]} and {chosen}")
    lists = {op: chosen for name, chosen in {**removed, **added}.items() for op in operators_named(name)}
    return lists, sorted(name for name in {**removed, **added} if not operators_named(name))


def _names(path: str, document: Mapping[str, Any], key: str, part: str) -> list[str]:
    """The operators that one part of a list names."""
    entry = document.get(key, {})
    if not isinstance(entry, dict) or not set(entry) <= {"to-add", "to-remove"}:
        raise InvalidArgument(f"modify_mixlist: {key} of {path} must be an object with to-add and to-remove")
    names = entry.get(part, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidArgument(f"modify_mixlist: {part} of {key} in {path} must be a list of operator names")
    return names


@cache
def operators_named(name: str) -> tuple[str, ...]:
    """The operator of that name, and those that it may stand for: MatMul for MatMulV2, ReduceSumD for ReduceSum."""
    names = [name] if name in device_ops() else []
    names += [row.device_op for row in tensorflow_ops().values() if row.device_op and name in (row.tf_op, *row.forms)]
    return tuple(dict.fromkeys(names))
