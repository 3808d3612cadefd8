"""Figures that tests record with `record_property("figure", line)` are printed after the run, workers' too.

Golden tests rewrite their files with `--regen`.
"""

from __future__ import annotations

import os
import unittest

import pytest
from hypothesis import HealthCheck, settings

from tests.how_many import check_names, chosen, drawn
from tests.needs import onednn_environment, why_no_root

# TensorFlow's kernels are those of oneDNN on every processor.
for variable, value in onednn_environment().items():
    os.environ.setdefault(variable, value)

# Nothing depends on when a loop is ready; tests of compiled loops ask for them (tests/kernels/test_native_*.py).
os.environ.setdefault("TF2NPU_NATIVE", "off")

# A busy machine is no defect: no test fails because an example took long to draw or to run.
settings.register_profile("patient", deadline=None, max_examples=drawn(100), suppress_health_check=[HealthCheck.too_slow])
# The same examples in every run of the continuous integration; a developer's runs go on looking for new ones.
settings.register_profile("ci", settings.get_profile("patient"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "patient")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A Chromium for the tests of a worker; each page that is opened is a new one."""
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
    """Leaves out what `make whole` runs, and counts it among what was not selected; the longest come first."""
    if not any("::" in word for word in config.args):
        check_names(items)
    run, left_out = chosen(items)
    items[:] = sorted(run, key=lambda item: item.get_closest_marker("longest") is None)
    config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter):
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    lines = sorted({str(value) for report in reports for name, value in getattr(report, "user_properties", [])
                    if name == "figure"})  # fmt: skip
    if lines:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(lines))
