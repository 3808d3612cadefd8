"""Trains networks in one process:   train_networks.py SIDE OUT BITS NETWORK:WAY...

OUT/NETWORK-WAY.npz gets the losses and, as w0, w1, ..., the weights. It prints lines of JSON: one for each network,
with the seconds and the variables that were copied, or what it raised.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import numpy as np

from tests.legs.tf2 import sides


def main(side: str, out: Path, bits: int, wanted: list[str]) -> None:
    sides.begin(side)
    from tests.legs.tf2.networks import NETWORKS
    from tests.legs.tf2.networks.problem import Move, train

    for one in wanted:
        name, way = one.split(":")
        began, line = time.process_time(), {"network": one}
        try:
            losses, weights = train(NETWORKS[name], way, Move(bits))
            np.savez(out / f"{name}-{way}.npz", losses=losses, **{f"w{place}": array for place, array in enumerate(weights)})
            line |= {"copies": sides.copies(side)}
        except Exception:
            line |= {"raised": traceback.format_exc()}
        print(json.dumps({**line, "seconds": round(time.process_time() - began, 2)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
