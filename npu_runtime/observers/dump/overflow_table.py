"""The table of an Opdebug file: 2048 bytes that say which task of which stream has overflowed.

Source: the vendor's comparison program, which reads both layouts; the first family of chips has the old one.
"""

from __future__ import annotations

import struct

import numpy as np

N_BYTES = 2048
_TASK = struct.Struct("<6Q")
"""model_id, stream_id, task_id, task_type, pc_start, para_base."""
_ATOMIC_TASK, _ATOMIC_STATUS = 128, 768
"""Bytes at which the part of atomic additions in the second-level cache begins, and its status."""
_CORE_TASK, _CORE_STATUS = 256, 1024
"""The same of the AI core; its status comes behind kernel_code and block_idx."""
_AI_CORE = 0
"""The task type."""
_OVERFLOWED = 1
"""Any status but 0 says that there was an overflow."""
_MAGIC, _VERSION, _NO_CONTEXT = 0x5A5A5A5A, 0, 65535
_NEW_HEAD = struct.Struct("<6I")
"""magic, version, valid, acc_type (0: cube cores, 1: vector cores), reserved, data_len."""
_NEW_DATA = struct.Struct("<11Q")
"""Fields as in _TASK up to task_type; context_id, thread_id, pc_start, para_base, core_id, block_id, status."""


def old_table(model_id: int, stream_id: int, task_id: int, is_atomic: bool) -> np.ndarray:
    """The overflow table of the first family.  Returns: bytes, (2048,) uint8. Addresses are 0: there is no code on a simulated
    device."""
    table = bytearray(N_BYTES)
    _TASK.pack_into(table, _ATOMIC_TASK if is_atomic else _CORE_TASK, model_id, stream_id, task_id, _AI_CORE, 0, 0)
    if is_atomic:
        struct.pack_into("<Q", table, _ATOMIC_STATUS, _OVERFLOWED)
    else:
        struct.pack_into("<3Q", table, _CORE_STATUS, 0, 0, _OVERFLOWED)
    return np.frombuffer(bytes(table), np.uint8)


def new_table(model_id: int, stream_id: int, task_id: int, is_vector: bool) -> np.ndarray:
    """The overflow table of the later chips.  Returns: bytes, (2048,) uint8."""
    table = bytearray(N_BYTES)
    _NEW_HEAD.pack_into(table, 0, _MAGIC, _VERSION, 1, int(is_vector), 0, _NEW_DATA.size)
    numbers = model_id, stream_id, task_id, _AI_CORE, _NO_CONTEXT, _NO_CONTEXT, 0, 0, 0, 0, _OVERFLOWED
    _NEW_DATA.pack_into(table, _NEW_HEAD.size, *numbers)
    return np.frombuffer(bytes(table), np.uint8)
