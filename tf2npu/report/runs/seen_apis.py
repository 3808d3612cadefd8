"""The evidence of runs on APIs: how many nodes the lines of each made, and where these and its sessions ran."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from tf2npu.report.languages.language import Catalogue, counted
from tf2npu.report.runs.document import RunDocument
from tf2npu.report.runs.line_evidence import Entry, RunLines, has_changed


@dataclass
class SeenInRun:
    """Uses of one API in one run: the entries of lines that refer to it, each once though several references lead to it."""

    device: dict[int, Entry] = field(default_factory=dict)
    host: dict[int, Entry] = field(default_factory=dict)
    sessions: dict[int, Entry] = field(default_factory=dict)

    def told(self) -> Iterator[str]:
        """Phrases that say where its nodes and sessions ran, in English."""
        if n_nodes := sum(entry["count"] for entry in self.device.values()):
            yield f"{counted(n_nodes, 'node')} ran on the device"
        if n_nodes := sum(entry["count"] for entry in self.host.values()):
            yield f"{counted(n_nodes, 'node')} ran on the host"
        ran_on = [entry["ran_on"] for entry in self.sessions.values()]
        if n_sessions := ran_on.count("device"):
            yield f"{counted(n_sessions, 'session')} ran on the device"
        if n_sessions := ran_on.count("TensorFlow"):
            yield f"{counted(n_sessions, 'session')} ran on TensorFlow"


class SeenApis:
    """Uses of APIs in all runs of a report. A use in a file that has changed since the run does not count."""

    def __init__(self, runs: list[RunDocument]) -> None:
        self._runs = [(run["script"], _by_api(run)) for run in runs]

    def of(self, api: str, texts: Catalogue) -> str:
        """Each run that saw an API with what it showed, in the reader's language; "" where none did."""
        said = []
        for script, found in self._runs:
            if api in found and (told := [*found[api].told()]):
                said.append(f"`{script}`: {', '.join(texts.text(text) for text in told)}")
        return "; ".join(said)


def _by_api(run: RunDocument) -> dict[str, SeenInRun]:
    found: dict[str, SeenInRun] = {}
    with_apis: dict[str, dict[int, list[str]]] = {}
    for entry in run.get("api_lines", ()):
        with_apis.setdefault(entry["path"], {})[entry["line"]] = entry["apis"]
    for path, apis in with_apis.items():
        if not has_changed(run, path):
            lines = RunLines(run, path)
            for line, names in apis.items():
                for api in names:
                    _add(found.setdefault(api, SeenInRun()), api, lines, line, apis)
    return found


def _add(seen: SeenInRun, api: str, lines: RunLines, line: int, with_apis: Container[int]) -> None:
    """with_apis: lines that refer to APIs; what one of them made belongs to its own, and else to those of the statement."""
    here = range(line, line + 1)
    if api.endswith("Session"):  # such as tf.train.MonitoredSession
        seen.sessions.update((id(entry), entry) for entry in lines.sessions(here))
        return
    for found, kept in ((lines.on_device(here), seen.device), (lines.on_host(here), seen.host)):
        for entry in found:
            at = entry.get("at", entry)["line"]
            if at == line or at not in with_apis:
                kept[id(entry)] = entry
