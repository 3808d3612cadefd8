"""Damaged dump, graph and npy files through `tf2npu compare`: each is named with exit code 3, or was harmless.

    python -m benchmarks.damaged_dumps [--trials 2000] [--seed 1]

Bits are flipped, files cut, and lengths, numbers and extents set to absurd values.  Asked for: never a traceback, never another
exit code than 0, 1, 2 (a graph without its model) and 3, 3 always with the file's name, never more than 1 GB in memory.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.comparison.hand_made import Sample, whole

MOST_BYTES = 1 << 30
ABSURD = (0, 1, 0xFF, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One kind of damage."""
    if not data:
        return b"\x01"
    kind = rng.randrange(6)
    place = rng.randrange(len(data))
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if kind == 2:
        return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place + rng.randrange(9) :]
    if kind == 3:  # a length or a number of eight bytes
        return data[: place - place % 8] + struct.pack("<Q", rng.choice(ABSURD)) + data[place - place % 8 + 8 :]
    if kind == 4:  # a varint of the header, or a digit of a text
        return data[:place] + b"\xff" * rng.randrange(1, 10) + b"\x7f" + data[place + 1 :]
    digits = [n for n, byte in enumerate(data[:4096]) if 48 <= byte < 58]
    spot = rng.choice(digits) if digits else place
    return data[:spot] + str(rng.choice(ABSURD)).encode() + data[spot + 1 :]


def trials(made: Sample, rng: random.Random, n: int) -> Iterator[tuple[Path, bytes]]:
    """Files and their damaged content, a third of each kind."""
    kinds = [sorted(made.step.iterdir()), [made.graph, made.graph.with_suffix(".txt")], sorted(made.reference.iterdir())]
    for number in range(n):
        path = rng.choice(kinds[number % 3])
        yield path, damaged(path.read_bytes(), rng)


def outcome(made: Sample, path: Path, folder: Path) -> str:
    """Runs the command in this process's child.  Returns: "exit N", or what is wrong."""
    graph = path if path.parent == made.folder else made.graph
    from tf2npu import cli

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        cli.main(["compare", str(made.step), str(made.reference), "--graph", str(graph), "--out", str(folder / "out")])
    except SystemExit as end:
        return f"exit {end.code}"
    return "no exit"


def attempt(made: Sample, path: Path, content: bytes, folder: Path) -> str:
    """One trial in a process of its own.  Returns: "exit N", or what is wrong with it."""
    kept = path.read_bytes()
    path.write_bytes(content)
    try:
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_AS, (4 * MOST_BYTES, 4 * MOST_BYTES))
            result = outcome(made, path, folder)
            (folder / "result").write_text(result)
            os._exit(0)
        _, status, used = os.wait4(child, 0)
        text = (folder / "log").read_text(errors="replace")
        result = (folder / "result").read_text() if not status else f"died with {status}"
    finally:
        path.write_bytes(kept)
    if used.ru_maxrss * 1024 > MOST_BYTES:
        return f"{used.ru_maxrss >> 10} MB of memory"
    if "Traceback" in text or result not in ("exit 0", "exit 1", "exit 2", "exit 3"):
        return f"{result}: {text[-300:]}"
    if result == "exit 3" and path.name not in text:
        return f"exit 3 without the name of {path.name}: {text[-300:]}"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    import tf2npu.comparison.comparison
    import tf2npu.comparison.page  # noqa: F401  (loaded once, for all children)

    with tempfile.TemporaryDirectory() as name:
        made = whole(Path(name) / "sample")
        made.write_graph_text()
        for sub in (made.reference, made.step):
            for path in sub.iterdir():
                if path.stat().st_size > 100_000:
                    path.unlink()  # small files, many trials
        counts: Counter[str] = Counter()
        for path, content in trials(made, rng, given.trials):
            result = attempt(made, path, content, Path(name))
            counts[result if result.startswith("exit") and len(result) == 6 else "WRONG"] += 1
            if counts and result not in ("exit 0", "exit 1", "exit 2", "exit 3"):
                print(f"{path.name}: {result}")
        shutil.rmtree(made.folder)
    print(f"{given.trials} damaged files: " + ", ".join(f"{count} x {what}" for what, count in sorted(counts.items())))
    return int("WRONG" in counts)


if __name__ == "__main__":
    sys.exit(main())
