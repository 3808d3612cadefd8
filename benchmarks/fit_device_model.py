"""Fits the numbers of the cost model that no source gives to published step and kernel times.

    python -m benchmarks.fit_device_model            every target with its prediction; two minutes
    python -m benchmarks.fit_device_model --write    ... and the numbers into npu_runtime/cost/fitted.toml

The least sum of fourth powers of the logarithms of predicted over published times, each in units of the error that its kind is
held to: every target has to stay within its limit, and squares would let one go for the others' sake.  Every step is also
predicted by numbers that are fitted without it, and targets of the kind "check" are only predicted.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

import click
from scipy.optimize import least_squares

from benchmarks.published_works import Works, load_works
from npu_formats.device.chip import load_chip
from npu_runtime.cost.core_task import CoreWork, core_cost, core_tiling
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.host import issue_cost
from npu_runtime.cost.tiling import Product, Tiling

ROOT = Path(__file__).parent.parent
PUBLISHED = ROOT / "tests/fixtures/published_times.csv"
FITTED = ROOT / "npu_runtime/cost/fitted.toml"
STEP, KERNEL, PEAK, ISSUED, CHECK = "step", "kernel", "peak", "issued", "check"
"""Kinds of targets: a training step, one task, the rate of a large product, one task with what the host does to issue it, and a
step or task that nothing is fitted to."""
TOLERANCES = {STEP: 0.15, KERNEL: 0.25, PEAK: 0.05, ISSUED: 0.25}
"""Errors that each kind is held to by tests/cost/test_published_times.py, and what logarithms are divided by."""
BOUNDS = {
    "start_us": (1.0, 30.0), "hbm_share": (0.2, 1.0), "burst_share": (0.05, 1.0), "int8_share": (0.3, 1.0),
    "depthwise_share": (0.002, 1.0), "issue_us": (1.0, 30.0),
}  # fmt: skip
"""Bounds of the fit: a share is at most one, and the smallest published task, 18.75 us, is longer than each of its parts."""
ROUNDS = 3
"""Times that tilings are chosen anew for the numbers found: the third changes nothing."""
DIGITS = 4
"""Digits that are kept: more would promise an accuracy that the published figures do not have."""
HEADING = """\
# The fitted numbers of the cost model; npu_runtime/cost/fitted.py says what each means.
# `python -m benchmarks.fit_device_model --write` makes this file.
"""


@dataclass(frozen=True)
class Target:
    """A row of published_times.csv.  workload: a network, "MxKxN dtype format", or "N bytes" that are set."""

    id: str
    workload: str
    chip: str
    batch: int
    value: float
    unit: str
    kind: str

    @property
    def product(self) -> Product:
        """The product of a kernel.  Its operands are read whole from memory."""
        shape, dtype, layout = self.workload.split()
        m, k, n = map(int, shape.split("x"))
        size = 1 if dtype == "int8" else 2
        flops = 2.0 * m * k * n
        return Product(m, n, k, 1, dtype, size, float(m * k * size), float(k * n * size), layout == "rows", False, flops)

    @property
    def us(self) -> float:
        """The published time in microseconds."""
        amounts = {"us": lambda: self.value, "ms": lambda: self.value * 1e3, "GB/s of weights": self._weights_us,
                   "TFLOPS": lambda: self.product.flops / self.value / 1e6}  # fmt: skip
        return amounts[self.unit]() if self.unit in amounts else self.batch / self.value * 1e6

    def _weights_us(self) -> float:
        return self.product.b_bytes / self.value / 1e3

    def counts(self, works: Works) -> Mapping[CoreWork, int]:
        """The number of times that each work is done."""
        if f"{self.workload} {self.batch}" in works:
            return works[f"{self.workload} {self.batch}"]
        if self.kind == ISSUED:
            return {CoreWork(None, 0.0, float(self.workload.split()[0]), 0.0): 1}
        return {CoreWork(self.product, 0.0, 0.0, 0.0): 1}


def read_targets() -> list[Target]:
    with PUBLISHED.open(encoding="utf-8", newline="") as rows:
        return [Target(**{**row, "batch": int(row["batch"]), "value": float(row["value"])}) for row in csv.DictReader(rows)]


class Model:
    """The cost model over all targets.  tilings: held while numbers are fitted, chosen by the default rule where absent."""

    def __init__(self, targets: Sequence[Target], works: Works) -> None:
        self.targets = targets
        self.counts = {target.id: target.counts(works) for target in targets}
        self.tilings: dict[tuple[CoreWork, str], Tiling | None] = {}

    def predicted_us(self, target: Target, fitted: Fitted) -> float:
        chip = load_chip(target.chip)
        counts = self.counts[target.id]
        us = sum(n * core_cost(work, chip, self.tilings.get((work, target.chip)), fitted).us for work, n in counts.items())
        return us + (issue_cost(fitted).us if target.kind == ISSUED else 0.0)

    def error(self, target: Target, fitted: Fitted) -> float:
        """Predicted over published time, less one."""
        return self.predicted_us(target, fitted) / target.us - 1.0

    def hold_tilings(self, fitted: Fitted) -> None:
        self.tilings = {
            (work, target.chip): core_tiling(work, load_chip(target.chip), fitted)
            for target in self.targets
            for work in self.counts[target.id]
        }

    def fit(self, start: Fitted) -> Fitted:
        """The numbers for all targets, from `start`; tilings are chosen anew until they suit the numbers."""
        found = start
        for _ in range(ROUNDS):
            self.hold_tilings(found)
            found = self.fit_held(found)
        self.tilings = {}
        return found

    def fit_held(self, start: Fitted, without: str = "") -> Fitted:
        """The numbers for all targets but one, with the tilings that are held."""
        targets = [target for target in self.targets if target.kind != CHECK and target.id != without]
        names = [field.name for field in fields(Fitted)]

        def residuals(logarithms: Iterable[float]) -> list[float]:
            fitted = Fitted(*map(math.exp, logarithms))
            missed = (math.log(self.predicted_us(t, fitted) / t.us) / TOLERANCES[t.kind] for t in targets)
            return [share * abs(share) for share in missed]  # which are squared once more

        low, high = ([math.log(BOUNDS[name][side]) for name in names] for side in (0, 1))
        first = [math.log(value) for value in astuple(start)]
        found = least_squares(residuals, first, bounds=(low, high), diff_step=1e-3, xtol=1e-5, ftol=1e-6)
        return Fitted(*(float(f"{math.exp(value):.{DIGITS}g}") for value in found.x))

    def left_out_errors(self, fitted: Fitted) -> dict[str, float]:
        """Of each step, predicted by the numbers that the other targets give."""
        self.hold_tilings(fitted)
        steps = [target for target in self.targets if target.kind == STEP]
        refitted = {target.id: self.fit_held(fitted, target.id) for target in steps}
        self.tilings = {}
        return {target.id: self.error(target, refitted[target.id]) for target in steps}


@click.command(help=__doc__.split("\n")[0])
@click.option("--write", is_flag=True, help="Write npu_runtime/cost/fitted.toml.")
def main(write: bool) -> None:
    model = Model(read_targets(), load_works())
    fitted = model.fit(load_fitted())
    _print_errors(model, fitted)
    text = HEADING + "".join(f"{name} = {value}\n" for name, value in asdict(fitted).items())
    click.echo("\n" + text, nl=False)
    if write:
        FITTED.write_text(text, encoding="utf-8")
        click.echo(f"wrote {FITTED.relative_to(ROOT)}; now change the table of docs/device_model.md")


def _print_errors(model: Model, fitted: Fitted) -> None:
    left_out = model.left_out_errors(fitted)
    click.echo("| id | workload | chip | batch | published | predicted | error | left out |\n|---|---|---|---|---|---|---|---|")
    for target in model.targets:
        us, alone = model.predicted_us(target, fitted), left_out.get(target.id)
        click.echo(
            f"| {target.id} | {target.workload} | {target.chip} | {target.batch} | {_time(target.us)} | {_time(us)}"
            f" | {us / target.us - 1:+.1%} | {'' if alone is None else f'{alone:+.1%}'} |"
        )


def _time(us: float) -> str:
    return f"{us:.1f} us" if us < 1000 else f"{us / 1000:.2f} ms"


if __name__ == "__main__":
    main()
