"""Figures that tests record with `record_property("figure", line)` are printed after the run, workers' too.

Golden tests rewrite their files with `--regen`.
"""

from __future__ import annotations

import os
import unittest
from collections import defaultdict
from fnmatch import filter as filter_names
from fnmatch import fnmatch

import pytest
from hypothesis import HealthCheck, settings

from tests.how_many import IS_WHOLE, drawn
from tests.needs import onednn_environment, why_no_root

# TensorFlow's kernels are those of oneDNN on every processor.
for variable, value in onednn_environment().items():
    os.environ.setdefault(variable, value)

# A busy machine is no defect: no test fails because an example took long to draw or to run.
settings.register_profile("patient", deadline=None, max_examples=drawn(100), suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run of the continuous integration; a developer's runs go on looking for new ones.
settings.register_profile("ci", settings.get_profile("patient"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "patient")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A Chromium for the tests of a module."""
    from tests.report.browser import Browser

    driven = Browser(tmp_path_factory.mktemp("profile"))
    yield driven
    driven.close()


@pytest.fixture(autouse=True)
def own_environment():
    """Give this process its variables back behind each test, as the end of the command's own process would."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys() - {"PYTEST_CURRENT_TEST"}:
        del os.environ[name]
    for name, text in before.items():
        if name != "PYTEST_CURRENT_TEST" and os.environ.get(name) != text:
            os.environ[name] = text


@pytest.fixture
def needs_root():
    """Mounts, other users and dropped capabilities; says why the test does not run where they cannot be had."""
    if reason := why_no_root():
        raise unittest.SkipTest(reason)


def pytest_addoption(parser):
    parser.addoption("--regen", action="store_true", help="rewrite golden files that differ, then fail listing them")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out what `make whole` runs, and counts it among what was not selected."""
    if not any("::" in word for word in config.args):
        _check_names(items)
    if IS_WHOLE:
        return
    config.hook.pytest_deselected(items=[item for item in items if _is_left_out(item)])
    items[:] = [item for item in items if not _is_left_out(item)]


def _is_left_out(item):
    mark = item.get_closest_marker("whole")
    return mark is not None and not any(fnmatch(_case(item), pattern) for pattern in mark.kwargs.get("but", ()))


def _check_names(items):
    """A case that is renamed would be tested in no `make test`, and nobody would see it."""
    cases, marked = defaultdict(set), {}
    for item in items:
        function = item.nodeid.partition("[")[0]
        cases[function].add(_case(item))
        marked.update((function, mark.kwargs.get("but", ())) for mark in item.iter_markers("whole"))
    lost = [
        f"{function}: {name}" for function, names in marked.items() for name in names if not filter_names(cases[function], name)
    ]
    if lost:
        raise pytest.UsageError(f"mark.whole names cases that are not there: {', '.join(lost)}")


def _case(item):
    return item.callspec.id if hasattr(item, "callspec") else ""


def pytest_terminal_summary(terminalreporter):
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    lines = sorted({str(value) for report in reports for name, value in getattr(report, "user_properties", [])
                    if name == "figure"})  # fmt: skip
    if lines:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(lines))
