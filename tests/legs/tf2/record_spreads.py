"""Records how far TensorFlow is from itself on each network: `python -m tests.legs.tf2.record_spreads [NETWORK ...]`.

Each network is trained by the loop under each setting: oneDNN on and off, one and two threads inside an op, and with inputs moved
in their last bit, up and down. The spread is the largest difference of any two settings. The ways to train a network do the same
sums, and so have one record.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.e2e.programs import SETTINGS
from tests.e2e.record_spreads import processor
from tests.legs.tf2 import sides
from tests.legs.tf2.child import trained
from tests.legs.tf2.spreads import FIXTURE, Apart, apart
from tests.needs import onednn_environment

MOVED = {"moved up": 1, "moved down": -1}


def spreads(networks: list[str], work: Path) -> dict[str, Apart]:
    """The largest distance of each step and array, by network."""
    runs = {**{name: (0, environment) for name, environment in SETTINGS.items()}, **{name: (b, {}) for name, b in MOVED.items()}}
    for place, (name, (bits, environment)) in enumerate(runs.items()):
        print(name, file=sys.stderr, flush=True)
        wanted = [f"{network}:loop" for network in networks]
        trained(sides.PLAIN, work / str(place), wanted, bits, {**onednn_environment(), **environment})
    folders = [work / str(place) for place in range(len(runs))]
    return {network: _largest(f"{network}-loop.npz", folders) for network in networks}


def _largest(file: str, folders: list[Path]) -> Apart:
    """Largest differences of any two settings."""
    pairs = [apart(a / file, b / file) for place, a in enumerate(folders) for b in folders[:place]]
    losses, weights = zip(*(pair.losses for pair in pairs), strict=True), zip(*(pair.weights for pair in pairs), strict=True)
    return Apart([max(step) for step in losses], [max(array) for array in weights])


def main(wanted: list[str]) -> None:
    import tensorflow as tf

    from tests.legs.tf2.networks import NETWORKS

    before = json.loads(FIXTURE.read_text())["networks"] if wanted else {}
    with tempfile.TemporaryDirectory() as work:
        found = spreads(wanted or list(NETWORKS), Path(work))
    for network, spread in found.items():
        before[network] = {key: [float(f"{one:.3g}") for one in numbers] for key, numbers in spread._asdict().items()}
        print(f"{network:14} losses {max(spread.losses):.1e}, weights {max(spread.weights):.1e}", file=sys.stderr)
    made_by = {"script": "tests/legs/tf2/record_spreads.py", "tensorflow": tf.__version__, "processor": processor()}
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps({"made_by": made_by, "networks": before}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
