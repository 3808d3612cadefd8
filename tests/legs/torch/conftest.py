"""The tests of the leg torch: the simulated device of PyTorch, on the path as `tf2npu run` puts it there."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tf2npu" / "adapters" / "pytorch")]

import torch  # noqa: E402
import torch_npu  # noqa: E402, F401

torch.set_num_threads(1)  # of several, a convolution may add in another order from run to run
