"""The first lines of examples: before a conversion, and behind one that has changed something."""

from __future__ import annotations

from tf2npu.frameworks.pytorch.framework import IMPORT

BEFORE = "import torch\n"
AFTER = f"{BEFORE}{IMPORT}\n"
