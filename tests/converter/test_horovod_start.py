"""Horovod that is started while a file is loaded: what asks for ranks there must find the NPU's resources started."""

from __future__ import annotations

import pytest

from tf2npu.config import Config
from tf2npu.convert import ProjectFacts, convert_file, gather_facts
from tf2npu.findings import FileResult

HVD = Config(distributed="horovod")
IMPORTS = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
TRAIN = IMPORTS + "{}\ndef main():\n    with tf.Session() as s:\n        s.run(op)\nif __name__ == '__main__':\n    main()\n"


def _convert(files: dict[str, str], config: Config = HVD) -> dict[str, FileResult]:
    project = ProjectFacts.merge(gather_facts(path, text.encode()) for path, text in files.items())
    return {path: convert_file(path, text.encode(), config, project) for path, text in files.items()}


def _told(result: FileResult) -> list[int]:
    return [finding.span.line for finding in result.findings if finding.rule == "NPU938"]


@pytest.mark.parametrize(
    "start",
    [
        "hvd.init()\nrate = 0.1 * hvd.size()",
        "if True:\n    hvd.init()  # before all else\nrate = 0.1 * hvd.size()",
        "try: hvd.init()\nexcept ValueError: raise\nclass Settings:\n    rate = 0.1 * hvd.size()",
    ],
)
def test_the_npu_is_started_where_horovod_was_and_once(start: str) -> None:
    """The start stood under the guard: ranks that were asked for above it were 0 of 1, and on a host a NameError."""
    result = _convert({"train.py": TRAIN.format(start)})["train.py"]
    text = result.after.decode()
    assert text.count("= init_resource()") == 1 and text.count("atexit.register(shutdown_resource") == 1
    assert text.index("= init_resource()") < text.index("rate = 0.1 * get_npu_rank_size()") < text.index("def main")
    assert "hvd" not in text and "try:\n        main()" not in text and _told(result) == []
    compile(text, "train.py", "exec")
    assert _convert({"train.py": text})["train.py"].after == result.after


@pytest.mark.parametrize(
    "line",
    [
        "def f():\n    hvd.init()\n    return hvd.size()",
        "f = lambda: hvd.size()",
        "a, b = hvd.init(), 1",
    ],
)
def test_what_starts_later_or_gives_a_value_leaves_the_start_under_the_guard(line: str) -> None:
    result = _convert({"train.py": TRAIN.format(line)})["train.py"]
    assert "    npu_sess, npu_shutdown = init_resource()\n    try:\n        main()" in result.after.decode()
    assert _told(result) == []


def test_ranks_asked_for_by_files_that_another_loads_are_told() -> None:
    files = {
        "settings.py": IMPORTS + "hvd.init()\nrate = 0.1 * hvd.size()\ndef f():\n    return hvd.rank()\n",
        "train.py": TRAIN.format("import settings"),
    }
    results = _convert(files)
    assert _told(results["settings.py"]) == [4] and _told(results["train.py"]) == []
    again = _convert({path: result.after.decode() for path, result in results.items()})
    assert _told(again["settings.py"]) == [3]
    assert [r.after for r in again.values()] == [r.after for r in results.values()]


def test_a_file_that_another_script_loads_is_not_started_by_loading_it() -> None:
    files = {"train.py": TRAIN.format("hvd.init()\nrate = 0.1 * hvd.size()"), "evaluate.py": TRAIN.format("import train")}
    results = _convert(files)
    assert all("    npu_sess, npu_shutdown = init_resource()\n    try:" in r.after.decode() for r in results.values())
    assert _told(results["train.py"]) == [4]


def test_without_the_option_nothing_is_told() -> None:
    result = _convert({"train.py": TRAIN.format("rate = 0.1 * hvd.size()")}, Config())["train.py"]
    assert _told(result) == [] and "init_resource" not in result.after.decode()
