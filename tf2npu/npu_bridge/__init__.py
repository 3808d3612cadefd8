"""``npu_bridge`` for a simulated Ascend device.

Importing it gives ``tensorflow`` TF1 meaning in this process and sets the environment variables that a host exports.
"""

if __name__ != "npu_bridge":
    raise ImportError(f"import npu_bridge, not {__name__}: a second copy would patch TensorFlow twice")

import importlib.util as _importlib_util
import os as _os
import sys as _sys

if _importlib_util.find_spec("tensorflow") is None:
    raise ImportError(
        "npu_bridge needs TensorFlow 2.15, which this Python "
        f"{_sys.version_info[0]}.{_sys.version_info[1]} does not have; use Python 3.10 or 3.11"
    )

from npu_formats.environment import watched_adapter as _watched_adapter

if _watched_adapter(_os.environ) != "npu_device":  # whose scripts go on with TensorFlow 2, while steps are looked at as here
    from npu_bridge._preparation import hccl_ops, helper, npu_estimator

__all__ = ["hccl_ops", "helper", "npu_estimator"]
