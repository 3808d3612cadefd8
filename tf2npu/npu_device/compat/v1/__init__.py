"""``npu_bridge`` under another name: ``npu_device.compat.v1.npu_init`` is ``npu_bridge.npu_init``, and so on.

Importing it does what importing npu_bridge does: TensorFlow's names have their meaning of TensorFlow 1 from then on.
"""

from npu_bridge.hccl import hccl_ops
from npu_bridge.helper import helper
from npu_device.compat.v1 import _renamed
from npu_device.compat.v1._session_config import SessionConfigBuilder

_renamed.install()

__all__ = ["SessionConfigBuilder", "hccl_ops", "helper"]
