"""Names that nothing uses:   python -m tools.dead_code

vulture finds them; what is used in ways that it cannot see stands in tools/dead_code.toml, with the reason.  Uses by tests do not
count.  What the shims declare is theirs to declare, as the vendor's programs name it, but what they use counts.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from pathlib import Path

from vulture import Vulture

from npu_formats.toml_document import tomllib

ROOT = Path(__file__).parent.parent
READ = ("tf2npu", "npu_runtime", "npu_formats", "benchmarks", "tools", "docs", "setup.py")
SHIMS = ("tf2npu/adapters", "tf2npu/npu_bridge", "tf2npu/npu_device", "tf2npu/hccl")
EXCEPTIONS = Path(__file__).with_suffix(".toml")


def unused(decorators: list[str]) -> list[tuple[str, int, str, str]]:
    """File, line, kind and name of each thing that nothing uses, in order, but for what a decorator hands on."""
    found = Vulture(ignore_decorators=decorators)
    found.scavenge([str(ROOT / path) for path in READ])
    places = ((Path(item.filename).relative_to(ROOT).as_posix(), item) for item in found.get_unused_code())
    return [(path, item.first_lineno, item.typ, item.name) for path, item in places if not path.startswith(SHIMS)]


def main() -> int:
    exceptions = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    patterns = dict.fromkeys((*(f"{folder}*" for folder in exceptions["folders"]), *exceptions["names"]), False)
    lines = []
    for path, line, kind, name in unused(list(exceptions["decorators"])):
        fitting = [pattern for pattern in patterns if name == pattern or fnmatch(path, pattern)]
        patterns.update(dict.fromkeys(fitting, True))
        if not fitting:
            lines.append(
                f"{path}:{line}: unused {kind} {name}: take it out, or say in {EXCEPTIONS.name} why nothing is seen to use it"
            )
    lines += [
        f"{EXCEPTIONS.name}: {pattern} is used, or gone: take it out of the list"
        for pattern, fits in patterns.items()
        if not fits
    ]
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
