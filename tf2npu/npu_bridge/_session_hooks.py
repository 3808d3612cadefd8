"""Sessions whose config names NpuOptimizer run on the simulated device.

Session.run, eval, Estimator, MonitoredSession and Saver all come through BaseSession._do_run; graph-mode Keras builds a
callable from options; queue runners build plain callables; partial runs go straight to C. Those are the places to stand.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from hccl import _groups as hccl_groups
from hccl.split.api import splits
from npu_bridge import _check, _debug_dump, _options, _session_reset, _smoke
from npu_bridge._callable_feeds import arrays_of, check_names
from npu_bridge._host_differences import accept
from npu_bridge._method_patches import replace_methods, restore_methods
from npu_bridge._overflow_watch import OverflowWatch
from npu_bridge._run_metadata import observed
from tensorflow.python.client import session as tf_session
from tensorflow.python.framework import error_interpolation, errors_impl

from npu_formats.environment import TF2NPU_ALL_SESSIONS, TF2NPU_LOG
from npu_formats.user_frames import calling_line
from npu_runtime.config import load_config
from npu_runtime.errors import DeviceError
from npu_runtime.importers.tensorflow.functions import MARK
from npu_runtime.importers.tensorflow.host import HOST_SIDE_MARK
from npu_runtime.observers.prediction.collector import prepare
from npu_runtime.session import DeviceSession, Request, rank_report, run_log
from npu_runtime.trace.evidence import document as evidence
from npu_runtime.trace.timeline import recording

OPTIMIZER_NAME = "NpuOptimizer"


SHOWN_PLACES = 5
"""The most lines of the script that one line of the log names: more are not read."""

_DEVICE = "_npu_device_session"
_REQUESTS = "_npu_requests"
_WATCH = "_npu_overflow_watch"
_CREATED = "_npu_created_at"
_opening = Lock()
_original: dict[str, Callable[..., Any]] = {}
_open_sessions: weakref.WeakSet[Any] = weakref.WeakSet()
_stayed: dict[str, None] = {}
"""Places where sessions were made that stayed on TensorFlow, as their config does not name the optimizer."""
_idle: dict[int, str] = {}
"""Sessions by identity that were asked nothing yet, and where they were made."""
_is_shut_down = False


def install() -> None:
    """Patch BaseSession once; sessions that are not for the device behave as before."""
    if _original:
        return
    atexit.register(_print_log)
    recording()  # begins here, where one is asked for
    prepare()
    rank_report.install()
    _session_reset.install()
    replace_methods(tf_session.BaseSession, _REPLACEMENTS, _original)


def uninstall() -> None:
    """Give BaseSession its own methods back."""
    restore_methods(tf_session.BaseSession, _original)
    _session_reset.uninstall()
    _open_sessions.clear()
    _stayed.clear()
    _idle.clear()
    atexit.unregister(_print_log)


def _print_log() -> None:
    """The run log, on stderr at the end of the process; whole when TF2NPU_LOG is "full". A check tells what it ran itself."""
    if _check.is_asked():
        return
    log = run_log()
    lines = log.digest() + (log.summary() if os.environ.get(TF2NPU_LOG) in ("full", "debug") else [])
    lines += _some_on_device() + _without_effect() if lines else filter(None, [none_on_device()])
    lines += _still_open()
    if lines and sys.stderr is not None and sys.stderr.isatty():
        from npu_bridge import _closing_block  # rich costs a tenth of a second to import

        _closing_block.show(lines, run_document(), sys.stderr)
    elif lines:
        print("\n".join(f"npu_runtime: {line}" for line in lines), file=sys.stderr)


def none_on_device() -> str:
    """A line for a process that meant to use the device and did not: a script that was not converted, or not whole."""
    if not (_stayed or _idle) or run_log().digest():
        return ""
    if not _stayed:
        return f"no session ran on the device: those made at {_places(_idle.values())} were asked to run nothing"
    return (
        f"no session ran on the device: those made at {_places(_stayed)} stayed on TensorFlow, as their config does not name "
        "the NpuOptimizer; convert the script, or run it with --all-sessions"
    )


def _some_on_device() -> list[str]:
    """A line for the sessions that ran on TensorFlow beside those of the device."""
    return [f"  sessions that stayed on TensorFlow, as their config names no NpuOptimizer: {_places(_stayed)}"] if _stayed else []


def _places(lines: Iterable[str]) -> str:
    """The places where sessions were made, SHOWN_PLACES at most, and the number of the others."""
    known = sorted(set(lines))
    rest = f" and {len(known) - SHOWN_PLACES} more places" if len(known) > SHOWN_PLACES else ""
    return ", ".join(known[:SHOWN_PLACES]) + rest


def _without_effect() -> list[str]:
    """A line for the options that scripts set and that changed nothing here."""
    shown = [name if effect == "recorded" else f"{name} ({effect})" for name, effect in sorted(_options.ignored.items())]
    return [f"  options without effect here: {', '.join(shown)}"] if shown else []


def run_document() -> dict[str, Any]:
    """The report's document on this process: the run log, options without effect, sessions left open or on TensorFlow, the other
    ranks, and evidence with a timeline where they are recorded.
    """
    ignored = [{"option": name, "effect": effect} for name, effect in sorted(_options.ignored.items())]
    places = sorted(getattr(session, _CREATED, "") for session in _open_sessions)
    left = {"sessions_left_open": places, "sessions_on_tensorflow": sorted(_stayed)}
    ranks, log, kept = rank_report.ranks(), run_log(), recording()
    told = {} if kept is None else {**evidence(log), "timeline": kept.document()}
    own = {"options_without_effect": ignored, **left, **({"ranks": ranks} if ranks else {})}
    return {**log.document(), **own, **told, **_smoke.told()}


def _still_open() -> list[str]:
    """A line for the sessions that nobody closed: on a host they hold the device until the process is gone."""
    places = sorted(getattr(session, _CREATED, "") or "an unknown line" for session in _open_sessions)
    if not places:
        return []
    return [f"{len(places)} session{'s' * (len(places) > 1)} still open at the end, made at {_places(places)}"]


def device_of(session: Any) -> DeviceSession | None:
    """The device session behind a TensorFlow session, made at first need; None when it stays on the host."""
    if not hasattr(session, _DEVICE):
        with _opening:  # a queue runner's thread may be as early as the main one
            if not hasattr(session, _DEVICE):
                _idle.pop(id(session), None)
                setattr(session, _REQUESTS, {})
                setattr(session, _WATCH, OverflowWatch())
                setattr(session, _DEVICE, _open_device(session))
    return getattr(session, _DEVICE)


def parameters_of(config: Any) -> Mapping[str, Any] | None:
    """The parameter map of the NpuOptimizer entry as plain values, None when there is no entry."""
    entries = config.graph_options.rewrite_options.custom_optimizers if config is not None else ()
    for entry in entries:
        if entry.name == OPTIMIZER_NAME:
            return {key: _plain(value) for key, value in entry.parameter_map.items()}
    return None


def _open_device(session: Any) -> DeviceSession | None:
    if getattr(session, HOST_SIDE_MARK, False) or session._target:
        return None
    parameters = parameters_of(session._config)
    if parameters is None:
        if os.environ.get(TF2NPU_ALL_SESSIONS) != "1":
            _stayed[getattr(session, _CREATED, "") or "an unknown line"] = None
            return None
        parameters = {}
    try:
        config = load_config({**_options.of_process, **parameters})
        if config.parameters.get("use_off_line") is False:
            return None
        _options.check_dump(config.parameters)
        hccl_groups.set_up()
        place = getattr(session, _CREATED, "")
        device = DeviceSession(session.graph, session._config, replace(config, splits=splits), place=place)
        _open_sessions.add(session)
        return device
    except DeviceError as error:
        raise _tensorflow_error(session, error) from None


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    plain = getattr(value, kind) if kind else None
    return plain.decode("utf-8", "replace") if isinstance(plain, bytes) else plain


def _do_run(self: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
    device = device_of(self)
    if device is None or handle is not None:
        return _original["_do_run"](self, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    feeds = [key.deref() for key in feed_dict]
    if _debug_dump.asked():
        return _dumped(self, device, fetch_list, target_list, feeds, list(feed_dict.values()))
    request = _request(self, fetch_list, target_list, feeds)
    if _is_shut_down or request.targets:
        _follow_system(target_list)
    return _call(self, device, request, list(feed_dict.values()))


def _dumped(session: Any, device: DeviceSession, fetches: Any, targets: Any, feeds: Any, values: Any) -> list[Any]:
    """A run with debug watches: what is watched is fetched too, and written where tfdbg looks for it."""
    options, run_metadata = _debug_dump.asked()
    watches = _debug_dump.Watches(session.graph, options, fetches, targets, feeds)
    watched = [ref.deref() for ref in watches.tensors]
    request = _request(session, [*fetches, *watched], targets, feeds)
    got = _call(session, device, request, values)
    _debug_dump.dump(watches, got[len(fetches) :], run_metadata)
    return got[: len(fetches)]


def _follow_system(targets: Sequence[Any]) -> None:
    """Note when initialize_system and shutdown_system are run, and what is run after the latter."""
    global _is_shut_down
    ran = {op.get_attr("_npu_op") for op in targets if op.type == "NoOp" and "_npu_op" in op.node_def.attr}
    if b"NPUInit" in ran:
        _is_shut_down = False
    elif b"NPUShutdown" in ran:
        _is_shut_down = True
    elif _is_shut_down:
        accept("after_shutdown")


def _request(session: Any, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any]) -> Request:
    """The names, found once for each combination of graph elements: reading a name costs more than a small kernel."""
    known = getattr(session, _REQUESTS)
    key = (tuple(map(id, fetches)), tuple(map(id, targets)), tuple(map(id, feeds)))
    if key not in known:
        names = tuple(t.name for t in fetches), tuple(op.name for op in targets), tuple(t.name for t in feeds)
        known[key] = Request(*names), (list(fetches), list(targets), list(feeds))  # keeps the ids alive
    return known[key][0]


def _call(session: Any, device: DeviceSession, request: Request, feeds: Sequence[np.ndarray]) -> list[Any]:
    _session_reset.refuse_closed(session)
    try:
        results = device.run(request, _smoke.prepared(session.graph, feeds))
    except DeviceError as error:
        _smoke.note_failure(error)
        raise _tensorflow_error(session, error) from error.__cause__
    except errors_impl.OpError as error:
        _smoke.note_failure(error)
        raise _in_users_graph(session, error) from None
    getattr(session, _WATCH).look(request)
    return results


def _tensorflow_error(session: Any, error: DeviceError) -> errors_impl.OpError:
    """TensorFlow's own exception class, naming the user's operation."""
    kind = getattr(errors_impl, f"{error.code}Error")
    op = _operation(session, error.node)
    message = f"{error.message}\n\t [[{{{{node {error.node}}}}}]]" if error.node else error.message
    return kind(op.node_def if op else None, op, error_interpolation.interpolate_graph(message, session.graph))


def _in_users_graph(session: Any, error: errors_impl.OpError) -> errors_impl.OpError:
    """An error of the host side, as if it had come from the user's own graph."""
    name = error.node_def.name if error.node_def is not None else _node_in(error.message)
    op = _operation(session, name)
    message = error_interpolation.interpolate_graph(error.message, session.graph)
    return type(error)(op.node_def if op else error.node_def, op, message)


def _node_in(message: str) -> str:
    start = message.find("{{node ")
    return message[start + 7 : message.find("}}", start)] if start >= 0 else ""


def _operation(session: Any, name: str) -> Any:
    """The user's operation; for a node of a function's body the call."""
    try:
        return session.graph.get_operation_by_name(name.split(MARK)[0])
    except (KeyError, ValueError):
        return None


def _run(self: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
    if device_of(self) is None:
        return _original["run"](self, fetches, feed_dict, options, run_metadata)
    if run_metadata is not None:
        run_metadata.Clear()
    with _debug_dump.watching(options, run_metadata), observed(options, run_metadata, self._config):
        return _original["run"](self, fetches, feed_dict)


def _make_callable(self: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
    if device_of(self) is None:
        return _original["make_callable"](self, fetches, feed_list, accept_options)
    if feed_list is not None and not isinstance(feed_list, (list, tuple)):
        raise TypeError(f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}")
    feeds = list(feed_list or ())

    def run(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
        if feed_list is None and values:
            raise TypeError(f"run() takes 0 positional arguments but {len(values)} were given")
        fed = dict(zip(feeds, values, strict=False))  # as TensorFlow: one too few is missed by the run, one too many by nobody
        return self.run(fetches, fed, options, run_metadata)

    return run


def _make_callable_from_options(self: Any, callable_options: Any) -> Callable[..., Any]:
    device = device_of(self)
    if device is None:
        return _original["_make_callable_from_options"](self, callable_options)
    check_names(self.graph, [*callable_options.feed, *callable_options.fetch])
    connections = tuple((c.from_tensor, c.to_tensor) for c in callable_options.tensor_connection)
    request = Request(tuple(callable_options.fetch), tuple(callable_options.target), tuple(callable_options.feed), connections)
    if callable_options.run_options.debug_options.debug_tensor_watch_opts:
        return _watched_callable(self, device, callable_options)
    dtypes = [self.graph.as_graph_element(name).dtype for name in callable_options.feed]

    def run(*values: Any, run_metadata: Any = None) -> list[Any]:
        if run_metadata is not None:
            run_metadata.Clear()
        return _call(self, device, request, arrays_of(values, dtypes))

    return run


def _watched_callable(session: Any, device: DeviceSession, options: Any) -> Callable[..., Any]:
    """A callable whose runs are dumped."""
    element = session.graph.as_graph_element
    fetches, feeds = [element(name) for name in options.fetch], [element(name) for name in options.feed]
    targets = [element(name) for name in options.target]

    def run(*values: Any, run_metadata: Any = None) -> list[Any]:
        arrays = arrays_of(values, [tensor.dtype for tensor in feeds])
        with _debug_dump.watching(options.run_options, run_metadata):
            return _dumped(session, device, fetches, targets, feeds, arrays)

    return run


def _partial_run_setup(self: Any, fetches: Any, feeds: Any = None) -> Any:
    if device_of(self) is None:
        return _original["partial_run_setup"](self, fetches, feeds)
    raise errors_impl.UnimplementedError(
        None, None, "partial_run is not done by the NPU adapter; run the parts as separate Session.run calls"
    )


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    line = calling_line()
    setattr(self, _CREATED, line)
    _idle[id(self)] = line or "an unknown line"
    _original["__init__"](self, *args, **kwargs)
    _session_reset.note(self)


def _close(self: Any) -> None:
    _open_sessions.discard(self)
    device = getattr(self, _DEVICE, None)
    if device is not None:
        device.close()
    _original["close"](self)


_REPLACEMENTS: Mapping[str, Callable[..., Any]] = {
    "_do_run": _do_run,
    "run": _run,
    "make_callable": _make_callable,
    "_make_callable_from_options": _make_callable_from_options,
    "partial_run_setup": _partial_run_setup,
    "close": _close,
    "__init__": _init,
}
