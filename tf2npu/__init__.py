"""tf2npu: move TensorFlow 1.x training code to Ascend NPUs, on a machine that has none.

The Python interface is the names in `__all__`; docs/api.md explains them. They are imported when they are first used, so
that `import tf2npu` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf2npu.config import Config, ConfigError, load_config
    from tf2npu.engine.convert_file import convert_source
    from tf2npu.findings import Edit, FileResult, Finding, Level, Span, Status

__version__ = "0.1.0"
__all__ = [
    "Config", "ConfigError", "Edit", "FileResult", "Finding", "Level", "Span", "Status", "__version__", "convert_source",
    "load_config",
]  # fmt: skip

_HOMES = {
    **dict.fromkeys(("Config", "ConfigError", "load_config"), "tf2npu.config"),
    **dict.fromkeys(("Edit", "FileResult", "Finding", "Level", "Span", "Status"), "tf2npu.findings"),
    "convert_source": "tf2npu.engine.convert_file",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
