"""yaml.load without a loader."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import takes_part
from tf2npu.scanner.sites import Call


@rule(
    id="NPU963",
    title="yaml.load without a loader",
    once=True,
    matches=("yaml.load", "yaml.load_all"),
    why="PyYAML 6 asks for a loader, and the default of older versions ran any code that was in the file.",
    source="PyYAML 5.1 and 6.0 release notes",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport yaml\nc = yaml.load(f)",
            level="info",
            write="import tensorflow as tf\nimport yaml\nc = yaml.safe_load(f)",
        ),
        Example.same("import tensorflow as tf\nimport yaml\nc = yaml.load(f, Loader=yaml.FullLoader)", note="has a loader"),
        Example.same("import tensorflow as tf\nimport yaml\nc = yaml.safe_load(f)", note="has a loader"),
    ),
)
def yaml_load(call: Call) -> None:
    """Reports yaml.load without a loader."""
    if call.arg("Loader", 1) is None and not call.has_star_args and takes_part(call):
        method = call.name.rpartition(".")[2]
        call.info(
            f"Write yaml.safe_{method}(...), or give Loader=yaml.FullLoader: PyYAML 6 refuses a call without. It runs as it is "
            "with npu_bridge, which takes the full loader, and on a host with the PyYAML of TF 1.15's time."
        )
