"""Banks for the commands of the tool: a request in JSON on standard input, the answer in JSON on standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from npu_runtime.observers.tuning.programs.sharing import NoBank, export, load, merge, own_banks, own_entries, rows


def serve() -> None:
    """Answer one request."""
    try:
        json.dump(answer(json.load(sys.stdin)), sys.stdout)
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell has it


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer, or the "problem" of a file or folder that is no bank.

    request: "what" is "folders" (whether the user has a place for banks), "rows" (of a path, or of the user's banks for null),
    "merge" (paths into the user's banks) or "export" (the text of one file with the user's banks).
    """
    try:
        match request["what"]:
            case "rows":
                path = request["path"]
                return {"rows": rows(own_entries() if path is None else load(Path(path)))}
            case "merge":
                return _merged([load(Path(path)) for path in request["paths"]])
            case "export":
                banks = own_entries()
                return {"text": export(banks), "socs": sorted(banks), "n_entries": sum(map(len, banks.values()))}
            case _:
                own_banks()
                return {}
    except NoBank as problem:
        return {"problem": str(problem)}


def _merged(sources: list[Any]) -> dict[str, Any]:
    done = merge(sources, own_banks(), lambda line: print(line, file=sys.stderr, flush=True))
    files = {"written": [str(path) for path in done.written], "unwritten": [str(path) for path in done.unwritten]}
    return {"added": done.added, "replaced": done.replaced, "kept": done.kept, "refused": done.refused, **files}
