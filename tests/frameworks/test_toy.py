"""A framework of sixty lines is converted by the scanner and the engine as they are, beside those that ship."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from tf2npu import rules
from tf2npu.cli import cli
from tf2npu.config import RULE_LETTERS
from tf2npu.engine import dispatch
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts
from tf2npu.findings import FileResult, Status, Verdict
from tf2npu.frameworks import registry
from tf2npu.frameworks.base import Framework
from tf2npu.frameworks.registry import Frameworks, known
from tf2npu.rules.base import registered
from tf2npu.scanner.entry_scripts import entry_scripts

TENSORFLOW = "import tensorflow as tf\nwith tf.Session() as s:\n    pass\n"


def _forget_tables() -> None:
    for table in (rules.all_rules, rules.rule_parts, rules._load, dispatch._table):
        table.cache_clear()


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    rules.load_rules()
    before = set(registered())
    sys.modules.pop("tests.frameworks.toy", None)
    framework = importlib.import_module("tests.frameworks.toy").FRAMEWORK
    _forget_tables()
    monkeypatch.setattr(registry, "_known", Frameworks((*known(), framework)))
    yield
    for rule_id in set(registered()) - before:
        del registered()[rule_id]
    _forget_tables()


def converted(**texts: str) -> dict[str, FileResult]:
    files = {f"{name}.py": text.encode() for name, text in texts.items()}
    project = ProjectFacts.merge(gather_facts(path, data) for path, data in files.items())
    return {path[:-3]: convert_file(path, data, rules.Example("", "").config, project) for path, data in files.items()}


def found(result: FileResult) -> list[str]:
    return [finding.rule for finding in result.findings]


def test_its_examples_are_converted() -> None:
    for rule_id in ("TOY101", "TOY102"):
        for example in registered()[rule_id][0].examples:
            result = convert_source(example.before)
            assert result.after.decode() == example.after and rule_id in found(result)


@pytest.mark.parametrize(
    "source",
    ["import toy\ntoy.gpu(1)\n", "from toy.internal import gpu as g\ng(1)\n", "import toy as t\ng = t.internal.gpu\ng(1)\n"],
)
def test_names_are_known_by_any_spelling(source: str) -> None:
    result = convert_source(source)
    assert "from toy_npu import device\n" in result.after.decode() and found(result) == ["TOY100", "TOY101"]


def test_its_apis_are_counted_by_its_own_table() -> None:
    uses = convert_source("import toy\ntoy.gpu(0)\ntoy.gpu(1)\ntoy.other()\n").apis
    assert [(use.name, use.verdict, use.count, use.rule, use.note) for use in uses] == [
        ("toy.gpu", Verdict.CONVERTED, 2, "TOY101", ""),
        ("toy.other", Verdict.UNKNOWN, 1, "", "no name that is known"),
    ]


def test_the_adapter_is_imported_behind_the_framework_where_a_script_is_run() -> None:
    result = convert_source("import os\nimport toy\nimport sys\n\ntoy.train()\n")
    expected = "import os\nimport toy\nimport toy_npu  # noqa: F401  brings the NPU\nimport sys\n\ntoy.train()\n"
    assert result.after.decode() == expected
    assert convert_source(result.after).after == result.after


def test_an_import_in_the_last_line_is_followed_by_a_line() -> None:
    result = convert_source("def f():\n    x.fit()\n\nif __name__ == '__main__':\n    f()\nimport toy")
    assert result.after.decode().endswith("import toy\nimport toy_npu  # noqa: F401  brings the NPU")


@pytest.mark.parametrize("comment", ["ignore", "ignore[TOY101]", "ignore[TOY]"])
def test_a_comment_keeps_its_code_as_it_is(comment: str) -> None:
    source = f"import toy\ntoy.gpu(0)  # tf2npu: {comment}\n"
    result = convert_source(source)
    assert result.after.decode() == source and found(result) == ["NPU902"]


def test_a_name_that_is_taken_gets_another() -> None:
    result = convert_source("import toy\ndevice = toy.gpu(0)\n")
    assert result.after.decode() == "import toy\nfrom toy_npu import device as npu_device\ndevice = npu_device(0)\n"


def test_what_a_project_reexports_is_followed_and_its_scripts_are_entries() -> None:
    files = {"compat": "import toy\n", "train": "from compat import toy\nmodel = toy.Model()\nmodel.fit()\nx.to_gpu()\n"}
    results = converted(**files)
    assert "import toy_npu" in results["train"].after.decode() and found(results["train"]) == ["TOY100", "TOY102"]
    project = ProjectFacts.merge(gather_facts(f"{name}.py", text.encode()) for name, text in files.items())
    assert project.is_reaching("train.py", "toy") and not project.is_reaching("train.py", "tensorflow1")
    assert [entry.path for entry in entry_scripts(project)] == []  # told by the kinds of its objects, as it is converted


def test_rules_of_others_keep_out() -> None:
    source = "import os\nimport toy\n\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\ntoy.train()\ntf = slim = 3\nds.padded_batch(2)\n"
    assert found(convert_source(source)) == ["TOY100"]


def test_a_file_of_both_gets_both_imports_and_a_file_of_one_nothing_of_the_other() -> None:
    results = converted(both=f"import toy\n{TENSORFLOW}toy.gpu(0)\n", one=TENSORFLOW, other="import toy\ntoy.gpu(0)\n")
    both = results["both"].after.decode()
    assert "from npu_bridge.npu_init import" in both and "from toy_npu import device" in both
    assert results["one"].after == convert_source(TENSORFLOW).after
    assert "npu_bridge" not in results["other"].after.decode()


def test_a_file_is_copied_where_the_framework_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "toy" in [framework.name for framework in known()]
    source = "import toy\ntoy.gpu(0)\n"
    assert convert_source(source).status is Status.CONVERTED
    monkeypatch.setattr(registry, "_known", None)
    assert convert_source(source).status is Status.COPIED


@pytest.mark.parametrize("source", ["import math\nprint(math.pi)\n", "# toys\n"])
def test_a_file_of_no_framework_is_copied(source: str) -> None:
    assert convert_source(source).status is Status.COPIED


@pytest.mark.parametrize("framework", [one for one in known() if one.rule_ids], ids=lambda one: str(one.name))
def test_ids_of_rules_can_be_selected(framework: Framework) -> None:
    assert all(start.startswith(RULE_LETTERS) for start in framework.rule_ids), "add them to RULE_LETTERS of tf2npu/config.py"


def test_its_apis_are_looked_up_in_its_own_table() -> None:
    done = CliRunner().invoke(cli, ["api", "toy.gpu"])
    assert done.exit_code == 0 and "verdict: converted\n" in done.output and "The toy's guide" in done.output
    unknown = CliRunner().invoke(cli, ["api", "toy.relu"])
    assert unknown.exit_code == 2 and unknown.output.endswith("Error: no API is called toy.relu\n")
