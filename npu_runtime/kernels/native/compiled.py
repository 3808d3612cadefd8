"""Compiling loops by numba, beside the first steps of a run: until a loop is ready, its kernel goes by numpy.

numba keeps what it has compiled beside this package's modules, in `__pycache__`, as Python keeps theirs; where that is not
writable, in the user's cache folder. A second run reads it from there.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from npu_formats.environment import TF2NPU_NATIVE
from npu_runtime.exit_handlers import at_process_end
from npu_runtime.log import tell_once

EINSUM_ROUNDS_PRODUCTS = platform.machine() in ("x86_64", "AMD64")
"""Whether numpy's einsum rounds a product before it adds it, as these loops do: on x86-64, for whose oldest processors it is
built. Elsewhere a loop that stands for an einsum would have other bits."""
OFF, AT_ONCE = "off", "at_once"
"""Values of TF2NPU_NATIVE: no loop is compiled; or each is on its first call, which waits for it."""
DELAY = 2.0
"""Seconds from a loop that is asked for to the first that is compiled: numba is loaded for a second, in which steps wait for
Python's lock, and a run that ends by then would have nothing of it."""


class Loop:
    """A function of arrays and numbers that is written for numba, and the machine code of it once there is some.

    A call runs it, or says that the caller has to do without.
    """

    __slots__ = ("code", "is_asked", "python", "signature")

    def __init__(self, python: Callable[..., None], signature: str) -> None:
        self.python = python
        self.signature = signature
        self.code: Callable[..., None] | None = None
        self.is_asked = False

    def __call__(self, *arguments: Any) -> bool:
        """Whether it has run: not where there is no code (yet), nor where an argument is not as the signature says.

        An array that is not contiguous, not aligned or not writable is another type to numba; then nothing is done.
        """
        if (code := self.code) is None and (code := self._asked()) is None:
            return False
        try:
            code(*arguments)
        except TypeError:
            return False
        return True

    @property
    def is_ready(self) -> bool:
        """Whether a call with fitting arguments would run."""
        return self.code is not None or self._asked() is not None

    def takes(self, *arrays: np.ndarray) -> bool:
        """Whether it is ready, and arrays of fp32 are laid out as numba's signatures want them: contiguous, aligned, writable."""
        return self.is_ready and all(array.dtype == np.float32 and array.flags.carray for array in arrays)

    def _asked(self) -> Callable[..., None] | None:
        """Asks for the code on the first call."""
        if not self.is_asked:
            self.is_asked = True
            _compiler.ask(self)
        return self.code

    def compile(self) -> None:
        """Makes the code, or reads it from numba's files.

        No fast mathematics: no product and sum becomes one operation, no sum changes its order.
        """
        import numba

        try:
            made = numba.njit(self.signature, nogil=True, error_model="numpy", cache=True)(self.python)
        except RuntimeError:  # there is no folder that numba could keep it in
            made = numba.njit(self.signature, nogil=True, error_model="numpy")(self.python)
        made.disable_compile()
        self.code = made


def loop(signature: str) -> Callable[[Callable[..., None]], Loop]:
    """A decorator.  signature: as numba writes one, `void(f4[::1], f4)`."""
    return lambda python: Loop(python, signature)


class _Compiler:
    """One thread that compiles what is asked for, in that order; it ends before the process does."""

    def __init__(self) -> None:
        self._todo: queue.SimpleQueue[Loop] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._has_run = False
        self._closing = threading.Event()

    def ask(self, wanted: Loop) -> None:
        """Compile a loop, unless that is switched off or numba is absent."""
        mode = os.environ.get(TF2NPU_NATIVE, "")
        if mode == OFF or self._closing.is_set() or importlib.util.find_spec("numba") is None:
            return
        if mode == AT_ONCE:
            self._compile(wanted)
            return
        self._todo.put(wanted)
        with self._lock:
            if not self._has_run:
                self._has_run = True
                at_process_end(self.close)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="npu-compiler", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        """Compiles until nothing is left."""
        self._closing.wait(DELAY)
        while True:
            with self._lock:
                if self._closing.is_set() or self._todo.empty():
                    self._thread = None
                    return
                wanted = self._todo.get()
            self._compile(wanted)

    def _compile(self, wanted: Loop) -> None:
        try:
            wanted.compile()
        except ImportError as error:
            tell_once(f"numba cannot be loaded ({str(error)[:200]}); numpy does its work, more slowly", "numba cannot be loaded")
        except Exception as error:  # any other release of numba may fail in ways of its own; numpy does the same work
            tell_once(
                f"numba could not compile the loop {wanted.python.__name__} ({type(error).__name__}: {str(error)[:200]}); "
                "numpy does its work, more slowly",
                wanted.python.__name__,
            )

    def close(self) -> None:
        """Waits for the loop that is being compiled: a process that ends under LLVM's hands may crash."""
        self._closing.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def forget(self) -> None:
        """In the child of a fork nothing more is compiled: numba's lock may be held by a thread that is not there."""
        if self._thread is not None:
            self._closing, self._lock, self._thread = threading.Event(), threading.Lock(), None
            self._closing.set()


_compiler = _Compiler()
os.register_at_fork(after_in_child=_compiler.forget)
