"""Callbacks of pipelines: their names, refused. Work between epochs belongs into a callback of Model.train."""

from __future__ import annotations

from ..core.refusal import refused_class

_INSTEAD = "give the work to a callback of Model.train, or do it between epochs in a loop of your own"
DSCallback = refused_class("mindspore.dataset.callback", "DSCallback", _INSTEAD)
WaitedDSCallback = refused_class("mindspore.dataset.callback", "WaitedDSCallback", _INSTEAD)

__all__ = ["DSCallback", "WaitedDSCallback"]
