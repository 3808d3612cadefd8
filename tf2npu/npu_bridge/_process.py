"""The changes that npu_bridge makes in a process, and the way back."""

from __future__ import annotations

from collections.abc import Callable

from npu_bridge import _checkpoint_writer, _endless_training, _old_libraries, _session_hooks, _tf1
from npu_bridge.estimator.npu.npu_config import decorator_tf_session
from tensorflow.python.client import session

_inits: dict[type, Callable[..., None]] = {}


def patch_sessions() -> None:
    """Let every later session carry the NpuOptimizer entry, whoever makes it; a second call does nothing."""
    for session_class in (session.Session, session.InteractiveSession):
        if session_class not in _inits:
            _inits[session_class] = session_class.__init__
            session_class.__init__ = decorator_tf_session(session_class.__init__)


def enter() -> None:
    """Change the process as importing ``npu_bridge.npu_init`` does."""
    _tf1.install()
    _old_libraries.install()
    _session_hooks.install()
    _endless_training.install()
    _checkpoint_writer.install()
    patch_sessions()


def leave() -> None:
    """Give sessions and ``tensorflow`` their own meaning back."""
    for session_class in list(_inits):
        session_class.__init__ = _inits.pop(session_class)
    _checkpoint_writer.uninstall()
    _endless_training.uninstall()
    _session_hooks.uninstall()
    _old_libraries.uninstall()
    _tf1.uninstall()
