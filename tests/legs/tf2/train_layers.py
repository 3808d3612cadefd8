"""Trains layers in one process:   train_layers.py SIDE [NAME...]      and prints a line of JSON for each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.legs.tf2 import layers, sides
from tests.legs.tf2.run_cases import outcome

if __name__ == "__main__":
    sides.begin(sys.argv[1])
    for name in sys.argv[2:] or layers.MODELS:
        print(json.dumps({"case": name, **outcome(lambda name=name: layers.trained(name))}), flush=True)
