"""Settings of a device session: what the script's NpuOptimizer entry says, and what the launcher overrides."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from npu_runtime.errors import InvalidArgument

ENVIRONMENT_OPTIONS = "TF2NPU_OPTIONS"
"""JSON object of options the launcher was given; they win over the script's."""


@dataclass(frozen=True)
class RuntimeConfig:
    """soc: name of a chip file.  host_fallback: "allow" runs what the device cannot do on the host and logs it, "error"
    refuses it.  fusion: whether neighbours may be fused.  parameters: every option of the script, honoured or not.
    """

    soc: str = "Ascend910A"
    host_fallback: str = "allow"
    fusion: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)


_ALLOWED: dict[str, tuple[str, ...]] = {"host_fallback": ("allow", "error"), "fusion": ("on", "off")}


def load_config(parameters: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> RuntimeConfig:
    """Merge the script's parameter map with the launcher's options.

    Raises: InvalidArgument when one of our own options has a value it does not know.
    """
    options = json.loads(environment.get(ENVIRONMENT_OPTIONS) or "{}")
    merged = {**parameters, **options}
    for name, allowed in _ALLOWED.items():
        if name in merged and merged[name] not in allowed:
            raise InvalidArgument(f"option {name}={merged[name]!r}: use one of {', '.join(allowed)}")
    return RuntimeConfig(
        soc=str(merged.get("soc", RuntimeConfig.soc)),
        host_fallback=str(merged.get("host_fallback", RuntimeConfig.host_fallback)),
        fusion=merged.get("fusion", "on") == "on",
        parameters=merged,
    )
