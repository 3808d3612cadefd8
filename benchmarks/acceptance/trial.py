"""One corpus through the converter: twice, then its own output; every property counted and every cost measured."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.acceptance import properties
from benchmarks.acceptance.checkouts import Brought
from benchmarks.acceptance.measured import Cost, run

CONVERTER = str(Path(sys.executable).with_name("tf2npu"))
HERE = Path(__file__).parent
REPORT = "tf2npu-report/report.json"
_PARSED = ("converted", "unchanged", "failed")


@dataclass
class Trial:
    """The result for a corpus. violations: kind -> texts; a violation of any kind but `undefined_by_star` is a failure."""

    name: str
    version: str
    n_files: int = 0
    n_lines: int = 0
    n_changed: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    first: Cost | None = None
    again: Cost | None = None
    alone: Cost | None = None  # --jobs 1 --no-cache
    bare: Cost | None = None  # LibCST's parse and emit of the same files, nothing else
    violations: dict[str, list[str]] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        return any(found for kind, found in self.violations.items() if kind != "undefined_by_star")


def attempt(brought: Brought, scratch: Path, jobs: int, measure_cpu: bool) -> Trial:
    """Convert a corpus into `scratch` and look at everything that came of it."""
    trial = Trial(brought.name, brought.version)
    source, out, cache = brought.folder, scratch / "out", scratch / "cache"
    command = [CONVERTER, "convert", str(source), str(out), "--jobs", str(jobs)]
    trial.first = run(command, cache=cache)
    document = _report(trial, out / REPORT)
    if document is None:
        return trial
    trial.again = run(command, cache=cache)
    trial.findings = document["summary"]["findings"]
    _count(trial, source, document["files"])
    _check_files(trial, source, out, document["files"], jobs)
    _check_outside(trial, source, out)
    _check_second_pass(trial, out, scratch, jobs)
    if measure_cpu:
        _measure_cpu(trial, source, scratch, document["files"])
    return trial


def _report(trial: Trial, path: Path) -> dict | None:
    """The report; a run that left none, or an internal error in a file, is a crash."""
    assert trial.first is not None
    crashes = trial.violations.setdefault("crashes", [])
    if trial.first.code not in (0, 1, 3) or not path.exists():
        crashes.append(f"exit code {trial.first.code}: {trial.first.stderr.strip()[-300:]}")
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    crashes += [f"{file['path']}: {f['message']}" for file in document["files"] for f in file["findings"] if _is_crash(f)]
    return document


def _is_crash(finding: dict) -> bool:
    return finding["rule"] == "NPU006" or "defect of tf2npu" in finding["message"]


def _count(trial: Trial, source: Path, files: list[dict]) -> None:
    paths = [file["path"] for file in files if file["path"].lower().endswith((".py", ".pyw"))]
    trial.n_files = len(paths)
    trial.n_lines = sum((source / path).read_bytes().count(b"\n") for path in paths if (source / path).is_file())
    trial.n_changed = sum(file["status"] == "converted" for file in files)


def _check_files(trial: Trial, source: Path, out: Path, files: list[dict], jobs: int) -> None:
    imported = _imported(source, [file["path"] for file in files if file["path"].endswith(".py")])
    tasks = []
    for file in files:
        rules = frozenset(f["rule"] for f in file["findings"] if f["level"] == "fixed")
        if (source / file["path"]).is_file() or (source / file["path"]).is_symlink():
            tasks.append((file["path"], rules, file["path"] in imported))
    with ProcessPoolExecutor(jobs) as pool:
        found = list(pool.map(partial(_check_one, source, out), tasks, chunksize=32))
    for kind in properties.KINDS:
        trial.violations[kind] = [f"{one.path}: {text}" for one in found for text in getattr(one, kind)]


def _check_one(source: Path, out: Path, task: tuple[str, frozenset[str], bool]) -> properties.FileFacts:
    path, rules, is_imported = task
    return properties.check(source, out, path, rules, is_imported)


def _imported(source: Path, paths: list[str]) -> frozenset[str]:
    """Files of the corpus that another file imports: an import is looked up beside the file, then in each folder above."""
    known, found = set(paths), set()
    for path in paths:
        tree = properties.parsed((source / path).read_bytes()) if (source / path).is_file() else None
        for node in ast.walk(tree) if tree is not None else ():
            for level, name in _modules(node):
                found |= _candidates(path, level, name) & known - {path}
    return frozenset(found)


def _modules(node: ast.AST) -> list[tuple[int, str]]:
    if isinstance(node, ast.Import):
        return [(0, alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = node.module or ""
        return [(node.level, base), *((node.level, f"{base}.{alias.name}".strip(".")) for alias in node.names)]
    return []


def _candidates(path: str, level: int, name: str) -> set[str]:
    folder = path.split("/")[:-1]
    tops = [folder[: len(folder) - level + 1]] if level else [folder[:depth] for depth in range(len(folder) + 1)]
    stems = ["/".join([*top, *name.split(".")]) for top in tops if name]
    return {f"{stem}{suffix}" for stem in stems for suffix in (".py", "/__init__.py")}


def _check_outside(trial: Trial, source: Path, out: Path) -> None:
    """A separate script, run apart from the project, compares the bytes."""
    command = [sys.executable, "-I", str(HERE / "outside_bytes.py"), str(out / REPORT), str(source), str(out)]
    done = run(command)
    if done.code:
        trial.violations["outside"] = [done.stderr.strip()[-500:]]
        return
    where = json.loads(done.stdout)["where"]
    trial.violations["outside"] = [f"{path}: {count} bytes" for path, count in sorted(where.items())]


def _check_second_pass(trial: Trial, out: Path, scratch: Path, jobs: int) -> None:
    report = scratch / "second"
    command = [CONVERTER, "convert", str(out), "--dry-run", "--format", "json", "--report", str(report)]
    done = run([*command, "--jobs", str(jobs), "--no-cache"])
    if not (report / "report.json").exists():
        trial.violations["second_pass"] = [f"exit code {done.code}: {done.stderr.strip()[-300:]}"]
        return
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    changed = [file for file in document["files"] if file["status"] == "converted"]
    trial.violations["second_pass"] = [
        f"{file['path']}: {dict(Counter(f['rule'] for f in file['findings'] if f['level'] == 'fixed'))}" for file in changed
    ]


def _measure_cpu(trial: Trial, source: Path, scratch: Path, files: list[dict]) -> None:
    options = ["--jobs", "1", "--no-cache", "--format", "json"]
    trial.alone = run([CONVERTER, "convert", str(source), str(scratch / "alone"), *options])
    listed = scratch / "parsed.txt"
    parsed = [f["path"] for f in files if f["status"] in _PARSED and f["path"].endswith(".py")]
    listed.write_bytes(os.fsencode("\n".join(parsed)))
    trial.bare = run([sys.executable, str(HERE / "bare_parse.py"), str(source)], stdin=listed)
