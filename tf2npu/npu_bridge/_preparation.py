"""The preparation of a process for a script of TensorFlow 1: importing ``npu_bridge`` does it."""

from __future__ import annotations

import gc

from npu_bridge import _check, _environment, _old_libraries, _reference, _smoke, _tf1

from npu_runtime.collectives.job import join_job

if not _reference.is_asked():
    if not _check.is_asked():
        join_job("npu_bridge")
    _environment.set_defaults()
# TensorFlow leaves some hundred thousand objects; walking them all while more modules load would double the import's time.
_collects = gc.isenabled()
gc.disable()
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
        _smoke.install()

    from npu_bridge.estimator.npu import npu_estimator
    from npu_bridge.hccl import hccl_ops
    from npu_bridge.helper import helper
finally:
    # What was loaded stays: it goes to the oldest objects at once, without a walk over it.
    gc.freeze()
    gc.unfreeze()
    if _collects:
        gc.enable()

__all__ = ["hccl_ops", "helper", "npu_estimator"]
