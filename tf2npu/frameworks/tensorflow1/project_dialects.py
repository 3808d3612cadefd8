"""Files marked as TensorFlow 2 by scripts that import them, or that they import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tf2npu.frameworks.tensorflow1.file_facts import dialect, imports_adapter2
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import imported_by, importers_of


@dataclass(frozen=True)
class ToldDialects:
    """Each dictionary leads from a file to the script that tells what the file is written for."""

    of_adapter2: dict[str, str] = field(default_factory=dict)  # the script imports npu_device, and the file
    for_tensorflow2: dict[str, str] = field(default_factory=dict)  # the script for TensorFlow 2 imports the file
    on_tensorflow2: dict[str, str] = field(default_factory=dict)  # the file imports the script for TensorFlow 2
    first_1: str = ""  # a script for TensorFlow 1, where there is one
    first_2: str = ""  # and one for TensorFlow 2
    leans_to_2: bool = False  # of the scripts that tell, more are for 2, or one has moved by its adapter
    with_1: frozenset[str] = frozenset()  # where there are scripts for either, files that import one for 1, or that it imports

    def script_for_1(self, path: str) -> str:
        """A script for TensorFlow 1 with which a file belongs together; empty where none is, or the tree has both kinds."""
        return self.first_1 if not self.first_2 or path in self.with_1 else ""


def told_dialects(files: Mapping[str, FileFacts], edges: Mapping[str, frozenset[str]]) -> ToldDialects:
    """The dialects that the files of a tree tell of each other."""
    of_adapter2 = _used_with_adapter2(files, edges)
    of_1 = {path for path, f in files.items() if dialect(f) == "1" and path not in of_adapter2}
    on_2 = _built_on_tensorflow2(files, edges, of_1)
    told_2 = {path for path, f in files.items() if dialect(f) == "2"}
    first_1, first_2 = min(of_1, default=""), min(told_2, default="")
    leans_to_2 = len(told_2) > len(of_1) or any(map(imports_adapter2, files.values()))
    with_1 = imported_by(of_1, edges) | importers_of(of_1, edges) if first_1 and first_2 else frozenset()
    of_2 = _used_by_tensorflow2(files, edges, of_1, on_2)
    return ToldDialects(of_adapter2, of_2, on_2, first_1, first_2, leans_to_2, frozenset(with_1))


def _used_with_adapter2(files: Mapping[str, FileFacts], edges: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Files that a script for the adapter of TensorFlow 2 imports, whatever they look like: they run in its process."""
    found: dict[str, str] = {}
    for path, facts in files.items():
        for target in sorted(imported_by({path}, edges)) if imports_adapter2(facts) else ():
            if not imports_adapter2(files[target]):
                found.setdefault(target, path)
    return found


def _used_by_tensorflow2(
    files: Mapping[str, FileFacts], edges: Mapping[str, frozenset[str]], of_1: set[str], on_2: dict[str, str]
) -> dict[str, str]:
    """Files that do not tell what they are written for, and that scripts for TensorFlow 2 and none for 1 import."""
    settled = of_1 | imported_by(of_1, edges)
    found: dict[str, str] = {}
    for path, facts in files.items():
        if dialect(facts) == "2" or path in on_2:
            for target in imported_by({path}, edges) - settled - on_2.keys():
                if not dialect(files[target]):
                    found.setdefault(target, path)
    return found


def _built_on_tensorflow2(files: Mapping[str, FileFacts], edges: Mapping[str, frozenset[str]], of_1: set[str]) -> dict[str, str]:
    """Files that do not tell what they are written for, import a script for TensorFlow 2, and have no part in one for 1."""
    told = {path for path, f in files.items() if dialect(f)}
    others = told | imported_by(of_1, edges) | importers_of(of_1, edges)
    of_2 = [path for path in files if path in told - of_1]
    return {path: source for source in reversed(of_2) for path in importers_of({source}, edges) - others}
