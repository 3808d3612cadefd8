"""``npu_bridge`` for a simulated Ascend device.

Importing it gives ``tensorflow`` TF1 meaning in this process and sets the environment variables that a host exports.
"""

if __name__ != "npu_bridge":
    raise ImportError(f"import npu_bridge, not {__name__}: a second copy would patch TensorFlow twice")

import importlib.util as _importlib_util
import sys as _sys

if _importlib_util.find_spec("tensorflow") is None:
    raise ImportError(
        "npu_bridge needs TensorFlow 2.15, which this Python "
        f"{_sys.version_info[0]}.{_sys.version_info[1]} does not have; use Python 3.10 or 3.11"
    )

import gc as _gc

from npu_bridge import _check, _environment, _old_libraries, _reference, _tf1

from npu_runtime.collectives.job import join_job

if not _reference.is_asked():
    if not _check.is_asked():
        join_job("npu_bridge")
    _environment.set_defaults()
# TensorFlow leaves some hundred thousand objects; walking them all while more modules load would double the import's time.
_collects = _gc.isenabled()
_gc.disable()
try:
    _tf1.install()
    _old_libraries.install()

    from npu_bridge import _checkpoint_writer, _endless_training, _host_differences, _session_hooks

    if not (_reference.install() or _check.install()):
        # As the real package does when its native library is loaded: sessions whose config names NpuOptimizer, which scripts of
        # the first release add themselves, run on the device with or without npu_init.
        _session_hooks.install()
        _endless_training.install()
        _checkpoint_writer.install()
        _host_differences.watch_collectives()

    from npu_bridge.estimator.npu import npu_estimator
    from npu_bridge.hccl import hccl_ops
    from npu_bridge.helper import helper
finally:
    # What was loaded stays: it goes to the oldest objects at once, without a walk over it.
    _gc.freeze()
    _gc.unfreeze()
    if _collects:
        _gc.enable()

__all__ = ["hccl_ops", "helper", "npu_estimator"]
