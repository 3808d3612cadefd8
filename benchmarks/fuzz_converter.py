"""The converter on programs nobody would write: of a grammar, of rules' examples elsewhere, of parts that need what a fix takes
out, real code with edits.

    python -m benchmarks.fuzz_converter --programs 20000 --seed 1 [--first N] [--corpora DIR ...] [--details FILE]

Program number i of a seed is always the same one. Two processes with different hash seeds share the work; both convert every
tenth program, and must come to the same.  Exit codes: 0 everything holds, 1 a property is violated (the smallest program that
violates it is printed).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from benchmarks.fuzzing import checks, examples, grammar, mutations, removals, shrinking
from tf2npu.config import Config

_CHUNK = 50
_EVERY = 10  # each tenth program is converted by both processes


@dataclass
class Tally:
    """Counts of a part of the programs. failures: number of the program, property, what was seen."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    digests: dict[int, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _corpus(folders: tuple[Path, ...]) -> mutations.Corpus:
    return mutations.Corpus(list(folders))


def program(seed: int, number: int, folders: tuple[Path, ...]) -> tuple[str, bytes, Config]:
    """The origin of a program, its bytes and the configuration that it is converted with."""
    rng = random.Random(f"{seed}:{number}")
    config = checks.settings(rng)
    corpus = _corpus(folders) if folders else None
    if corpus is not None and corpus.paths and rng.random() < 0.5:
        return "corpora", mutations.mutated(rng, corpus.excerpt(rng)), config
    if rng.random() < 0.15:
        return "removals", removals.program(rng), config
    if rng.random() < 0.25:
        return "examples", examples.program(rng), config
    data = grammar.program(rng)
    if rng.random() < 0.3:
        return "grammar, edited", mutations.mutated(rng, data.decode("latin-1")), config
    return "grammar", data, config


def try_programs(seed: int, numbers: range, folders: tuple[Path, ...], digests_only: bool) -> Tally:
    """Convert programs and look at what comes out; with `digests_only` nothing but that."""
    tally = Tally()
    for number in numbers:
        if digests_only and number % _EVERY:
            continue
        source, data, config = program(seed, number, folders)
        looked = checks.look(data, config)
        if number % _EVERY == 0:
            tally.digests[number] = looked.digest
        if digests_only:
            continue
        tally.counts["source", source] += 1
        tally.counts["mode", checks.mode_of(config)] += 1
        tally.counts["status", looked.status if looked.is_python else f"not Python 3: {looked.status}"] += 1
        if looked.is_python and looked.refusal:
            tally.counts["refused", looked.refusal[:110]] += 1
        tally.failures += [(number, kind, seen) for kind, seen in looked.violations]
    return tally


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    started, folders = time.monotonic(), tuple(options.corpora)
    total = Tally()
    for tally in _shared(options, folders):
        total.counts += tally.counts
        total.failures += tally.failures
    _print(total, options, time.monotonic() - started)
    if options.details is not None:
        _write_details(options.details, options.seed, folders, total)
    if total.failures:
        _print_smallest(total, options.seed, folders)
    return int(bool(total.failures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz_converter", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpora", type=Path, nargs="*", default=[], metavar="DIR", help="folders with real code to edit")
    parser.add_argument("--details", type=Path, metavar="DIR", help="where every program that fails is written")
    return parser


def _shared(options: argparse.Namespace, folders: tuple[Path, ...]) -> Iterator[Tally]:
    """Results of both processes, part by part; a digest that differs becomes a failure."""
    pools = [_process(hash_seed) for hash_seed in (1, 2)]
    first, last = options.first, options.first + options.programs
    chunks = [range(at, min(at + _CHUNK, last)) for at in range(first, last, _CHUNK)]
    work = [pools[i % 2].submit(try_programs, options.seed, chunk, folders, False) for i, chunk in enumerate(chunks)]
    again = [pools[1 - i % 2].submit(try_programs, options.seed, chunk, folders, True) for i, chunk in enumerate(chunks)]
    for one, other in zip(work, again, strict=True):
        tally = one.result()
        differing = [n for n, seen in other.result().digests.items() if tally.digests[n] != seen]
        tally.failures += [(number, "deterministic", "two processes come to different results") for number in differing]
        yield tally
    for pool in pools:
        pool.shutdown()


def _process(hash_seed: int) -> ProcessPoolExecutor:
    os.environ["PYTHONHASHSEED"] = str(hash_seed)
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    pool.submit(int).result()  # starts the process, which reads the variable
    return pool


def _print(total: Tally, options: argparse.Namespace, seconds: float) -> None:
    print(f"{options.programs} programs of seed {options.seed} from number {options.first}, {seconds:.0f} s")
    for kind in ("source", "mode", "status", "refused"):
        rows = sorted((name, n) for (of, name), n in total.counts.items() if of == kind)
        print(f"{kind}:", *(f"\n  {n:7} {name}" for name, n in rows), sep="")
    failed = Counter(kind for _, kind, _ in total.failures)
    print("violations:", *(f"\n  {failed[kind]:7} {kind}" for kind in checks.PROPERTIES), sep="")


def _write_details(folder: Path, seed: int, folders: tuple[Path, ...], total: Tally) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "failures.txt", "a", encoding="utf-8", errors="backslashreplace") as listed:
        for number, kind, seen in total.failures:
            _, data, config = program(seed, number, folders)
            (folder / f"{seed}-{number}.txt").write_bytes(data)
            listed.write(f"{seed}-{number}\t{kind}\t{checks.mode_of(config)}\t{seen}\n")


def _print_smallest(total: Tally, seed: int, folders: tuple[Path, ...]) -> None:
    """For each property the shortest program that violates it, made shorter."""
    for kind in checks.PROPERTIES:
        numbers = [number for number, failed, _ in total.failures if failed == kind]
        if not numbers:
            continue
        number = min(numbers, key=lambda n: len(program(seed, n, folders)[1]))
        _, data, config = program(seed, number, folders)
        small = shrinking.shrunk(data, partial(_still_fails, config=config, kind=kind))
        print(f"\n{kind}: program {number}, {checks.mode_of(config)}, {config.import_style} imports; made smaller:\n{small!r}")
        print(small.decode("utf-8", "backslashreplace"))


def _still_fails(data: bytes, config: Config, kind: str) -> bool:
    return any(kind == found for found, _ in checks.look(data, config).violations)


if __name__ == "__main__":
    sys.exit(main())
