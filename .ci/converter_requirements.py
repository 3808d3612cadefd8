"""Prints what the converter needs, one requirement a line: pyproject's dependencies without those of the simulated device.

With `--test` also what its tests need. Run by any Python from 3.11, or by 3.10 where tomli is installed.
"""

import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

TEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis", "jsonschema", "pyflakes", "PyYAML", "openpyxl")
DEVICE_ONLY = "python_version < '3.12'"


def main() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    if "--test" in sys.argv:
        wanted += [need for need in project["optional-dependencies"]["test"] if need.split(">")[0] in TEST_TOOLS]
    print("\n".join(need for need in wanted if DEVICE_ONLY not in need))


main()
