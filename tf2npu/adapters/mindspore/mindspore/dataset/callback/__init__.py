"""Callbacks of pipelines: their names, refused. Work between epochs belongs into a callback of Model.train."""

from __future__ import annotations

from ..core.refusal import refused_class

_INSTEAD = "give the work to a callback of Model.train, or do it between epochs in a loop of your own"
REFUSED = dict.fromkeys(("DSCallback", "WaitedDSCallback"), _INSTEAD)

globals().update({_name: refused_class("mindspore.dataset.callback", _name, _instead) for _name, _instead in REFUSED.items()})

__all__ = [*REFUSED]
