"""The coordinator as a process of its own, as npu_formats.ranks.coordinator_request starts it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from npu_formats.ranks.coordinator_request import CALLED, PROBLEM
from npu_formats.ranks.shared_folder import shared_folder
from npu_runtime.collectives.coordinator import Coordinator


def serve() -> None:
    """Coordinate ranks that nobody launched together, until all that have come are gone."""
    request = json.loads(sys.stdin.readline())
    network = tuple(request["network"]) if request["network"] else None
    with shared_folder() as folder:
        try:
            coordinator = Coordinator(folder, bytes.fromhex(request["key"]), network)
        except OSError as error:
            print(f"{PROBLEM}{error.strerror or error}", flush=True)
            return
        print(coordinator.place or coordinator.address, flush=True)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the null device, so that the rank's pipe comes to its end
        try:
            coordinator.wait_for_the_end(request["size"], request["seconds"])
        finally:
            coordinator.close()


def serve_launcher() -> None:
    """Coordinate ranks of a launcher, which tells of each that has ended, until it closes the line or is gone."""
    request = json.loads(sys.stdin.readline())
    try:
        coordinator = Coordinator(Path(request["folder"]))
    except OSError as error:
        print(f"{PROBLEM}{error.strerror or error}", flush=True)
        return
    try:
        print(coordinator.address, flush=True)
        for line in sys.stdin:
            rank, why = json.loads(line)
            coordinator.leave(rank, why)
        print(CALLED if coordinator.was_called else "", flush=True)
    finally:
        coordinator.close()
