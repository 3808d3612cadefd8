"""MPI in this process: MPICH by mpi4py, started without a launcher of its own."""

from __future__ import annotations

import ctypes
import importlib
import os
import socket
import struct
from contextlib import suppress
from typing import Any

from npu_formats.ranks.mpi_packages import INSTALL
from npu_runtime.collectives.process_management import ProcessManager
from npu_runtime.errors import FailedPrecondition

_SETTINGS = {
    "MPIR_CVAR_CH4_NETMOD": "ofi",
    "FI_PROVIDER": "tcp",
}
"""Settings of MPICH: libfabric over TCP between machines. 25 MB take 44 ms between two ranks, where UCX takes 415 ms."""
_MEMORY = "/dev/shm"
_BYTES_A_RANK = 2 << 20
"""Bytes of memory for files: MPICH takes 1.04 MB for each of its ranks on a machine, measured with 1 and 8."""
_SHARED_MEMORY = f" {_MEMORY}/mpich_shm_"
_SIOCGIFADDR = 0x8915
"""Source: linux/sockios.h."""


def why_no_room(n_ranks: int) -> str | None:
    """The reason that MPI's memory for so many ranks has no room; None for none. A write without room would end the process."""
    try:
        found = os.statvfs(_MEMORY)
    except OSError as error:
        return f"the engine mpi needs {_MEMORY}: {error.strerror}"
    free, needed = found.f_bavail * found.f_frsize, n_ranks * _BYTES_A_RANK
    if free >= needed:
        return None
    return (
        f"the engine mpi needs {needed >> 20} MB in {_MEMORY} for {n_ranks} ranks, and {free >> 20} MB are free: make room there "
        "(--shm-size of docker run), or leave --engine mpi out on one machine"
    )


class Environment:
    """Variables that MPI reads while it starts: set by the thread that the script runs in, as all variables are."""

    def __init__(self, manager: ProcessManager, server: str) -> None:
        wanted = {**_SETTINGS, "FI_TCP_IFACE": _interface(server), **os.environ, **manager.environment}
        self._before = {name: os.environ.get(name) for name in wanted if os.environ.get(name) != wanted[name]}
        os.environ.update({name: wanted[name] for name in self._before})

    def restore(self) -> None:
        """Processes that this one starts have no part in its MPI.  What the script has set meanwhile stays."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._before = {}


def started(manager: ProcessManager) -> Any:
    """The module mpi4py.MPI, ready for messages to all ranks.

    Raises: FailedPrecondition where it is another MPI, or the other ranks cannot be reached.
    """
    try:
        rc = importlib.import_module("mpi4py").rc
        rc.initialize, rc.finalize = False, False  # a rank that ends says so to the coordinator, and waits for nobody
        mpi = importlib.import_module("mpi4py.MPI")
        version = mpi.Get_library_version()
        if not version.startswith("MPICH"):
            raise FailedPrecondition(f"the engine mpi needs MPICH, and mpi4py has found {version.splitlines()[0]}: {INSTALL}")
        _initialize(mpi)
    except FailedPrecondition:
        raise
    except Exception as error:  # of the loader, of mpi4py, or of MPI, whose class is not known before it is there
        raise manager.error or FailedPrecondition(f"MPI cannot be started: {error}; {INSTALL} brings one that can") from None
    return mpi


def _initialize(mpi: Any) -> None:
    """mpi4py's own call keeps Python's lock, and the process manager, a thread of this process, could not answer."""
    provided = ctypes.c_int()
    code = ctypes.CDLL(mpi.__file__).MPI_Init_thread(None, None, mpi.THREAD_MULTIPLE, ctypes.byref(provided))
    if code or provided.value < mpi.THREAD_MULTIPLE:
        raise FailedPrecondition(f"MPI cannot be started: MPI_Init_thread has given {code}, threads of level {provided.value}")
    mpi.COMM_WORLD.Set_errhandler(mpi.ERRORS_RETURN)


def unlink_shared_memory() -> None:
    """Take the names of MPI's files in memory away, once all ranks have mapped them: they go with the processes then.

    Source: MPICH's names of them, /dev/shm/mpich_shm_*; MPI_Finalize removes them, which a killed rank never calls.
    """
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for name in {line.split(maxsplit=5)[5].rstrip() for line in maps if _SHARED_MEMORY in line}:
            with suppress(OSError):
                os.unlink(name)


def _interface(address: str) -> str:
    """The network interface that has an address; "lo" for a machine that is alone."""
    if address:
        import fcntl  # Unix has it; this module is imported everywhere

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            for _, name in socket.if_nameindex():
                try:
                    found = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))[20:24]
                except OSError:
                    continue
                if socket.inet_ntoa(found) == address:
                    return name
    return "lo"
