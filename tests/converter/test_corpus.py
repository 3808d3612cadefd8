"""Real code that nobody wrote for us: the standard library, click, and TensorFlow libraries where they are installed."""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from tests.how_many import IS_WHOLE, some
from tf2npu.config import Config
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts
from tf2npu.findings import Status
from tf2npu.scanner.text.edits import splice
from tf2npu.scanner.text.source import decode

STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLE = (
    "argparse ast asyncio/base_events asyncio/tasks calendar codecs collections/__init__ configparser contextlib copy csv "
    "dataclasses datetime decimal difflib dis doctest email/_header_value_parser enum fractions ftplib functools heapq "
    "html/parser http/client inspect ipaddress json/decoder locale logging/__init__ mailbox optparse pathlib pdb pickle "
    "platform plistlib random shutil smtplib socket ssl statistics string subprocess tarfile tempfile textwrap threading "
    "tokenize traceback turtle typing unittest/mock uuid warnings xml/dom/minidom zipfile"
)
FILES = [path for name in SAMPLE.split() if (path := STDLIB / f"{name}.py").is_file()]
# Put behind real code: something to convert in the scope of all its names.
TAIL = "\nimport tensorflow as _t\nwith _t.device('/gpu:0'), _t.Session() as _s:\n    _s.run(_t.nn.dropout(1., rate=_s or 0))\n"
LIBRARIES = [name for name in ("tf_slim", "tensorflow_estimator", "click") if importlib.util.find_spec(name)]


@pytest.mark.each_python
@pytest.mark.parametrize("path", some(FILES, 8), ids=lambda p: p.relative_to(STDLIB).as_posix())
def test_standard_library_file(path: Path) -> None:
    source = decode(path.read_bytes())
    data = source.encode(source.text + TAIL)
    result = convert_source(data, path.name)
    assert result.status is Status.CONVERTED, result.findings
    assert source.encode(splice(source.text + TAIL, result.edits)) == result.after
    text = decode(result.after).text
    assert source.text.rstrip() in text, "something outside of the part with TensorFlow has changed"
    assert convert_source(result.after, path.name).after == result.after
    cst.parse_module(text)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("library", some(LIBRARIES, 2))
@pytest.mark.parametrize("mode", ["none", "tf"])
def test_library_converts_twice_to_the_same(library: str, mode: str) -> None:
    """Every third or ninth file, to bound the time; the facts are those of all files."""
    spec = importlib.util.find_spec(library)
    assert spec is not None and spec.submodule_search_locations
    root = Path(spec.submodule_search_locations[0])
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}
    config = Config(distributed=mode, unsafe_fixes=mode == "tf")
    project = ProjectFacts.merge(gather_facts(name, data) for name, data in files.items())
    names = sorted(files)[:: 3 if IS_WHOLE and mode == "none" else 9]
    results = {name: convert_file(name, files[name], config, project) for name in names}
    assert {r.status for r in results.values()} <= {Status.CONVERTED, Status.UNCHANGED, Status.COPIED}
    for name, result in results.items():
        source = decode(files[name])
        assert source.encode(splice(source.text, result.edits)) == result.after
        again = convert_file(name, result.after, config, project)
        assert again.after == result.after, name
