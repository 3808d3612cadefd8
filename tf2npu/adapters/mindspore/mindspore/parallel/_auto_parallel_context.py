"""The object behind context.set_auto_parallel_context, which models of r1.0 ask for."""

from __future__ import annotations

from typing import Any

from mindspore import context

__all__ = ["auto_parallel_context"]


class _Settings:
    """Getters and setters of the settings, by name: get_device_num() and set_device_num(8)."""

    def set_all_reduce_fusion_split_indices(self, indices: Any, group: str = "") -> None:
        """Accepts which gradients are sent together, which no result depends on."""

    set_all_reduce_fusion_split_sizes = set_all_reduce_fusion_split_indices

    def __getattr__(self, name: str) -> Any:
        verb, _, setting = name.partition("_")
        if verb == "get":
            return lambda: context.get_auto_parallel_context(setting)
        if verb == "set":
            return lambda value: context.set_auto_parallel_context(**{setting: value})
        raise AttributeError(f"auto_parallel_context() has no {name}")


_the_settings = _Settings()


def auto_parallel_context() -> _Settings:
    """The one object."""
    return _the_settings
