"""The figures of the trials as text."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.acceptance.trial import Trial

_KINDS = (
    ("crashes", "crash"), ("unparsable", "unpars."), ("undefined", "undef."), ("undefined_by_star", "undef.*"),
    ("comments_lost", "comments"), ("outside", "outside"), ("second_pass", "2nd pass"), ("lone_imports", "imports"),
    ("modes", "modes"),
)  # fmt: skip
_HEAD = f"{'corpus':18}{'files':>7}{'lines':>10}{'s':>8}{'lines/s':>9}{'changed':>8}" + "".join(f"{h:>9}" for _, h in _KINDS)
_COSTS = f"{'corpus':18}{'again s':>8}{'peak MB':>9}{'cpu s':>8}{'bare s':>8}{'ratio':>7}"


def render(trials: list[Trial]) -> str:
    """Properties, a total, then costs. `undef.*`: undefined names in files with star imports; `again`: the cached second run."""
    lines = ["", _HEAD, *(line(trial) for trial in trials), _total(trials), "", _COSTS, *(_cost(trial) for trial in trials)]
    return "\n".join(lines)


def line(trial: Trial) -> str:
    """The properties of one corpus."""
    seconds = trial.first.seconds if trial.first else 0.0
    counts = [len(trial.violations.get(kind, ())) for kind, _ in _KINDS]
    return _row(trial.name, trial.n_files, trial.n_lines, seconds, trial.n_changed, counts)


def _total(trials: list[Trial]) -> str:
    counts = [sum(len(trial.violations.get(kind, ())) for trial in trials) for kind, _ in _KINDS]
    seconds = sum(trial.first.seconds for trial in trials if trial.first)
    sums = (sum(getattr(trial, name) for trial in trials) for name in ("n_files", "n_lines", "n_changed"))
    n_files, n_lines, n_changed = sums
    return _row("total", n_files, n_lines, seconds, n_changed, counts)


def _row(name: str, n_files: int, n_lines: int, seconds: float, n_changed: int, counts: Iterable[int]) -> str:
    rate = n_lines / seconds if seconds else 0.0
    return f"{name:18}{n_files:7}{n_lines:10}{seconds:8.1f}{rate:9.0f}{n_changed:8}" + "".join(f"{n:9}" for n in counts)


def _cost(trial: Trial) -> str:
    again = trial.again.seconds if trial.again else 0.0
    peak = trial.first.peak_bytes / 1e6 if trial.first else 0.0
    if trial.alone is None or trial.bare is None:
        return f"{trial.name:18}{again:8.1f}{peak:9.0f}"
    alone, bare = trial.alone.cpu_seconds, trial.bare.cpu_seconds
    return f"{trial.name:18}{again:8.1f}{peak:9.0f}{alone:8.1f}{bare:8.1f}{alone / bare if bare else 0:7.2f}"
