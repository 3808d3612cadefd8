"""Denormal results become zero, as in TensorFlow's kernels: numpy keeps them, a hundred times slower on some processors."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import ml_dtypes
import numpy as np

_FLUSH = 0x8040
"""MXCSR bits: results flushed to zero, operands read as zero.  Source: Intel SDM volume 1, 10.2.3."""
_MXCSR_OFFSET = 28
"""Offset of MXCSR in glibc's fenv_t on x86-64, in bytes.  Source: glibc sysdeps/x86/fpu/bits/fenv.h."""
_FENV_BYTES = 32
"""Bytes of glibc's fenv_t on x86-64.  Source: glibc sysdeps/x86/fpu/bits/fenv.h."""


def _libm() -> ctypes.CDLL | None:
    """The C library's floating-point environment where we know its layout, else None."""
    if platform.machine() not in ("x86_64", "AMD64") or platform.libc_ver()[0] != "glibc":
        return None
    return ctypes.CDLL("libm.so.6")


_LIBM = _libm()


def _flushing() -> ctypes.Array[ctypes.c_char]:
    """The environment of this thread with the two bits set."""
    made = ctypes.create_string_buffer(_FENV_BYTES)
    if _LIBM is not None:
        _LIBM.fegetenv(made)
        ctypes.c_uint32.from_buffer(made, _MXCSR_OFFSET).value |= _FLUSH
    return made


_FLUSHING = _flushing()


for _type in (np.float16, np.float32, np.float64):
    for _limits in (np.finfo, ml_dtypes.finfo):
        _limits(_type)  # both keep what they find first; under flushing that would be no denormals, and a warning


def flush_in_this_thread() -> None:
    """Flush denormals from now on; for worker threads. Nothing happens where the layout of the environment is unknown."""
    if _LIBM is not None:
        _LIBM.fesetenv(_FLUSHING)


@contextmanager
def flushed() -> Iterator[None]:
    """Inside the block; the caller's thread is the user's and gets its environment back."""
    if _LIBM is None:
        yield
        return
    before = ctypes.create_string_buffer(_FENV_BYTES)
    _LIBM.fegetenv(before)
    _LIBM.fesetenv(_FLUSHING)
    try:
        yield
    finally:
        _LIBM.fesetenv(before)
