"""The APIs on those lines of a run's files that made nodes or sessions, for the list of APIs in a report."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from npu_formats.whole_number import whole_number
from tf2npu.api_support.uses import ApiUses
from tf2npu.config import Config
from tf2npu.scanner.facts import gather_facts
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.source import decode
from tf2npu.scanner.tree import parse, run_with_deep_stack

log = logging.getLogger(__name__)

Statement = tuple[int, int]


def api_lines(
    sources: Mapping[str, bytes], statements: Mapping[str, Iterable[Statement]], seen: Collection[str]
) -> list[dict[str, Any]]:
    """Lines with the names of the APIs that they refer to, as the table of APIs has them.

    sources: of the files that were run, by path.  statements: first and last line of each, by path.  seen: places "path:line"
    of which the run tells; lines of other statements are left out.  A file that cannot be parsed has none.
    """
    lines: dict[str, set[int]] = {}
    for place in seen:
        path, _, text = place.rpartition(":")
        line = whole_number(text)
        if path in sources and line is not None:
            lines.setdefault(path, set()).add(line)
    project = ProjectFacts.merge([gather_facts(path, data) for path, data in sorted(sources.items())] if lines else [])
    found = []
    for path in sorted(lines):
        near = _beside(lines[path], statements.get(path, ()))
        apis = _of_file(path, sources[path], project)
        found += [{"place": f"{path}:{line}", "apis": names} for line, names in apis.items() if line in near]
    return found


def _beside(lines: set[int], statements: Iterable[Statement]) -> set[int]:
    """The lines, with all of the innermost statement that each stands in: a node knows only the first line of its call."""
    around: dict[int, Statement] = {}
    for first, last in sorted(statements, key=lambda one: one[0] - one[1]):
        around.update(dict.fromkeys(range(first, last + 1), (first, last)))
    return lines | {near for line in lines if line in around for near in range(around[line][0], around[line][1] + 1)}


def _of_file(path: str, data: bytes, project: ProjectFacts) -> dict[int, list[str]]:
    """APIs of a file by line; names are resolved across all files that were run."""
    facts = project.files[path]
    if facts.is_too_deep or path not in project.reaching:
        return {}
    try:
        return run_with_deep_stack(lambda: _references(path, data, project))
    except Exception as error:  # a defect of ours must not cost the record of a run
        log.warning("%s: the list of APIs will not tell what this run saw in it, as it could not be read: %r", path, error)
        return {}


def _references(path: str, data: bytes, project: ProjectFacts) -> dict[int, list[str]]:
    script = Script(path, parse(decode(data).text, project.files[path].is_python), Config(), project)
    uses = ApiUses(script)
    for call, scope in script.walked.calls:
        uses.see(script.name_of(call.func, scope), call.func, scope)
    for node, scope in script.walked.references_beside_calls():
        uses.see(script.name_of(node, scope), node, scope)
    return uses.by_line()
