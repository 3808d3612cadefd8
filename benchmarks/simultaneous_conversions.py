"""Two conversions into one folder at once: one may be refused, and no file may ever have another's content.

    python -m benchmarks.simultaneous_conversions --pairs 40

By turns the same project twice into one OUT, two projects into one OUT, two single files into one folder, one project twice in
place, and a conversion in place beside `tf2npu undo`. The second begins at a random moment of the first. Exit code 1 when a
file had a content that is nobody's, when both were refused, when a refusal was not one line with exit code 2, or when a last
run did not give what a clean run gives.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import kill_conversion as kills

N_FILES = 40
Words = tuple[str, ...]


@dataclass
class Pair:
    """Two commands, and the states of the place of which each of its files must be one."""

    name: str
    words: tuple[Words, Words]
    place: Path
    before: Path | None
    states: list[kills.State]
    last: tuple[Words, kills.State]  # what is run at the end, and what it gives


@dataclass
class Tally:
    codes: Counter[tuple[int, ...]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def pairs(folder: Path, cache: Path) -> list[Pair]:
    """The kinds of pairs."""
    one, two, out, live = (folder / name for name in ("v1", "v2", "out", "live"))
    kills.load_converter(folder)
    for version, root in ((1, one), (2, two)):
        kills.make_source(root, version, N_FILES)
    new = {root: kills.clean(root, folder / f"clean-{root.name}", "copy", cache) for root in (one, two)}
    source = kills.state_of(one)

    def into_out(root: Path, *options: str) -> Words:
        return ("convert", str(root), str(out), "--no-cache", "--data", "copy", "--format", "json", *options)

    in_place: Words = ("convert", str(live), "--in-place", "--no-cache", "--format", "json", "--report", str(folder / "report"))
    files: tuple[Words, Words] = tuple(into_out(one / name) for name in ("pkg0/m00.py", "pkg1/m01.py"))
    flat = {name.rpartition("/")[2]: new[one][name] for name in ("pkg0/m00.py", "pkg1/m01.py")}
    return [
        Pair("one project into one OUT", (into_out(one),) * 2, out, None, [new[one]], (into_out(one), new[one])),
        Pair("two projects into one OUT", (into_out(one), into_out(two)), out, None, [*new.values()], (into_out(two), new[two])),
        Pair("two files into one folder", files, out, None, [flat], (files[0], flat)),
        Pair("one project in place", (in_place,) * 2, live, one, [source, new[one]], (in_place, new[one])),
        Pair("in place and undo", (in_place, ("undo", str(live))), live, one, [source, new[one]], (("undo", str(live)), source)),
    ]


def run_pair(pair: Pair, pause: float, cache: Path, tally: Tally) -> None:
    """Both at once, then what must set everything right."""
    for place in (pair.place, kills.state_home(cache), cache.parent / "report"):
        shutil.rmtree(place, ignore_errors=True)
    if pair.before is not None:
        shutil.copytree(pair.before, pair.place, symlinks=True)
    first = kills.start(pair.words[0], cache)
    time.sleep(pause)
    second = kills.start(pair.words[1], cache)
    codes = tuple(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (first, second))
    tally.codes[codes] += 1
    found = kills.state_of(pair.place)
    torn = [name for name, content in found.items() if all(content != state.get(name) for state in pair.states)]
    tally.faults += [f"{pair.name}: {name} has a content that is nobody's" for name in torn]
    if 0 not in codes or not set(codes) <= {0, 2}:
        tally.faults.append(f"{pair.name}: exit codes {codes}")
    if pair.name.startswith("two files") and 2 in codes:
        kills.finish(pair.words[codes.index(2)], cache)
    code = kills.finish(pair.last[0], cache)
    if code or kills.state_of(pair.place) != pair.last[1]:
        tally.faults.append(f"{pair.name}: the last run differs (exit code {code})")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=40)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    chance, tally, began = random.Random(asked.seed), Tally(), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        cache = folder / "cache"
        cache.mkdir()
        kinds = pairs(folder, cache)
        for number in range(asked.pairs):
            run_pair(kinds[number % len(kinds)], chance.choice((0.0, chance.uniform(0, 0.5))), cache, tally)
    seen = ", ".join(f"{count} with {one} and {two}" for (one, two), count in sorted(tally.codes.items()))
    print(f"{asked.pairs} pairs of conversions in {time.perf_counter() - began:.0f} s, exit codes: {seen}")
    kills.end(tally.faults)


if __name__ == "__main__":
    main()
