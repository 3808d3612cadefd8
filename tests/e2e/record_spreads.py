"""Records how far TensorFlow is from itself on each program: `python -m tests.e2e.record_spreads [PROGRAM ...]`.

Every program runs once under each setting (oneDNN on and off, one and two threads inside an op), from the same step-0
checkpoint. The spread of a step is the largest relative difference between any two settings. Processors without AVX-512
have a record of their own: oneDNN and Eigen have other kernels there, which sum in another order.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from pathlib import Path

from tests.e2e.programs import EVERY_PROGRAM, SETTINGS, ProgramUnderTest, record_losses
from tests.needs import has_avx512, onednn_environment

FIXTURES = Path(__file__).parent.parent / "fixtures" / "e2e"
FIXTURE = FIXTURES / ("spreads.json" if has_avx512() else "spreads_without_avx512.json")


def losses_by_setting(program: ProgramUnderTest, work: Path) -> dict[str, list[float]]:
    """The first setting writes the checkpoint, and every setting, it too, then starts from it."""
    record_losses(program, "plain", "save", program.source, work, onednn_environment())
    return {
        setting: record_losses(program, "plain", "restore", program.source, work, {**onednn_environment(), **environment})
        for setting, environment in SETTINGS.items()
    }


def spread_of_steps(losses: dict[str, list[float]]) -> list[float]:
    """Largest relative difference of any two settings, a step each."""
    return [(max(step) - min(step)) / min(abs(loss) for loss in step) for step in zip(*losses.values(), strict=True)]


def processor() -> str:
    """The processor's name, from the kernel where there is one."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main() -> None:
    import tensorflow as tf

    wanted = sys.argv[1:]
    programs = json.loads(FIXTURE.read_text())["programs"] if wanted else {}
    for program in EVERY_PROGRAM:
        if wanted and program.name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as work:
            losses = losses_by_setting(program, Path(work))
        programs[program.name] = {"losses": losses, "spread": spread_of_steps(losses)}
        print(f"{program.name:20} spread over {len(programs[program.name]['spread'])} steps "
              f"{max(programs[program.name]['spread']):.2e}", file=sys.stderr)  # fmt: skip
    made_by = {"script": "tests/e2e/record_spreads.py", "tensorflow": tf.__version__, "processor": processor()}
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps({"made_by": made_by, "programs": programs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
