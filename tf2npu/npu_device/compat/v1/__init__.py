"""``npu_bridge`` under another name: ``npu_device.compat.v1.npu_init`` is ``npu_bridge.npu_init``, and so on.

Importing it loads npu_bridge, and leaves `tensorflow` what it is; ``npu_device.compat.enable_v1()`` switches eager execution off.
"""

from importlib import import_module as _import_module

from npu_device.compat.v1 import _loading, _renamed

_loading.load()
_renamed.install()

hccl_ops = _import_module("npu_bridge.hccl.hccl_ops")
helper = _import_module("npu_bridge.helper.helper")
SessionConfigBuilder = _import_module("npu_device.compat.v1._session_config").SessionConfigBuilder

__all__ = ["SessionConfigBuilder", "hccl_ops", "helper"]
