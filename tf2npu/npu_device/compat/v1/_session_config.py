"""Configurations of sessions that run on the device."""

from __future__ import annotations

from typing import Any

from npu_bridge._sessions import apply_npu_settings, npu_entry


class SessionConfigBuilder:
    """A configuration whose session runs on the device.  config: the one to change; a new one for anything else."""

    def __init__(self, config: Any = None) -> None:
        self.session_config = apply_npu_settings(config)

    @property
    def parameter_map(self) -> Any:
        """The options of the session, to be filled in."""
        entry = npu_entry(self.session_config)
        assert entry is not None  # apply_npu_settings makes it
        return entry.parameter_map
