"""Whether time grows faster than the work: shapes of source and of graphs at a size and at twice the size.

    python -m benchmarks.growth [--limit 1.15] [--only SHAPE ...] [--repeats 3]

Each line has the seconds at N and 2N, processor time of the process, the least of some repeats, without what an empty input
takes; the exponent is log2 of their ratio, so that 1 is linear and 2 quadratic.  Sources are converted in this process, shapes of
projects by the command.  Graphs are the first run in a session of the device, what the graph takes to be read and compiled
included; beside them stands the time of TensorFlow's first run of the same graph.  The last line names the worst; with --limit
a larger exponent makes the exit code 1.  The garbage collector waits meanwhile, as it does while the command converts and the
device compiles: a search of all objects of the process would fall into one of the two times.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

IMPORT = "import tensorflow as tf\n"


def _notebook(n: int) -> str:
    sources = ["x = 1"] * n + [f"{IMPORT}print(tf.Session())"] * (n // 8)
    cells = [{"cell_type": "code", "metadata": {}, "source": s, "outputs": [], "execution_count": None} for s in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _functions(n: int) -> str:
    return IMPORT + "".join(
        f"def f{i}(x):\n    s{i} = tf.Session()\n    return s{i}.run(tf.nn.dropout(x, 0.5))\n" for i in range(n)
    )


def _classes(n: int) -> str:
    made = "class C{}(object):\n    def start(self):\n        self.s = tf.Session()\n    def run(self):\n        self.s.run(1)\n"
    return IMPORT + "".join(made.format(i) for i in range(n))


def _fan(n: int) -> str:
    return IMPORT + "".join(f"if c:\n    a = tf.x{i}\nelse:\n    a = a\n" for i in range(n)) + "a.Session()\n"


def _dict_arguments(n: int) -> str:
    return IMPORT + "".join(f"k{i} = dict(config=None)\ntf.Session(**k{i})\n" for i in range(n))


def _config(n: int) -> str:
    return IMPORT + "c = tf.ConfigProto()\nc.gpu_options.allow_growth = True\ns = tf.Session(config=c)\n" * n


def _returns(n: int) -> str:
    """A recursive function of many returns, and a loop over what it gives."""
    body = "".join(f"    if x == {i}:\n        return walk(x + {i})\n" for i in range(n))
    return f"{IMPORT}def walk(x):\n{body}    return x\ndef go(x):\n    for y in walk(x):\n        print(y.numpy())\n"


# Source by what there is much of: the text of N of them, and an N for which 2N takes well above a third of a second. Of
# what is nested so deeply that it stays unconverted, N is so large that it does.
SOURCES: dict[str, tuple[Callable[[int], str], int]] = {
    "statements of one line": (lambda n: f"{IMPORT}{'tf.Session();' * n}\n", 2_000),
    "cells of a notebook": (_notebook, 2_000),
    "elif": (lambda n: f"{IMPORT}if 0: pass\n" + "elif tf.Session(): pass\n" * n, 2_500),
    "parentheses of 40": (lambda n: IMPORT + f"x = {'(' * 40}tf.Session(){')' * 40}\n" * n, 300),
    "terms of a sum": (lambda n: f"{IMPORT}x = {'+'.join(['tf.a'] * n)}\n", 300_000),
    "terms of an and": (lambda n: f"{IMPORT}x = {' and '.join(['tf.a'] * n)}\n", 5_000),
    "attributes of a chain": (lambda n: f"{IMPORT}x = tf{'.a' * n}\n", 800_000),
    "calls of a chain": (lambda n: f"{IMPORT}x = tf{'.a()' * n}\n", 300_000),
    "aliases of aliases": (lambda n: f"{IMPORT}a0 = tf\n" + "".join(f"a{i + 1} = a{i}\n" for i in range(n)), 4_000),
    "meanings of one name": (_fan, 1_500),
    "returns of a recursive function": (_returns, 2_000),
    "star imports": (lambda n: "from tensorflow import *\n" * n + "Session()\n", 4_000),
    "pragmas": (lambda n: IMPORT + "tf.Session()  # tf2npu: ignore\n" * n, 2_000),
    "characters of a string": (lambda n: f'{IMPORT}x = "{"tf.Session()" * n}"\n', 400_000),
    "functions": (_functions, 800),
    "classes": (_classes, 800),
    "dicts given as **name": (_dict_arguments, 1_000),
    "sessions with a config": (_config, 800),
    "datasets": (lambda n: IMPORT + "d = tf.data.Dataset.from_tensor_slices(x).map(f).batch(8)\nd = d.repeat()\n" * n, 800),
}


def _many_files(root: Path, n: int) -> None:
    for i in range(n):
        (root / f"m{i}.py").write_text(f"{IMPORT}import m{max(0, i - 1)}\nprint(tf.Session())\n")


def _many_findings(root: Path, n: int) -> None:
    (root / "main.py").write_text(IMPORT + "".join(f"x{i} = tf.contrib.foo.bar{i}(tf.py_func(f{i}))\n" for i in range(n)))


def _one_line(root: Path, n: int) -> None:
    (root / "main.py").write_text(SOURCES["statements of one line"][0](n))


def _one_notebook(root: Path, n: int) -> None:
    (root / "main.ipynb").write_text(_notebook(n))


def _ignored(root: Path, n: int) -> None:
    """Patterns of many stars against names as long as they may be."""
    (root / ".gitignore").write_text("".join(f"{'*a' * (20 + k)}*b\n" for k in range(10)))
    for i in range(n):
        (root / f"{'a' * 240}{i}.py").write_text("x = 1\n")


PROJECTS: dict[str, tuple[Callable[[Path, int], None], int]] = {
    "files": (_many_files, 400),
    "findings of a report": (_many_findings, 1_000),
    "changes of a line, told": (_one_line, 1_000),
    "cells of a notebook, told": (_one_notebook, 1_500),
    "names for .gitignore": (_ignored, 2_000),
}


def source_seconds(make: Callable[[int], str], n: int) -> float:
    """Processor time of converting a source."""
    from tf2npu.engine.convert_file import convert_source

    text, name = make(n), "x.ipynb" if make is _notebook else "x.py"
    return measured(lambda: convert_source(text, name))


def measured(work: Callable[[], Any]) -> float:
    """Processor time of some work, without the search for cycles of garbage, as the command converts."""
    gc.collect()
    gc.freeze()
    gc.disable()
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    gc.enable()
    gc.unfreeze()
    return seconds


def project_seconds(make: Callable[[Path, int], None], n: int) -> float:
    """Processor time of the command and its workers, without the system's, which writes many files now faster and now slower."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        source.mkdir()
        make(source, n)
        command = [sys.executable, "-m", "tf2npu", "convert", "src", "out", "--jobs", "1", "--no-cache"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1):
            raise click.ClickException(f"convert ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return after.ru_utime - before.ru_utime


@click.command()
@click.option("--limit", type=float, help="Exit code 1 when an exponent is above this.")
@click.option("--only", multiple=True, help="A shape by its name, instead of all.")
@click.option("--repeats", default=3, show_default=True, help="Runs of each size, of which the least counts.")
def main(limit: float | None, only: tuple[str, ...], repeats: int) -> None:
    """Print how the time of each shape grows."""
    found: dict[str, float] = {}
    for name, (make, n) in SOURCES.items():
        if not only or name in only:
            found[name] = _report("source", name, n, _both(lambda size, m=make: source_seconds(m, size), n, repeats))
    for name, (build, n) in PROJECTS.items():
        if not only or name in only:
            found[name] = _report("source", name, n, _both(lambda size, m=build: project_seconds(m, size), n, repeats))
    found.update(_graphs(only, repeats))
    if not found:
        raise click.ClickException("no such shape")
    worst = max(found, key=lambda name: found[name])
    click.echo(f"worst: {worst}, {found[worst]:.2f}")
    sys.exit(1 if limit is not None and found[worst] > limit else 0)


def _graphs(only: tuple[str, ...], repeats: int) -> dict[str, float]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from benchmarks.growing_graphs import GRAPHS, SIDES, first_run_seconds

    found: dict[str, float] = {}
    for name, (build, n) in GRAPHS.items():
        if not only or name in only:
            ours, theirs = (_both(lambda size, b=build, s=s: first_run_seconds(b, size, SIDES[s]), n, repeats) for s in SIDES)
            beside = f"  TensorFlow {theirs[1]:.2f} s, {ours[1] / theirs[1]:.2f} times"
            found[name] = _report("graph", name, n, ours, beside)
    return found


def _both(seconds: Callable[[int], float], n: int, repeats: int) -> tuple[float, float]:
    """The least seconds at a size and at twice the size, without those of an empty input."""
    fixed = min(seconds(1) for _ in range(repeats + 1))
    one, two = [min(seconds(size) for _ in range(repeats)) for size in (n, 2 * n)]
    return max(one - fixed, 1e-3), max(two - fixed, 1e-3)


def _report(kind: str, name: str, n: int, seconds: tuple[float, float], beside: str = "") -> float:
    exponent = math.log2(seconds[1] / seconds[0])
    click.echo(f"{kind} {name:26} {n:8,} {seconds[0]:6.2f} s  {2 * n:8,} {seconds[1]:6.2f} s  exponent {exponent:5.2f}{beside}")
    return exponent


if __name__ == "__main__":
    main()
