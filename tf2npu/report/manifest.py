"""The record of a report folder's files that are ours: the next report clears away by it. It is kept outside of the folder."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from npu_formats.files.draft import replacing
from npu_formats.files.state_folder import NoState, tree_state
from tf2npu.report.languages.language import LANGUAGES
from tf2npu.report.model.report import CommandPaths

log = logging.getLogger(__name__)
_FILE = "report.json"
_OURS = re.compile(r"((files|data|assets)/)?\w[\w.-]{0,200}", re.ASCII)  # names that a report gives to its files


@dataclass(frozen=True)
class Written:
    """names: of the files, relative to the folder.  digest: of what they show, "" while they are being written.

    stamp: of the files as they were written, by which one is known again that was damaged or replaced since.
    language, prefix, paths: those of the report, which report.json does not hold, for who writes it again.
    """

    names: frozenset[str] = frozenset()
    digest: str = ""
    language: str = "en"
    prefix: str = ""
    stamp: str = ""
    paths: CommandPaths = field(default_factory=CommandPaths)


def load(folder: Path) -> Written:
    """The record of what was written into the folder; an empty one where there is none, or where it is damaged."""
    try:
        state = tree_state(folder)
        if state is None:
            return Written()
        with state:
            document = json.loads(state.read(_FILE))
        names = frozenset(name for name in map(str, document["files"]) if _OURS.fullmatch(name))
        language, prefix = document.get("language", "en"), document.get("prefix", "")
        is_known = language in LANGUAGES and isinstance(prefix, str)
        language, prefix = (language, prefix) if is_known else ("en", "")
        paths = CommandPaths(**{name: str(path) for name, path in document.get("paths", {}).items()})
        return Written(names, str(document["digest"]), language, prefix, str(document.get("stamp", "")), paths)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Written()


def store(folder: Path, written: Written) -> None:
    """Remember what is written into the folder."""
    try:
        state = tree_state(folder, make=True)
        assert state is not None
        with state, replacing(state, _FILE, 0o600) as stream:
            told = {"language": written.language, "prefix": written.prefix, "paths": asdict(written.paths)}
            document = {"digest": written.digest, "stamp": written.stamp, **told, "files": sorted(written.names)}
            stream.write(json.dumps(document, indent=1).encode("ascii") + b"\n")
    except NoState as error:
        log.warning("%s; the next report into %s will ask for --force", error.strerror, folder)
