"""A pytest plug-in that says where the processor's time goes, by kind and by folder of tests:   pytest -p tests.processor_times

It counts the time of the process and of all that it started, so that a fork server's programs count too. Of a test it knows what
pytest knows: whether hypothesis draws its examples, whether it has a browser, and whether other processes worked for it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

PROPERTY = "processor_time"
LONGEST = 10
"""Files that are named one by one: ten show where to begin, and fit on a screen."""
SHARE_OF_OTHERS = 0.5
"""A test of which other processes have done more than half is one of processes."""
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Recorder(), "processor-times-recorder")


class _Recorder:
    """Notes the time of each test among what the test's report carries, which pytest-xdist brings from its workers."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.begin = _seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
        if call.when == "teardown":
            # A browser that ends without being waited for takes the time it had used with it: less than before counts as nothing.
            own, others = (max(0.0, now - before) for now, before in zip(_seconds(), self.begin, strict=True))
            item.user_properties.append((PROPERTY, f"{_kind(item, own, others)} {own + others:.4f}"))
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    times = list(_recorded(terminalreporter.stats))
    if not times:
        return
    terminalreporter.section("processor time")
    for title, column, most in (("kind", 0, None), ("folder", 1, None), ("file", 2, LONGEST)):
        for name, seconds, tests in _totals(times, column)[:most]:
            terminalreporter.write_line(f"{title} {name}: {seconds:.0f} s, {tests} tests, {1000 * seconds / tests:.0f} ms a test")


def _recorded(stats: dict[str, list]) -> Iterator[tuple[str, str, str, float]]:
    """Kind, folder, file and seconds of each test that ended."""
    for report in (report for reports in stats.values() for report in reports if getattr(report, "when", "") == "teardown"):
        for name, value in report.user_properties:
            if name == PROPERTY:
                kind, seconds = value.split()
                file = report.nodeid.partition("::")[0]
                yield kind, str(Path(file).parent), file, float(seconds)


def _totals(times: Iterable[tuple[str, str, str, float]], column: int) -> list[tuple[str, float, int]]:
    seconds: dict[str, list[float]] = defaultdict(list)
    for one in times:
        seconds[one[column]].append(one[3])
    return sorted(((name, sum(of), len(of)) for name, of in seconds.items()), key=lambda total: -total[1])


def _kind(item: pytest.Item, own: float, others: float) -> str:
    if any("browser" in name or "chromium" in name for name in getattr(item, "fixturenames", ())):
        return "browser"
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        return "drawn"
    return "processes" if others > SHARE_OF_OTHERS * (own + others) else "plain"


def _seconds() -> tuple[float, float]:
    """Processor seconds of this process, and of those that it has started, ended or not."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system + sum(map(_tree_seconds, _children("self")))


def _tree_seconds(process: str) -> float:
    """Of a process, of what it has waited for, and of its living children; one that ends meanwhile counts as nothing."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / CLOCK_TICKS + sum(map(_tree_seconds, _children(process)))


def _children(process: str) -> list[str]:
    """Living children of a process; none on a system without such a list, as macOS."""
    found: list[str] = []
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += listed.read_text(encoding="ascii").split()
        except OSError:
            continue
    return found
