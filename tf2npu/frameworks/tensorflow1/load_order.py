"""Files that need npu_bridge as soon as they are loaded, and those that Python loads without a statement that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

from tf2npu.frameworks.tensorflow1.file_facts import NEEDS_NPU_BRIDGE
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import importers_of


def files_with_old_names(files: Mapping[str, FileFacts], run_by: Callable[[FileFacts], frozenset[str]]) -> frozenset[str]:
    """Files that use what npu_bridge has back, and files that run one of those; run_by: what the imports of a file run."""
    needing = {path for path, facts in files.items() if NEEDS_NPU_BRIDGE in facts.flags}
    return importers_of(needing, {path: run_by(facts) for path, facts in files.items()}) if needing else frozenset()


def packages_run_first(files: Mapping[str, FileFacts], entries: Iterable[str], with_old_names: frozenset[str]) -> frozenset[str]:
    """Files of packages that `python -m` runs before an entry script of the package, and that need npu_bridge."""
    members = [path for path in entries if any(level > 0 for level, _ in files[path].imports)]
    packages = {(folder / "__init__.py").as_posix(): path for path in members for folder in PurePosixPath(path).parents}
    return with_old_names & {package for package, path in packages.items() if package != path}
