"""The vendor's comparison program: where it comes from, and how it is run without the CANN library that it asks for.

The program is msprobe/msaccucmp of the PyPI wheel mindstudio-probe 26.2.0, which is downloaded and unpacked, with what it needs
in an environment of its own.  The CANN library turns the header of a dump file into JSON; the protobuf library does the same.
Sums in float32 have the rounding of the numpy that is used, so the program gets the version that is here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

NOT_BROUGHT = 77
"""Exit code that says that something to check against is missing."""
WHEEL = "mindstudio-probe==26.2.0"
NEEDED = (f"numpy=={np.__version__}", "protobuf", "psutil", "pandas", "ml_dtypes")
"""Packages that the program imports. Its wheel asks for much more, which comparing does not need."""
ROOT = Path(__file__).parent.parent
_PREPARED = """
import inspect, json, os, sys
from google.protobuf import json_format
from npu_formats.vendor.dump_messages import DumpData
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
"""
_MAIN = """
sys.argv = ["msaccucmp.py", *sys.argv[2:]]
import msaccucmp
msaccucmp.main()
"""
_READER = """
answers, sys.stdout = sys.stdout, sys.stderr
from cmp_utils.constant.compare_error import CompareError
from dump_parse.dump import DumpInfo
from dump_parse.dump_utils import parse_dump_file

def read(folder):
    info, faults = DumpInfo(folder, 2), {}
    try:
        info.check_arguments_valid()
    except CompareError:
        pass  # it holds no dump file
    files = [path for paths in info.op_name_to_file_map.values() for path in paths]
    for path in files:
        try:
            found = parse_dump_file(path, 2)
            for tensor in (*found.input_data, *found.output_data):
                tensor.data.reshape(tensor.shape)
        except Exception as error:
            faults[path] = f"{type(error).__name__}: {error}"
    return {"files": files, "faults": faults}

for line in sys.stdin:
    print(json.dumps([read(folder) for folder in json.loads(line)]), file=answers, flush=True)
"""


class Absent(Exception):
    """The program is not to be had; the text says why."""


@dataclass(frozen=True)
class VendorProgram:
    """package: the unpacked wheel, a folder with `msprobe/msaccucmp`.  python: has what it needs."""

    package: Path
    python: str

    def command(self, *words: str | Path) -> list[str]:
        """The command line of a subcommand."""
        return [*self._started(_MAIN), *map(str, words)]

    def _started(self, program: str) -> list[str]:
        return [self.python, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{_PREPARED}{program}", str(self.package)]

    def reader(self) -> Reader:
        """A process that reads folders of dump files."""
        return Reader(self._started(_READER))


class Reader:
    """The program's own search for dump files, and its parser, in a process that stays."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def read(self, folders: Sequence[Path]) -> tuple[set[Path], dict[str, str]]:
        """The files that it takes for dump files, and what it has against some, by path."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps([str(folder) for folder in folders]), file=self._process.stdin, flush=True)
        found = json.loads(self._process.stdout.readline())
        faults = {path: why for each in found for path, why in each["faults"].items()}
        return {Path(path) for each in found for path in each["files"]}, faults

    def close(self) -> None:
        self._process.communicate()


def add_options(parser: argparse.ArgumentParser) -> None:
    """--package and --python, for who has the program already."""
    parser.add_argument("--package", type=Path, metavar="DIR", help="the unpacked wheel; else it is downloaded")
    parser.add_argument("--python", default=sys.executable, metavar="PYTHON", help="with --package: has what it needs")


def brought(given: argparse.Namespace, folder: Path) -> VendorProgram:
    """The program that the options name; else it is downloaded into a folder.  Raises: Absent."""
    if given.package:
        return VendorProgram(given.package.resolve(), given.python)
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    for words in (["download", "--no-deps", "-d", str(folder), WHEEL], ["install", *NEEDED]):
        done = subprocess.run([python, "-m", "pip", "--quiet", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Absent(f"{WHEEL} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder / "package")
    return VendorProgram(folder / "package", python)
