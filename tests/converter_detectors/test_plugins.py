"""Rules of other packages: found by their entry point, used like ours, and left out with one sentence when they are broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RULE = '''
from tf2npu.rules import Example
from tf2npu.rules.base import rule


@rule(
    id="NPUX01", title="Our old reader", matches=("acme.io.open_records",), why="It is gone.", source="ACME handbook",
    examples=(Example.same("import acme.io\\nr = acme.io.open_records(f)", level="manual"), Example.same("r = open_records(f)")),
)
def old_reader(call):
    """Reports the old reader."""
    call.manual("Write acme.io.records(...).")
'''
SCRIPT = "import acme.io\nimport tensorflow as tf\nr = acme.io.open_records(f)\n"


def install(folder: Path, code: str, target: str = "acme_rules", name: str = "acme") -> None:
    """A package as an installer leaves it."""
    (folder / "acme_rules.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n[tf2npu.rules]\nacme = {target}\n")


def run(folder: Path, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    code = "import sys; from tf2npu.cli import main; sys.argv[0] = 'tf2npu'; main()"
    return subprocess.run([sys.executable, "-c", code, *args], input=stdin, capture_output=True, text=True, env=env, check=False)


def test_a_rule_of_another_package_is_used(tmp_path: Path) -> None:
    install(tmp_path, RULE)
    done = run(tmp_path, "convert", "-", stdin=SCRIPT)
    assert "NPUX01" in done.stderr and "Write acme.io.records" in done.stderr
    assert done.stdout == SCRIPT
    assert "Our old reader" in run(tmp_path, "rules", "NPUX01").stdout


def test_what_it_says_is_english_in_another_language_and_one_warning_says_so(tmp_path: Path) -> None:
    install(tmp_path, RULE)
    (tmp_path / "m.py").write_text(SCRIPT + SCRIPT, encoding="utf-8")
    done = run(tmp_path, "scan", str(tmp_path / "m.py"), "--lang", "zh", "--report", str(tmp_path / "zh"))
    assert "Write acme.io.records" in done.stdout
    warning = "rule NPUX01 of a plug-in has no text in the language 'zh'; what it says is shown in English"
    assert done.stderr.splitlines().count(warning) == 1
    assert run(tmp_path, "rules", "NPUX01", "--lang", "zh").stderr.strip() == warning
    assert "has no text" not in run(tmp_path, "scan", str(tmp_path / "m.py"), "--report", str(tmp_path / "en")).stderr


def test_it_is_selected_ignored_and_switched_off_like_others(tmp_path: Path) -> None:
    install(tmp_path, RULE)
    assert "Write acme" not in run(tmp_path, "convert", "-", "--ignore", "NPUX", stdin=SCRIPT).stderr
    assert "Write acme" in run(tmp_path, "convert", "-", "--select", "NPUX01", stdin=SCRIPT).stderr
    quiet = SCRIPT.replace("(f)", "(f)  # tf2npu: ignore[NPUX01]")
    assert "Write acme" not in run(tmp_path, "convert", "-", stdin=quiet).stderr


def test_an_entry_point_may_name_a_function(tmp_path: Path) -> None:
    install(tmp_path, "def register():\n" + "".join(f"    {line}\n" for line in RULE.splitlines()), "acme_rules:register")
    assert "NPUX01" in run(tmp_path, "convert", "-", stdin=SCRIPT).stderr


def test_it_looks_at_several_kinds_of_sites_and_has_parts(tmp_path: Path) -> None:
    code = RULE.replace("import rule", "import part_of, rule").replace('title="Our', 'on=("call", "reference"), title="Our')
    part = '@part_of(old_reader, on="module")\ndef whole_file(site):\n    """Looks."""\n    site.info("seen")\n'
    install(tmp_path, f"{code}\n\n{part}")
    done = run(tmp_path, "convert", "-", stdin=SCRIPT + "make = acme.io.open_records\n")
    assert "3 findings: 2 manual, 1 info" in done.stderr
    (entry,) = json.loads(run(tmp_path, "rules", "NPUX01", "--format", "json").stdout)
    assert [part["name"] for part in entry["parts"]] == ["old_reader", "old_reader", "whole_file"]
    assert len(entry["examples"]) == 2


@pytest.mark.whole(but=("import*", "code1-*", "code3-*", "raise*", "code9-*"))
@pytest.mark.parametrize(
    ("code", "target", "words"),
    [
        ("import no_such_module_at_all\n", "acme_rules", "No module named 'no_such_module_at_all'"),
        (RULE, "acme_rule", "No module named 'acme_rule'"),
        (RULE, "acme rules", "neither a module nor module:function"),
        (RULE, "acme_rules:nothing", "has no attribute 'nothing'"),
        ("raise SystemExit(3)\n", "acme_rules", "SystemExit"),
        ("x = (\n", "acme_rules", "SyntaxError"),
        ("pass\n", "acme_rules", "it registers no rule"),
        (RULE.replace("NPUX01", "NPU101").replace("Our old reader", "Session config"), "acme_rules", "a rule of this id already"),
        (RULE.replace("NPUX01", "NPU101"), "acme_rules", "already called"),
        (RULE.replace("NPUX01", "ACME1"), "acme_rules", "NPUX and two to four digits"),
        (RULE.replace('title="Our', 'on="never", title="Our'), "acme_rules", "unknown kind of site"),
    ],
)
def test_a_broken_one_is_one_sentence_and_the_rest_works(tmp_path: Path, code: str, target: str, words: str) -> None:
    install(tmp_path, code, target)
    done = run(tmp_path, "convert", "-", stdin="import tensorflow as tf\ns = tf.Session()\n")
    said = [line for line in done.stderr.splitlines() if line.startswith("plug-in 'acme' of acme-1.0 cannot be used: ")]
    assert len(said) == 1 and words in said[0]
    assert "Traceback" not in done.stderr
    assert "tf.Session(config=npu_config_proto())" in done.stdout
    assert "NPUX" not in run(tmp_path, "rules").stdout


def test_entry_points_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    install(tmp_path, RULE)
    (tmp_path / "acme-1.0.dist-info" / "entry_points.txt").write_text("nothing\n[tf2npu.rules]\nacme = acme_rules\n")
    done = run(tmp_path, "convert", "-", stdin=SCRIPT)
    assert "of acme-1.0 cannot be used" in done.stderr and "Traceback" not in done.stderr


def test_the_search_takes_neither_the_library_nor_a_folder_that_is_gone(tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); sys.path.append('/no/such/folder'); from tf2npu.rules import plugins; "
        "print([p.name for p in plugins.installed()], 'importlib.metadata' in set(sys.modules) - before)"
    )
    install(tmp_path, RULE)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.strip() == "['acme'] False"


def test_results_are_kept_apart_from_those_without_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source, packages = tmp_path / "src", tmp_path / "packages"
    source.mkdir()
    packages.mkdir()
    (source / "m.py").write_text(SCRIPT)
    run(packages, "scan", str(source), "--report", str(tmp_path / "r1"))
    install(packages, RULE)
    run(packages, "scan", str(source), "--report", str(tmp_path / "r2"))
    assert "NPUX01" not in (tmp_path / "r1" / "report.json").read_text()
    assert "NPUX01" in (tmp_path / "r2" / "report.json").read_text()


def test_a_broken_one_is_said_once_each_time_also_when_all_comes_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source, packages = tmp_path / "src", tmp_path / "packages"
    source.mkdir()
    packages.mkdir()
    for number in range(4):
        (source / f"m{number}.py").write_text(SCRIPT + "#" * 200_000 + "\n")
    install(packages, "import no_such_module_at_all\n")
    for report in ("first", "second"):
        done = run(packages, "scan", str(source), "--jobs", "2", "--report", str(tmp_path / report))
        assert done.stderr.count("plug-in 'acme' of acme-1.0 cannot be used") == 1
