"""Names that Python itself dropped. Source: "What's New" of Python 3.8 to 3.11, their sections on removals."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import inspect
import math
import threading
import time
from typing import Any, NamedTuple

from npu_bridge._log import once
from npu_bridge._old_libraries.names import offer
from npu_bridge._tf1.journal import Journal

_ABCS = (
    "Awaitable", "ByteString", "Callable", "Collection", "Container", "Coroutine", "Generator", "Hashable", "ItemsView",
    "Iterable", "Iterator", "KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet",
    "Reversible", "Sequence", "Set", "Sized", "ValuesView",
)  # fmt: skip


class ArgSpec(NamedTuple):
    """The result of ``inspect.getargspec``."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Any) -> ArgSpec:
    """Names and defaults of a function's parameters. Raises: ValueError for keyword-only parameters and annotations."""
    full = inspect.getfullargspec(func)
    if full.kwonlyargs or full.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use inspect.signature()")
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def add(journal: Journal) -> None:
    """Bring the names back."""
    abcs = {name: (f"collections.abc.{name}", lambda name=name: getattr(collections.abc, name)) for name in _ABCS}
    offer(journal, collections, abcs)
    offer(journal, inspect, {"getargspec": ("inspect.signature", lambda: getargspec), "ArgSpec": ("your own", lambda: ArgSpec)})
    offer(journal, time, {"clock": ("time.perf_counter", lambda: time.perf_counter)})
    offer(journal, fractions, {"gcd": ("math.gcd", lambda: math.gcd)})
    offer(
        journal,
        base64,
        {
            "encodestring": ("base64.encodebytes", lambda: base64.encodebytes),
            "decodestring": ("base64.decodebytes", lambda: base64.decodebytes),
        },
    )
    if not hasattr(threading.Thread, "isAlive"):
        threading.Thread.isAlive = _is_alive
        journal.on_undo(lambda: delattr(threading.Thread, "isAlive"))


def _is_alive(thread: threading.Thread) -> bool:
    once("threading.Thread.isAlive is gone since this script was written; here it works, today write is_alive")
    return thread.is_alive()
