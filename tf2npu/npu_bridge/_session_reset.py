"""Session.reset, which closes every session of the process that has no target.

Source: DirectSessionFactory::Reset in TensorFlow's core/common_runtime/direct_session.cc, whatever containers it is told.
"""

from __future__ import annotations

import weakref
from typing import Any

from tensorflow.python.client import session as tf_session
from tensorflow.python.framework import errors_impl

_sessions: weakref.WeakSet[Any] = weakref.WeakSet()
"""Sessions that a reset closes."""
_closed: weakref.WeakSet[Any] = weakref.WeakSet()
_original: list[Any] = []


def install() -> None:
    """Make a reset note what it has closed, until `uninstall`."""
    if not _original:
        _original.append(tf_session.Session.reset)
        tf_session.Session.reset = staticmethod(_reset)


def uninstall() -> None:
    """Give Session its own method back."""
    if _original:
        tf_session.Session.reset = staticmethod(_original.pop())
    _sessions.clear()


def note(session: Any) -> None:
    """A session that has been made."""
    if not session._target:
        _sessions.add(session)


def refuse_closed(session: Any) -> None:
    """Raises: CancelledError, as TensorFlow does, for a session that a reset has closed."""
    if session in _closed:
        raise errors_impl.CancelledError(None, None, "Session has been closed.")


def _reset(target: Any, containers: Any = None, config: Any = None) -> None:
    _original[0](target, containers, config)
    if not target:
        _closed.update(_sessions)
        _sessions.clear()
