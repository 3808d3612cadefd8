"""The meeting of ranks on several machines: through the coordinator beside rank 0, at the address that the rank table or
CM_CHIEF_IP gives.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import socket
import sys
import time

from npu_formats.environment import (
    TF2NPU_COLLECTIVE_ENGINE,
    TF2NPU_COLLECTIVES,
    TF2NPU_COORDINATOR,
    TF2NPU_JOB_KEY,
    TF2NPU_SERVER,
)
from npu_formats.files.directory import Directory
from npu_formats.files.lock import exclusive
from npu_formats.ranks.coordinator_request import start
from npu_formats.ranks.network import N_PORTS, connect_patiently, connect_to
from npu_formats.ranks.rank_connection import PATIENCE_SECONDS, CannotMeet, attend, known_address, note_address
from npu_formats.ranks.rank_environment import RankEnvironment
from npu_formats.ranks.servers import Servers, is_here

RETRY_SECONDS = 0.3
"""Seconds between two rounds over the ports."""
FIRST_PATIENCE_SECONDS, MOST_PATIENCE_SECONDS = 0.5, 4.0
"""Seconds for one port in the first round, and at most; it doubles.  Whoever listens there and says nothing, at 15 ports, may
not take up all the time that a rank has, and a coordinator that is far away or busy is heard in a later round."""
KNOWN_SECONDS = 20.0
"""Seconds for a coordinator that was there before: others of its job wait for the folder meanwhile, three times as long."""
NOTICE_SECONDS = 3.0
"""Seconds after which a rank says what it waits for."""
_RUN = re.compile("[0-9a-f]{16}")


def join(given: RankEnvironment, servers: Servers, folder: Directory) -> dict[str, str]:
    """Take part in a job; the variables by which collective operations reach it.

    folder: of the job on this machine.  Raises: CannotMeet, OSError, Busy.
    """
    key = hmac.digest(servers.key.encode(), given.job.encode(), hashlib.sha256)
    if is_here(servers.chief):
        place, run = _beside_the_chief(given, servers, folder, key)
    else:
        place, run = _from_afar(given, servers, key)
    if not _RUN.fullmatch(run):
        raise CannotMeet(f"{place}: the coordinator there gives the run no name")
    with exclusive(folder, patience_seconds=PATIENCE_SECONDS):
        for old in folder.names():
            if _RUN.fullmatch(old) and old != run:
                folder.remove_tree(old)
        with folder.inside(run, make=True, mode=0o700) as own:
            path = own.path
    return {
        TF2NPU_COLLECTIVES: f"{key.hex()}|{path}",
        TF2NPU_COORDINATOR: place,
        TF2NPU_SERVER: servers.of_ranks[given.rank],
        TF2NPU_COLLECTIVE_ENGINE: "mpi",
    }


def _beside_the_chief(given: RankEnvironment, servers: Servers, folder: Directory, key: bytes) -> tuple[str, str]:
    """The address of the coordinator, and the name of the run: one that is there, or a new one."""
    with exclusive(folder, patience_seconds=PATIENCE_SECONDS):
        place = known_address(folder)
        run = _attended(place, key, given, min(given.seconds / 2, KNOWN_SECONDS)) if place else ""
        if not run:
            place = start(given.size, given.seconds, key, (servers.chief, servers.port))
            note_address(folder, place)
            _tell_other_port(place, servers)
            run = _attended(place, key, given, given.seconds)
    if not run:
        raise CannotMeet(f"rank {given.rank} of {given.size} was not let into its job: start all ranks again")
    return place, run


def _tell_other_port(place: str, servers: Servers) -> None:
    port = int(place.rpartition(":")[2])
    if port != servers.port:
        print(
            f"npu_bridge: port {servers.port} of {servers.chief} is taken, so the coordinator of this job listens at {port}, "
            "where the other ranks look too",
            file=sys.stderr,
            flush=True,
        )


def _from_afar(given: RankEnvironment, servers: Servers, key: bytes) -> tuple[str, str]:
    """Look at the ports in turn until the coordinator is there.  Raises: CannotMeet."""
    begun, is_told, waiting = time.monotonic(), False, _waiting(given, servers, "nobody was asked")
    patience = FIRST_PATIENCE_SECONDS
    while time.monotonic() - begun < given.seconds:
        place, run, why = _at_one_of_the_ports(given, servers, key, patience)
        if run:
            return place, run
        waiting = _waiting(given, servers, why)
        if not is_told and time.monotonic() - begun > NOTICE_SECONDS:
            is_told = True
            print(f"npu_bridge: {waiting}", file=sys.stderr, flush=True)
        time.sleep(RETRY_SECONDS)
        patience = min(2 * patience, MOST_PATIENCE_SECONDS)
    raise CannotMeet(f"{waiting}; {given.seconds:g} s are over (HCCL_CONNECT_TIMEOUT)")


def _at_one_of_the_ports(given: RankEnvironment, servers: Servers, key: bytes, patience: float) -> tuple[str, str, str]:
    """The coordinator's address, and the run's name; else why it is not there, by the last port at which somebody listens."""
    why = "nobody listens there"
    for port in _ports(servers):
        place = f"{servers.chief}:{port}"
        try:
            run = attend(connect_to(place, key, patience), given)
        except ConnectionRefusedError:
            continue
        except socket.gaierror as error:
            raise CannotMeet(f"{servers.chief}, where rank 0 is, is no address: {error.strerror}") from None
        except (OSError, EOFError) as error:
            why = str(getattr(error, "strerror", "") or error or "hung up")
            continue
        if run:
            return place, run, ""
    return "", "", why


def _ports(servers: Servers) -> range:
    return range(servers.port, servers.port + N_PORTS)


def _waiting(given: RankEnvironment, servers: Servers, why: str) -> str:
    ports = _ports(servers)
    return (
        f"rank {given.rank} of {given.size} waits for rank 0 at {servers.chief}, ports {ports[0]} to {ports[-1]} ({why}): "
        f"start rank 0 there, with the same JOB_ID, rank table and {TF2NPU_JOB_KEY}, and let these ports through"
    )


def _attended(place: str, key: bytes, given: RankEnvironment, seconds: float) -> str:
    """The name of the run, empty where nobody is there any more, or answers in time.  Raises: CannotMeet."""
    try:
        return attend(connect_patiently(place, key, seconds), given)
    except (OSError, EOFError, ValueError):
        return ""
