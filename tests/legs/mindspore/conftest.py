"""The tests of the leg mindspore: the project's package on the path, as `tf2npu run --frontend mindspore` puts it there."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tf2npu" / "adapters" / "mindspore")]
