"""Folders of rules: each rule in that of its topic, and what several share in `facts`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import tf2npu.rules
from tf2npu.rules import rule_parts

FOLDER = Path(tf2npu.rules.__file__).parent
TOPICS = {
    "1": "session",
    "2": "estimator",
    "3": "keras",
    "4": "distributed",
    "5": "ops",
    "6": "input",
    "7": "device",
    "8": "tensorflow2",
    "9": "",
}
OF_THE_ENGINE = {
    "NPU100",
    "NPU800",
    "NPU900",
    "NPU901",
    "NPU902",
    "NPU903",
    "NPU904",
    "NPU905",
    "NPT100",
}  # engine_findings.py has them all
MODULES = sorted(FOLDER.rglob("*.py"))


def decorators(path: Path) -> list[str]:
    """Names of the decorators of a file's functions that are called."""
    found = [d for node in ast.parse(path.read_text()).body for d in getattr(node, "decorator_list", [])]
    return [getattr(d.func, "id", "") for d in found if isinstance(d, ast.Call)]


def declares_a_rule(path: Path) -> bool:
    return bool({"rule", "part_of"} & {*decorators(path)})


def test_every_file_of_a_topic_declares_a_rule_and_no_fact_does():
    assert len(MODULES) >= 136
    for path in MODULES:
        topic = path.relative_to(FOLDER).parts[0]
        if path.name != "__init__.py" and path.parent != FOLDER and topic != "engine":
            assert declares_a_rule(path) == ("facts" not in path.relative_to(FOLDER).parts), path


def test_every_rule_is_declared_once_and_all_else_is_a_part_of_it():
    n_declared = sum(decorators(path).count("rule") for path in MODULES)
    assert n_declared == len({part.id for part in rule_parts() if not part.id.startswith("NPUX")})


def test_the_first_digit_of_an_id_tells_the_topic():
    parts = [part for part in rule_parts() if not part.id.startswith("NPUX") and part.id not in OF_THE_ENGINE]
    assert len(parts) >= 176
    for part in parts:
        topic = part.check.__module__.split(".")[2]
        of_pytorch = "run_findings" if part.id.startswith("NPT9") else "pytorch"
        of_frameworks = {"NPT": of_pytorch, "NPM": "mindspore"}
        wanted = of_frameworks.get(part.id[:3]) or TOPICS[part.id[3]] or topic
        assert topic == wanted, f"{part.id} stands in {topic}"


def test_every_module_is_loaded():
    rule_parts()
    names = [".".join(path.relative_to(FOLDER).with_suffix("").parts) for path in MODULES if path.name != "__init__.py"]
    assert [name for name in names if f"tf2npu.rules.{name}" not in sys.modules] == []


def test_the_order_of_parts_does_not_hang_on_who_is_imported_first():
    code = "from tf2npu.rules import rule_parts; print([(p.id, p.check.__module__, p.check.__name__) for p in rule_parts()])"
    last = "import tf2npu.rules.session.unclosed_sessions_returned, tf2npu.rules.input.fixed_batches, tf2npu.rules.input.shards; "
    usual, other = (subprocess.run([sys.executable, "-c", c], capture_output=True, text=True) for c in (code, last + code))
    assert usual.stdout == other.stdout and "NPU601" in usual.stdout
