"""Hooks on the steps of a checked script: every Session.run, Estimator and MonitoredSession, and the callables of Keras."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from npu_bridge._check.cpu_layouts import fetched, with_transposes
from npu_bridge._check.step_graph import Asked
from npu_bridge._method_patches import replace_methods
from npu_bridge._sessions import callable_of_runs, without_optimizers
from npu_bridge._training_requests import executed, trains
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as tf_session

from npu_runtime.importers.tensorflow.host import HOST_SIDE_MARK

USERS_CONFIG = "_tf2npu_users_config"
"""Attribute of a session: the ConfigProto that the script gave it."""
_original: dict[str, Callable[..., Any]] = {}
_inside = threading.local()
_one_step = threading.RLock()
"""Held during a step: threads that train at once would mix their steps."""
_taker: list[StepTaker] = []
_known: dict[tuple[int, Asked], bool] = {}
_graphs: list[Any] = []
"""Graphs whose identity is in _known, kept so that it stays theirs."""


class StepTaker(Protocol):
    """Does a training step in the session's place, and gives what was asked for."""

    def step(self, session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]: ...


def install(taker: StepTaker) -> None:
    """Hand every later training step to the taker; everything else runs on TensorFlow's CPU, as the graph has it."""
    _taker[:] = [taker]
    replace_methods(tf_session.BaseSession, _REPLACEMENTS, _original)


@contextmanager
def passing() -> Iterator[None]:
    """Runs of this thread inside are nobody's step."""
    before = is_passing()
    _inside.is_passing = True
    try:
        yield
    finally:
        _inside.is_passing = before


def is_passing() -> bool:
    """Whether what this thread runs now is nobody's step."""
    return getattr(_inside, "is_passing", False)


def run_plain(session: Any, asked: Asked, feeds: Mapping[str, np.ndarray], extra: Sequence[str] = ()) -> list[Any]:
    """A run on TensorFlow.  extra: further tensors to fetch.  Returns what asked fetches, then the extra ones."""
    element = session.graph.as_graph_element
    fetches = [fetched(element(name)) for name in (*asked.fetches, *extra)]
    targets = [element(name) for name in asked.targets]
    with passing():
        return list(session.run([fetches, targets], {element(name): value for name, value in feeds.items()})[0])


def for_the_cpu(config: Any) -> config_pb2.ConfigProto:
    """The config for TensorFlow's CPU: no entry of the adapter's, and every node left as the script made it."""
    plain = without_optimizers(config)
    del plain.graph_options.rewrite_options.custom_optimizers[:]
    plain.allow_soft_placement = True
    return plain


def _init(self: Any, target: str = "", graph: Any = None, config: Any = None) -> None:
    setattr(self, USERS_CONFIG, config)
    _original["__init__"](self, target, graph, with_transposes(for_the_cpu(config), graph))


def _is_step(session: Any, asked: Asked) -> bool:
    if is_passing() or getattr(session, HOST_SIDE_MARK, False):
        return False
    key = id(session.graph), asked
    if key not in _known:
        _graphs.append(session.graph)
        _known[key] = trains(session.graph, executed(session.graph, asked.fetches, asked.targets, asked.feeds))
    return _known[key]


def _do_run(self: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
    feeds = {key.deref().name: value for key, value in feed_dict.items()}
    asked = Asked(tuple(t.name for t in fetch_list), tuple(op.name for op in target_list), tuple(feeds))
    if handle is not None or not _is_step(self, asked):
        return _original["_do_run"](self, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    return _step(self, asked, feeds)


def _step(session: Any, asked: Asked, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    with _one_step:
        return _taker[0].step(session, asked, feeds)


def _make_callable(self: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
    _original["make_callable"](self, fetches, feed_list, accept_options)  # it says what is wrong with what was asked for
    return callable_of_runs(self, fetches, feed_list)


def _make_callable_from_options(self: Any, callable_options: Any) -> Callable[..., Any]:
    ready = _original["_make_callable_from_options"](self, callable_options)
    asked = Asked(tuple(callable_options.fetch), tuple(callable_options.target), tuple(callable_options.feed))

    def run(*values: Any, run_metadata: Any = None) -> Any:
        if callable_options.tensor_connection or not _is_step(self, asked):
            return ready(*values, run_metadata=run_metadata)
        return _step(self, asked, dict(zip(asked.feeds, map(np.asarray, values), strict=True)))

    return run


_REPLACEMENTS: Mapping[str, Callable[..., Any]] = {
    "__init__": _init,
    "_do_run": _do_run,
    "make_callable": _make_callable,
    "_make_callable_from_options": _make_callable_from_options,
}
