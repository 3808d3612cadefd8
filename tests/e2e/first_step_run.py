"""Child process of benchmarks/first_step.py: a script up to the end of its first training step, on TensorFlow or on the shim.

python first_step_run.py plain|shim SCRIPT [ARGS...]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plain_tf1 import put_v1_in_place, run_script


def main(side: str, script: str, *arguments: str) -> None:
    if side == "plain":
        put_v1_in_place()
    else:
        import npu_bridge.npu_init  # noqa: F401  before the recorder: it wraps the session class that is then in place
    from recorder import Recorder

    class FirstStep(Recorder):
        """Says when the first training step is over, and saves nothing before it."""

        def _before_first_step(self, session, ops) -> None:
            pass

        @contextmanager
        def _step(self) -> Iterator[None]:
            yield
            print(f"\nfirst step {time.monotonic()}", flush=True)
            os._exit(0)

    FirstStep(Path(os.devnull), restore=False).install()
    run_script(script, list(arguments))


if __name__ == "__main__":
    main(*sys.argv[1:])
