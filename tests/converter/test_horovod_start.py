"""Horovod that is started while a file is loaded: what asks for ranks there must find the NPU's resources started."""

from __future__ import annotations

import sys
from types import ModuleType
from unittest.mock import MagicMock, patch

import pytest

from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, gather_facts
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


@pytest.mark.parametrize(
    "start", ["hvd.init()", "if True:\n  hvd.init()  # before all else", "try:\n\thvd.init()\nfinally:\n\tpass"]
)
def test_a_file_that_another_script_loads_starts_where_horovod_was_when_it_is_the_one_that_is_run(start: str) -> None:
    """The start stood under the guard: when the file was run, what it asked for above came before it."""
    files = {"train.py": TRAIN.format(f"{start}\nrate = 0.1 * hvd.size()"), "evaluate.py": TRAIN.format("import train")}
    results = _convert(files)
    text = results["train.py"].after.decode()
    assert ran(text, "__main__") == ["init_resource", "get_npu_rank_size", "main"]
    assert ran(text, "train") == ["get_npu_rank_size"]
    assert "    npu_sess, npu_shutdown = init_resource()\n    try:" in results["evaluate.py"].after.decode()
    (line,) = _told(results["train.py"])
    assert "rate" in files["train.py"].split("\n")[line - 1]
    again = _convert({path: result.after.decode() for path, result in results.items()})
    assert [r.after for r in again.values()] == [r.after for r in results.values()] and len(_told(again["train.py"])) == 1


def ran(text: str, name: str) -> list[str]:
    """Calls of the NPU's functions, and of its own main, that a converted script makes when it is run, or loaded."""
    calls: list[str] = []
    npu, tensorflow, atexit = ModuleType("npu_bridge.npu_init"), MagicMock(), ModuleType("atexit")
    for function, value in (("init_resource", (1, 2)), ("get_npu_rank_size", 1), ("shutdown_resource", None)):
        setattr(npu, function, lambda *given, function=function, value=value: calls.append(function) or value)
    for module, function in ((npu, "close_session"), (npu, "npu_config_proto"), (atexit, "register")):
        setattr(module, function, lambda *given: None)
    text = text.replace("def main():\n", "def main():\n    calls.append('main')\n    return\n")
    modules = {"npu_bridge": ModuleType("npu_bridge"), "npu_bridge.npu_init": npu, "tensorflow": tensorflow, "atexit": atexit}
    with patch.dict(sys.modules, modules):
        exec(compile(text, "train.py", "exec"), {"__name__": name, "calls": calls})
    return calls


def test_a_start_that_shares_its_line_stays_under_the_guard_of_a_file_that_another_loads() -> None:
    files = {
        "train.py": TRAIN.format("seed = 1; hvd.init()\nrate = 0.1 * hvd.size()"),
        "evaluate.py": TRAIN.format("import train"),
    }
    result = _convert(files)["train.py"]
    assert "    npu_sess, npu_shutdown = init_resource()\n    try:" in result.after.decode() and _told(result) == [4]


def test_without_the_option_nothing_is_told() -> None:
    result = _convert({"train.py": TRAIN.format("rate = 0.1 * hvd.size()")}, Config())["train.py"]
    assert _told(result) == [] and "init_resource" not in result.after.decode()
