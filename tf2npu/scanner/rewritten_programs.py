"""Programs that are written for a sister of a framework: all of their files are brought to the framework, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tf2npu.findings import Seen
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import connected
from tf2npu.scanner.names import root_of

Edges = Mapping[str, frozenset[str]]
OwnModule = Callable[[str, str], bool]


def rewritten_programs(
    files: Mapping[str, FileFacts], edges: Edges, is_own: OwnModule
) -> tuple[dict[str, FileFacts], dict[str, tuple[Seen, ...]]]:
    """The facts of the files that are rewritten, as they will be; and the files that are not, with the places that keep them.

    A program here is all files that imports connect.  is_own: whether a file finds a dotted module in the tree.
    """
    if not any(facts.rewritten is not None for facts in files.values()):
        return {}, {}
    rewritten: dict[str, FileFacts] = {}
    kept: dict[str, tuple[Seen, ...]] = {}
    for paths in connected(edges):
        of_sister = [path for path in paths if files[path].rewritten is not None]
        if not of_sister:
            continue
        found = [one for path in of_sister if (one := files[path].rewritten) is not None]
        modules = frozenset[str]().union(*(one.modules for one in found))
        if any(is_own(path, module) for path in of_sister for module in modules):
            kept |= dict.fromkeys(of_sister, ())
            continue
        places = [place for one in found for place in one.obstacles]
        places += [place for one in found for place in one.foreign if not is_own(place.path, place.api)]
        places += [place for path in paths for place in _unread(files[path], modules)]
        places += [evidence for path in paths if (evidence := files[path].evidence) is not None]
        if places or not any(one.is_wanted for one in found):
            kept |= dict.fromkeys(of_sister, tuple(places))
            continue
        rewritten |= {path: one.facts for path, one in zip(of_sister, found, strict=True) if one.facts is not None}
    return rewritten, kept


def _unread(facts: FileFacts, modules: frozenset[str]) -> list[Seen]:
    """The import of the sister in a file that Python's own parser refuses."""
    names = [name for level, name in facts.imports if level == 0 and root_of(name) in modules]
    return [Seen(facts.path, 1, names[0])] if names and facts.rewritten is None and not facts.is_python else []
