"""Child process of the end-to-end tests: one script, watched, on plain TensorFlow or on the shim.

A test starts it:

    python recorded_run.py plain|shim save|restore CHECKPOINT RECORD.json SCRIPT [ARGS...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from plain_tf1 import put_v1_in_place, run_script


def main(side: str, mode: str, checkpoint: str, record: str, script: str, *arguments: str) -> None:
    if side == "plain":
        put_v1_in_place()
    else:
        import npu_bridge.npu_init  # noqa: F401  before the recorder: it wraps the session class that is then in place
    from recorder import Recorder

    recorder = Recorder(Path(checkpoint), restore=mode == "restore")
    recorder.install()
    run_script(script, list(arguments))
    recorder.write(Path(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
