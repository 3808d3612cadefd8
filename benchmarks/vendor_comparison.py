"""`tf2npu compare` beside the vendor's program, cell by cell.

    python -m benchmarks.vendor_comparison [--package DIR --python PYTHON] [DUMP_STEP REFERENCE_STEP GRAPH.json ...]

The program is msprobe/msaccucmp of the PyPI wheel mindstudio-probe 26.2.0, which is downloaded and unpacked, with what it needs
in an environment of its own; or DIR has it unpacked and PYTHON what it needs.  Where neither is to be had, this says so and ends
with 77.  The CANN library that the program asks for, which turns the header of a dump file into JSON, is replaced by the JSON of
the protobuf library.  Compared are the sample of the tests, with npy files and as two dumps, random networks, and the folders
that are named.  Every cell of the vendor's columns has the same text, or a number within 1e-6 of it.  Sums in float32 have the
rounding of the numpy that is used, so the program gets the version that is here.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

import numpy as np

from tests.comparison.hand_made import Sample, whole

NOT_BROUGHT = 77
"""Exit code that says that something to check against is missing."""
WHEEL = "mindstudio-probe==26.2.0"
NEEDED = (f"numpy=={np.__version__}", "protobuf", "psutil", "pandas", "ml_dtypes")
"""What the program imports; its wheel asks for much more, which comparing does not need."""
TOLERANCE = 1e-6
"""Between two numbers, and relative to them: a sum of float32 in another order is that far off."""
ROOT = Path(__file__).parent.parent
_STARTER = """
import inspect, os, sys
from google.protobuf import json_format
from npu_runtime.dump.messages import DumpData
sys.path.insert(0, os.path.join(sys.argv[1], "msprobe", "msaccucmp"))
from dump_parse import big_dump_data

known = inspect.signature(json_format.MessageToDict).parameters
whole = next(name for name in known if name in ("always_print_fields_with_no_presence", "including_default_value_fields"))

def parse(self):
    with open(self.dump_file_path, "rb") as stream:
        header = DumpData.FromString(stream.read(8 + self.header_length)[8:])
    found = json_format.MessageToDict(header, preserving_proto_field_name=True, **{whole: True})
    for tensor in (tensor for side in ("input", "output", "buffer", "space") for tensor in found.get(side, [])):
        tensor.update({name: int(tensor[name]) for name in ("size", "address", "offset") if name in tensor})
    self.dump_json_data = found

big_dump_data.BigDumpDataParser._parse_dump_to_json = parse
sys.argv = ["msaccucmp.py", *sys.argv[2:]]
import msaccucmp
msaccucmp.main()
"""


class Absent(Exception):
    """The program is not to be had; the text says why."""


def command_of(package: Path, python: str, made: Sample, out: Path, reference: Path | None = None) -> list[str]:
    """The command that compares a sample with npy files, or with another dump where one is named."""
    asked = ["-m", str(made.step), "-g", str(reference or made.reference), "-out", str(out)]
    graph = [] if reference else ["-f", str(made.graph)]
    return [python, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{_STARTER}", str(package), "compare", *asked, *graph]


def bring(folder: Path) -> tuple[Path, str]:
    """The program and a Python for it.  Raises: Absent."""
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    for words in (["download", "--no-deps", "-d", str(folder), WHEEL], ["install", *NEEDED]):
        done = subprocess.run([python, "-m", "pip", "--quiet", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Absent(f"{WHEEL} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder / "package")
    return folder / "package", python


def table(folder: Path) -> list[list[str]]:
    """The one result table in a folder."""
    (path,) = folder.glob("result_*.csv")
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def differences(theirs: list[list[str]], ours: list[list[str]]) -> list[str]:
    """The vendor's cells that are not ours."""
    found = [] if len(theirs) == len(ours) else [f"{len(theirs)} rows, ours has {len(ours)}"]
    for one, other in zip(theirs, ours, strict=False):
        found += [
            f"{one[0]} {name}: {a!r}, ours {b!r}" for name, a, b in zip(theirs[0], one, other, strict=False) if not same(a, b)
        ]
    return found


def same(one: str, other: str) -> bool:
    """Whether two cells have one text, or numbers within the tolerance."""
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=TOLERANCE, abs_tol=1.01 * TOLERANCE)  # six decimals each
    except ValueError:
        return False


def compared(package: Path, python: str, made: Sample, folder: Path, reference: Path | None = None) -> list[str]:
    """What both programs say of a sample differently."""
    for name in ("theirs", "ours"):
        (folder / name).mkdir(parents=True)
    theirs = command_of(package, python, made, folder / "theirs", reference)
    own = [
        sys.executable,
        "-m",
        "tf2npu",
        "compare",
        str(made.step),
        str(reference or made.reference),
        "--out",
        str(folder / "ours"),
    ]
    for command in (theirs, [*own, *([] if reference else ["--graph", str(made.graph)])]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not list((folder / ("theirs" if command is theirs else "ours")).glob("result_*.csv")):
            raise SystemExit(f"{command[0]} wrote no table:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return differences(table(folder / "theirs"), table(folder / "ours"))


def random_network(folder: Path, seed: int) -> Sample:
    """Operators in a row with tensors of random shapes, types and errors."""
    made = Sample(folder)
    rng = np.random.default_rng(seed)
    made.operator("n0", "Data")
    for n in range(1, 60):
        shape = tuple(int(extent) for extent in rng.integers(1, 40, rng.integers(0, 4)))
        value = (rng.normal(size=shape) * 10.0 ** rng.integers(-6, 6)).astype(np.float32)
        error = rng.normal(size=shape) * np.abs(value).max(initial=0) * 10.0 ** -float(rng.integers(1, 9))
        dtype = rng.choice(["float32", "float16", "float64", "int32"])
        with np.errstate(over="ignore", invalid="ignore"):
            device = (value + error).astype(dtype)
        made.operator(f"scope/n{n}", "Add", [f"scope/n{n - 1}:0"])
        made.tensor(f"scope/n{n}", value)
        made.dump("Add", f"scope/n{n}", [], [device])
    made.write_graph()
    return made


def named(step: Path, reference: Path, graph: Path) -> Sample:
    """A sample whose folders are the user's."""
    made = Sample.__new__(Sample)
    made.__class__ = type("Named", (Sample,), {"step": step, "reference": reference, "graph": graph})
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            package, python = (given.package, given.python) if given.package else bring(folder)
        except Absent as absent:
            print(absent)
            return NOT_BROUGHT
        found = {}
        first = whole(folder / "sample")
        found["the sample of the tests"] = compared(package, python, first, folder / "a")
        found["the sample beside itself"] = compared(package, python, first, folder / "b", whole(folder / "other").step)
        for seed in range(5):
            found[f"random network {seed}"] = compared(
                package, python, random_network(folder / f"r{seed}", seed), folder / f"c{seed}"
            )
        for n in range(0, len(given.folders), 3):
            made = named(*given.folders[n : n + 3])
            found[str(made.step)] = compared(package, python, made, folder / f"d{n}")
    for what, cells in found.items():
        print(f"{what}: {len(cells)} cells differ{': ' + json.dumps(cells[:5]) if cells else ''}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
