"""Settings of a device session: what the script's NpuOptimizer entry says, and what the launcher overrides."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from npu_formats.device.chip import DEFAULT_CHIP, Chip, ChipProblem, load_chip
from npu_formats.environment import TF2NPU_OPTIONS
from npu_runtime.errors import InvalidArgument

PRECISION_MODES = (
    "must_keep_origin_dtype", "allow_fp32_to_fp16", "allow_fp32_to_bf16", "force_fp16", "force_fp32", "cube_fp16in_fp32out",
    "allow_mix_precision", "allow_mix_precision_fp16", "allow_mix_precision_bf16",
)  # fmt: skip
ORIGIN = PRECISION_MODES[0]
TUNING_SECONDS = 300.0
"""Seconds that the tuning of one program may take: a ResNet-50 step has about 180 different operators, and their search needs
less than a second each."""
MOST_TUNING_SECONDS = 7 * 24 * 3600.0
"""Seconds of the longest tuning of one program that may be asked for: a week. 300 seconds suffice for the largest networks here,
and the system's clocks and locks take no number beyond some centuries (`threading.TIMEOUT_MAX`)."""
HIFLOAT8_MODES = ("cube_hif8", "mixed_hif8")
"""No Ascend 910 has HiFloat8, so these change nothing here."""
_V2_MODES = {
    "fp16": "force_fp16", "origin": ORIGIN, "cube_fp16in_fp32out": "cube_fp16in_fp32out",
    "mixed_float16": "allow_mix_precision_fp16", "mixed_bfloat16": "allow_mix_precision_bf16",
    **dict.fromkeys(HIFLOAT8_MODES, ORIGIN),
}  # fmt: skip
"""The names of precision_mode_v2."""


@dataclass(frozen=True)
class GradientSplit:
    """A split of the gradients of a group into parts, each of which is reduced in one call.

    indices: number of the last gradient of each part.  percent: without these, the share of the bytes of each part.
    """

    indices: tuple[int, ...] = ()
    percent: tuple[float, ...] = (96.54, 3.46)
    """Source of the default: the vendor's documentation, which calls it the best split of ResNet-50."""


@dataclass(frozen=True)
class Precision:
    """mode: one of PRECISION_MODES, "" when nobody asked.  mixlist: path of a file that changes the lists of mixed precision."""

    mode: str = ""
    mixlist: str = ""


@dataclass(frozen=True)
class RuntimeConfig:
    """soc: name of a chip file.  host_fallback: "allow" runs what the device cannot do on the host and logs it, "error"
    refuses it.  fusion: whether neighbours may be fused; without, each node runs on its own.  switched_off: names of the
    fusions that may not be made, and "fold_constants".  precision: what numbers are rounded to.  in_float32: names of nodes
    that a mode of 16 bits leaves in fp32, whatever customize_dtypes says of them.  device_defaults: whether a session that
    asks for no precision gets the chip's own.  dump_graph: folder for readable graphs behind every step of the compiler, ""
    for none.  verify: whether the graph's invariants are checked there.  track_nan: "log" tells in the run log where NaN
    first comes from, "raise" ends the step there.  overflow: "saturation" cuts fp16 results that are too large at 65504,
    "infinity" does not, "" leaves it to script and chip.  tuning_seconds: that the tuning of one program may take.
    splits: of the gradients of each group for which the script sets one.  parameters: every option of the script, honoured or
    not.
    """

    soc: str = DEFAULT_CHIP
    host_fallback: str = "allow"
    fusion: bool = True
    switched_off: frozenset[str] = frozenset()
    precision: Precision = Precision()
    in_float32: frozenset[str] = frozenset()
    device_defaults: bool = False
    dump_graph: str = ""
    verify: bool = False
    track_nan: str = "off"
    overflow: str = ""
    tuning_seconds: float = TUNING_SECONDS
    splits: Mapping[str, GradientSplit] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_hcom_parallel(self) -> bool:
        """Whether gradients are reduced beside the backward pass.

        Source: the graph engine's option is off where nobody sets it; NPURunConfig sets it.
        """
        return self.parameters.get("hcom_parallel") in (True, 1, "true", "True", "1", b"1")


_ALLOWED: dict[str, tuple[str, ...]] = {
    "host_fallback": ("allow", "error"),
    "fusion": ("on", "off"),
    "device_defaults": ("on", "off"),
    "verify": ("on", "off"),
    "track_nan": ("off", "log", "raise"),
    "overflow": ("saturation", "infinity"),
}


def chip_of(name: str) -> Chip:
    """The chip called `name`.  Raises: InvalidArgument that lists the known names."""
    try:
        return load_chip(name)
    except ChipProblem as error:
        raise InvalidArgument(str(error)) from None


def load_config(parameters: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> RuntimeConfig:
    """Merge the script's parameter map with the launcher's options.

    Raises: InvalidArgument when one of our own options has a value it does not know.
    """
    options = _launcher_options(environment.get(TF2NPU_OPTIONS) or "{}")
    merged = {**parameters, **options}
    for name, allowed in _ALLOWED.items():
        if name in merged and merged[name] not in allowed:
            raise InvalidArgument(f"option {name}={merged[name]!r}: use one of {', '.join(allowed)}")
    return RuntimeConfig(
        soc=str(merged.get("soc", RuntimeConfig.soc)),
        host_fallback=str(merged.get("host_fallback", RuntimeConfig.host_fallback)),
        fusion=merged.get("fusion", "on") == "on",
        precision=_precision(parameters, options),
        device_defaults=merged.get("device_defaults") == "on",
        dump_graph=str(merged.get("dump_graph") or ""),
        verify=merged.get("verify") == "on",
        track_nan=str(merged.get("track_nan", RuntimeConfig.track_nan)),
        overflow=str(merged.get("overflow", RuntimeConfig.overflow)),
        tuning_seconds=_seconds(merged.get("tuning_seconds", TUNING_SECONDS)),
        parameters=merged,
    )


def _seconds(given: object) -> float:
    """Raises: InvalidArgument for what is no number of seconds, and for more than MOST_TUNING_SECONDS."""
    try:
        seconds = float(str(given))
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= MOST_TUNING_SECONDS:
        raise InvalidArgument(
            f"option tuning_seconds={given!r:.40}: use a number of seconds up to {MOST_TUNING_SECONDS:.0f}, which is a week, "
            f"such as {TUNING_SECONDS:.0f}"
        )
    return seconds


def _launcher_options(text: str) -> dict[str, Any]:
    """Raises: InvalidArgument for a text that is no JSON object."""
    try:
        options = json.loads(text)
    except (ValueError, RecursionError):
        options = None
    if not isinstance(options, dict):
        raise InvalidArgument(f"{TF2NPU_OPTIONS} is no JSON object: set it right, or unset it")
    return options


def _precision(parameters: Mapping[str, Any], options: Mapping[str, Any]) -> Precision:
    """The mode that the launcher asks for, else the script; precision_mode_v2 wins over precision_mode.

    Raises: InvalidArgument for a mode that the launcher misspelt; the shim warns of one in a script.
    """
    for name, value in options.items():
        known = {"precision_mode": PRECISION_MODES, "precision_mode_v2": tuple(_V2_MODES)}.get(name)
        if known and value not in known:
            raise InvalidArgument(f"option {name}={value!r}: use one of {', '.join(known)}")
    mode = _mode_in(options) or _mode_in(parameters)
    mixlist = options.get("modify_mixlist") or parameters.get("modify_mixlist")
    return Precision(mode, mixlist if isinstance(mixlist, str) else "")


def _mode_in(options: Mapping[str, Any]) -> str:
    old, new = options.get("precision_mode"), options.get("precision_mode_v2")
    return _V2_MODES.get(str(new), "") or (str(old) if old in PRECISION_MODES else "")
