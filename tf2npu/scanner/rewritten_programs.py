"""Programs that are written for a sister of a framework: all of their files are brought to the framework, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tf2npu.findings import Seen
from tf2npu.frameworks.registry import known
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import connected
from tf2npu.scanner.input_roles import Target
from tf2npu.scanner.names import root_of


@dataclass
class RewrittenPrograms:
    """The outcome for the programs that are written for a sister of a framework.

    files: those that are rewritten, with the facts as they will be.  older: of these, those of programs that are older than
    the next release of the framework.  kept: those that are not rewritten, with the places that keep them.
    """

    files: dict[str, FileFacts] = field(default_factory=dict)
    older: set[str] = field(default_factory=set)
    kept: dict[str, tuple[Seen, ...]] = field(default_factory=dict)


FilesOf = Callable[[str, Iterable[Target]], frozenset[str]]
FindModule = Callable[[str, int, str], str | None]


def rewritten_programs(files: Mapping[str, FileFacts], files_of: FilesOf, find_module: FindModule) -> RewrittenPrograms:
    """Decide for each program; one is all files that imports connect.

    files_of: the files of the tree that imports of a file refer to.  find_module: the file of one module.
    """
    programs = RewrittenPrograms()
    if not any(facts.rewritten is not None for facts in files.values()):
        return programs

    def is_own(path: str, module: str) -> bool:
        parts = module.split(".")
        found = (find_module(path, 0, ".".join(parts[:n])) for n in range(len(parts), 0, -1))
        return any(file not in (None, path) for file in found)

    edges = {
        path: files_of(path, [*facts.imports, *(facts.rewritten.imports if facts.rewritten is not None else ())])
        for path, facts in files.items()
    }
    for paths in connected(edges):
        of_sister = [path for path in paths if files[path].rewritten is not None]
        if not of_sister:
            continue
        found = [one for path in of_sister if (one := files[path].rewritten) is not None]
        modules = frozenset[str]().union(*(one.modules for one in found))
        if any(is_own(path, module) for path in of_sister for module in modules):
            programs.kept |= dict.fromkeys(of_sister, ())
            continue
        places = [place for one in found for place in one.obstacles]
        places += [place for one in found for place in one.foreign if not is_own(place.path, place.api)]
        places += [place for path in paths for place in _unread(files[path], modules)]
        new = [*(files[path] for path in paths), *(one.facts for one in found if one.facts is not None)]
        places += [place for facts in new for framework in known() if (place := framework.place_of_next(facts))]
        if places or not any(one.is_wanted for one in found):
            programs.kept |= dict.fromkeys(of_sister, tuple(places))
            continue
        programs.files |= {path: one.facts for path, one in zip(of_sister, found, strict=True) if one.facts is not None}
        programs.older |= set(of_sister) if any(one.is_older for one in found) else set()
    return programs


def _unread(facts: FileFacts, modules: frozenset[str]) -> list[Seen]:
    """The import of the sister in a file that Python's own parser refuses."""
    names = [name for level, name in facts.imports if level == 0 and root_of(name) in modules]
    return [Seen(facts.path, 1, names[0])] if names and facts.rewritten is None and not facts.is_python else []
