"""Steps of functions of TensorFlow 2, dumped on the device, beside what the originals compute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.example_dumps import STEPS, DumpedExample, tool
from tests.legs.tf2.tool_scripts import FIT, LOOP, LSTM, script

SCRIPTS = {"loop of its own": LOOP, "Keras' fit": FIT, "recurrent layer": LSTM}
_OPTIONS = {"enable_dump": "true", "dump_step": "|".join(map(str, STEPS)), "dump_mode": "all", "fusion": "off"}


def dumped_functions(folder: Path) -> Iterator[DumpedExample]:
    """The scripts, one after another, below a folder of their own."""
    for name, text in SCRIPTS.items():
        made = DumpedExample(f"function, {name}", folder / name.replace(" ", "_").replace("'", ""))
        made.dump.mkdir(parents=True)
        (made.folder / "original").mkdir()
        original = script(made.folder / "original", text, opens=False)
        options = [word for name, value in _OPTIONS.items() for word in ("--option", f"{name}={value}")]
        tool("run", *options, "--option", f"dump_path={made.dump}", script(made.folder, text), folder=made.folder)
        tool("dump", "reference", "--out", made.reference, "--steps", ",".join(map(str, STEPS)), original, folder=made.folder)
        yield made
