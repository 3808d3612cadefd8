"""Facts of a large project are merged in a process of their own, and come out as if merged here."""

from __future__ import annotations

import os
import signal

from tf2npu.engine.convert_file import gather_facts
from tf2npu.project import merge_facts, workers
from tf2npu.project.cache import fingerprint
from tf2npu.scanner.project_facts import ProjectFacts

FILES = {
    "train.py": b"import model, compat\nif __name__ == '__main__':\n    compat.tf.app.run(model.main)\n",
    "compat.py": b"import tensorflow as tf\nimport horovod.tensorflow as hvd\n",
    "model.py": b"from compat import *\ndef make():\n    return tf.Session()\ndef main(_):\n    make().run(1)\n",
}


def packed() -> list[bytes]:
    return [merge_facts.packed_facts(path, data, gather_facts) for path, data in FILES.items()]


def test_both_ways_give_the_project_that_merging_gives(monkeypatch):
    expected = fingerprint(ProjectFacts.merge(gather_facts(path, data) for path, data in FILES.items()))
    assert fingerprint(merge_facts.merged(packed())) == expected
    monkeypatch.setattr(merge_facts, "_BYTES_WORTH_A_PROCESS", 0)
    assert fingerprint(merge_facts.merged(packed())) == expected


def test_the_project_is_merged_here_when_the_other_process_dies(monkeypatch):
    apart = workers.apart
    monkeypatch.setattr(merge_facts, "_BYTES_WORTH_A_PROCESS", 0)
    monkeypatch.setattr(merge_facts.workers, "apart", lambda *_: apart(_kill_this_process))
    assert merge_facts.merged(packed()).entries == {"train.py"}


def test_equal_names_of_different_files_are_one_object():
    sources = {f"{name}.py": b"import tensorflow as tf\nimport some_module_of_theirs\n" for name in "ab"}
    project = merge_facts.merged([merge_facts.packed_facts(path, data, gather_facts) for path, data in sources.items()])
    one, other = (facts.imports for facts in project.files.values())
    assert len(one) == 2 and all(mine is theirs for mine, theirs in zip(one, other, strict=True))


def _kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
