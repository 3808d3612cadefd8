"""The coordinator of ranks that nobody launched together, as a process of its own."""

from __future__ import annotations

import json
import os
import sys

from npu_formats.ranks.coordinator_request import PROBLEM
from npu_formats.ranks.shared_folder import shared_folder
from npu_runtime.collectives.coordinator import Coordinator


def serve() -> None:
    """Coordinate until all ranks that have come are gone."""
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
