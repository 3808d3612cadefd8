"""Hooks on each step: Session.run, Estimator and MonitoredSession come through _do_run, Keras makes a callable from options."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from npu_bridge._log import once
from npu_bridge._method_patches import replace_methods, restore_methods
from npu_bridge._reference.recorder import Recorder, Request
from npu_bridge._reference.watches import Tensors
from npu_bridge._sessions import callable_of_runs, without_optimizers
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.client import session as tf_session

_original: dict[str, Callable[..., Any]] = {}
_recorders: list[Recorder] = []
_current = threading.local()


def install(recorder: Recorder) -> None:
    """Let the recorder see every step of every later session."""
    _recorders[:] = [recorder]
    if not _original:
        replace_methods(tf_session.BaseSession, _REPLACEMENTS, _original)


def uninstall() -> None:
    """Give BaseSession its own methods back."""
    restore_methods(tf_session.BaseSession, _original)
    _recorders.clear()


def _init(self: Any, target: str = "", graph: Any = None, config: Any = None) -> None:
    _original["__init__"](self, target, graph, without_optimizers(config))


def _run(self: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
    before = getattr(_current, "options", None)
    _current.options = options
    try:
        return _original["run"](self, fetches, feed_dict, options, run_metadata)
    finally:
        _current.options = before


def _do_run(self: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
    users = getattr(_current, "options", None)
    if handle is not None or (users is not None and users.debug_options.debug_tensor_watch_opts):
        once("dump reference: partial runs and runs that the script itself watches with tfdbg are left out")
        return _original["_do_run"](self, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    feeds = [key.deref().name for key in feed_dict]
    request = Request(self.graph, tuple(feeds), tuple(t.name for t in fetch_list), tuple(op.name for op in target_list))

    def watched(url: str, tensors: Tensors) -> Any:
        with _buffer(watching(users, url, tensors)) as pointer:
            return _original["_do_run"](self, handle, target_list, fetch_list, feed_dict, pointer, run_metadata)

    def plain() -> Any:
        return _original["_do_run"](self, handle, target_list, fetch_list, feed_dict, options, run_metadata)

    return _recorders[0].step(request, plain, watched)


def watching(options: Any, url: str, tensors: Iterable[tuple[str, int]]) -> config_pb2.RunOptions:
    """The options of a run some of whose tensors, by node and output, are written below a folder."""
    copied = config_pb2.RunOptions()
    if options is not None:
        copied.CopyFrom(options)
    copied.debug_options.reset_disk_byte_usage = True  # the debugger stops at 100 GB, counted over a process
    for node, output in tensors:
        copied.debug_options.debug_tensor_watch_opts.add(
            node_name=node, output_slot=output, debug_ops=["DebugIdentity"], debug_urls=[url],
            tolerate_debug_op_creation_failures=True,
        )  # fmt: skip
    return copied


@contextmanager
def _buffer(options: config_pb2.RunOptions) -> Iterator[Any]:
    pointer = pywrap_tf_session.TF_NewBufferFromString(options.SerializeToString())
    try:
        yield pointer
    finally:
        pywrap_tf_session.TF_DeleteBuffer(pointer)


def _make_callable(self: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
    _original["make_callable"](self, fetches, feed_list, accept_options)  # it says what is wrong with what was asked for
    return callable_of_runs(self, fetches, feed_list)


def _make_callable_from_options(self: Any, callable_options: Any) -> Callable[..., Any]:
    ready = _original["_make_callable_from_options"](self, callable_options)
    asked = callable_options
    request = Request(self.graph, tuple(asked.feed), tuple(asked.fetch), tuple(asked.target))
    made: dict[str, Callable[..., Any]] = {}

    def run(*values: Any, run_metadata: Any = None) -> Any:
        def watched(url: str, tensors: Tensors) -> Any:
            if url not in made:
                options = config_pb2.CallableOptions()
                options.CopyFrom(asked)
                options.run_options.CopyFrom(watching(asked.run_options, url, tensors))
                made[url] = _original["_make_callable_from_options"](self, options)
            return made[url](*values, run_metadata=run_metadata)

        return _recorders[0].step(request, lambda: ready(*values, run_metadata=run_metadata), watched)

    return run


_REPLACEMENTS: Mapping[str, Callable[..., Any]] = {
    "__init__": _init,
    "run": _run,
    "_do_run": _do_run,
    "make_callable": _make_callable,
    "_make_callable_from_options": _make_callable_from_options,
}
