"""Settings of the search for strategies: they are noted and change nothing, as no operator is split here."""

from __future__ import annotations

from typing import Any

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]

RECORDED = tuple(__all__)
"""Names that are accepted and change nothing here."""
_DEFAULTS = {
    "fully_use_devices": True, "elementwise_op_strategy_follow": False, "enable_algo_approxi": False, "algo_approxi_epsilon": 0.1,
    "tensor_slice_align_enable": False, "tensor_slice_align_size": 16,
}  # fmt: skip
_settings: dict[str, Any] = dict(_DEFAULTS)


def set_algo_parameters(**kwargs: Any) -> None:
    """Notes settings.  Raises: ValueError for a name that r1.1 has not."""
    for name in kwargs:
        _check(name)
    _settings.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """The value of a setting.  Raises: ValueError for a name that r1.1 has not."""
    _check(attr_key)
    return _settings[attr_key]


def reset_algo_parameters() -> None:
    """Gives all settings their defaults."""
    _settings.clear()
    _settings.update(_DEFAULTS)


def _check(name: str) -> None:
    if name not in _DEFAULTS:
        raise ValueError(f"{name!r} is no setting of the search for strategies: r1.1 has {', '.join(_DEFAULTS)}")
