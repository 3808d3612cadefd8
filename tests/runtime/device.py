"""Sessions for tests: the same graph on plain TensorFlow and on the device, without the shim's other side effects."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program_cache import ProgramCache
from npu_runtime.passes.fuse import fuse_elementwise, fuse_optimizer_gradients
from npu_runtime.passes.schedule import plan_overlap

tf.disable_v2_behavior()


def load_hooks() -> ModuleType:
    """npu_bridge._session_hooks by path: importing npu_bridge would give this process TF1's namespace."""
    name = "tests.runtime._loaded_session_hooks"
    if name not in sys.modules:
        path = Path(__file__).parents[2] / "tf2npu/npu_bridge/_session_hooks.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        with bare_packages(path.parents[1]):
            spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@contextmanager
def bare_packages(folder: Path) -> Iterator[None]:
    """npu_bridge and hccl as packages whose own code has not run, gone afterwards, unless they are imported already."""
    names = [name for name in ("npu_bridge", "hccl") if name not in sys.modules]
    for name in names:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(folder / name)]
    try:
        yield
    finally:
        for name in [module for module in sys.modules if module.partition(".")[0] in names]:
            del sys.modules[name]


hooks = load_hooks()


def device_config(**parameters: Any) -> tf.ConfigProto:
    """A ConfigProto with the NPU entry.  A test, unlike a benchmark, has graphs verified behind every step of the compiler."""
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    checks = {"verify": "on"} if "PYTEST_CURRENT_TEST" in os.environ else {}
    for key, value in {**checks, **parameters}.items():
        if isinstance(value, bool):
            entry.parameter_map[key].b = value
        else:
            entry.parameter_map[key].s = str(value).encode()
    return config


def device_session(graph: Any = None, **parameters: Any) -> tf.Session:
    hooks.install()
    return tf.Session(graph=graph, config=device_config(**parameters))


def leave_extents_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program is compiled for feeds of any extent, as it is for shapes that are met late and seldom."""
    monkeypatch.setattr(ProgramCache, "_wanted", lambda self, shapes: tuple((None,) * len(shape) for shape in shapes))


def compile_in_another_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seeds of four for feeds of any extent, two with small values fused and run beside others, as else only large ones."""
    if seed % 4 > 1:
        leave_extents_open(monkeypatch)
    if seed % 2:
        monkeypatch.setattr(fuse_elementwise, "SMALLEST", 1)
        monkeypatch.setattr(fuse_optimizer_gradients, "SMALLEST", 1)
        monkeypatch.setattr(plan_overlap, "LEAST_SECONDS", -1.0)


def device_of(session: tf.Session) -> Any:
    device = hooks.device_of(session)
    assert device is not None
    return device
