"""A change of settings that mends a run: what it names, and the files that make it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from npu_formats.files.whole_file import put_text
from npu_runtime.config import Precision, RuntimeConfig

OPTION_OF_FILE = {
    "customize_dtypes.cfg": "customize_dtypes",
    "modify_mixlist.json": "modify_mixlist",
    "fusion_switch.cfg": "fusion_switch_file",
}
"""The session option that names each file."""


@dataclass(frozen=True)
class LeastChange:
    """kind: of what is named: "nodes" or "types" (operators of the device) that stay in fp32, "passes" that are switched off.
    files: texts by the names in `OPTION_OF_FILE`.  options: other options of a session, as a script gives them.
    """

    kind: str
    names: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, bool] = field(default_factory=dict)


def with_files(config: RuntimeConfig, change: LeastChange, folder: Path) -> RuntimeConfig:
    """A config of a session whose options name the files of the change, which are written into a folder.  Raises: OSError."""
    parameters = {**config.parameters, **change.options}
    for name, text in change.files.items():
        put_text(folder, name, text)
        parameters[OPTION_OF_FILE[name]] = str(folder / name)
    mixlist = str(folder / "modify_mixlist.json") if "modify_mixlist.json" in change.files else config.precision.mixlist
    return replace(config, parameters=parameters, precision=Precision(config.precision.mode, mixlist))
