"""What this tool wrote into an output folder: the record that tells our files from a person's.

`OUT/.tf2npu/manifest.json` maps each path to a signature: "sha256:HEX" of a file, "link:TARGET", or "folder". While a
conversion runs, every signature is first appended to a journal beside it, so that after a kill at any moment the next
run still knows which files are its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from tf2npu.project.walk import STATE_FOLDER

FOLDER = "folder"


def signature_of_bytes(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def signature_of_link(target: str) -> str:
    return "link:" + target


def signature_of(path: Path) -> str | None:
    """Signature of what stands at `path` itself (links are not followed); None where nothing does."""
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(info.st_mode):
        return signature_of_link(os.readlink(path))
    if stat.S_ISDIR(info.st_mode):
        return FOLDER
    if not stat.S_ISREG(info.st_mode):
        return "special"
    with open(path, "rb") as stream:
        return _signature_of_stream(stream)


def _signature_of_stream(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := stream.read(1 << 20):
        digest.update(block)
    return "sha256:" + digest.hexdigest()


class Manifest:
    """The signatures this tool left in an output folder."""

    def __init__(self, out: Path, *, adding: bool = False) -> None:
        """adding: keep every entry that this run does not touch (single-file conversions share a folder)."""
        self.folder = out / STATE_FOLDER
        self.file = self.folder / "manifest.json"
        self.journal = self.folder / "journal"
        self.scratch = self.folder / "scratch"
        self.recorded: dict[str, str] = {}
        self._accepted: dict[str, set[str]] = {}
        self._load()
        if adding:
            self.recorded.update(self._before)

    def accepts(self, path: str, signature: str) -> bool:
        """Whether `signature` at `path` is something this tool wrote there."""
        return signature in self._accepted.get(path, ())

    def knows(self, path: str) -> bool:
        return path in self._accepted

    def known(self) -> list[str]:
        return sorted(self._accepted)

    def open(self) -> None:
        """Make the output folder ours and clear what a killed run left behind."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        self._stream = self.journal.open("a", encoding="utf-8")

    def announce(self, path: str, signature: str) -> None:
        """Write down what is about to be put at `path`, before it is."""
        self._stream.write(json.dumps([path, signature]) + "\n")
        self._stream.flush()
        self.keep(path, signature)

    def keep(self, path: str, signature: str) -> None:
        """Record that `signature` stands at `path` as ours."""
        self.recorded[path] = signature
        self._accepted.setdefault(path, set()).add(signature)

    def keep_known(self, path: str) -> None:
        """Carry over an entry whose file is not ours at the moment, so that a later run still sees the difference."""
        if path in self._before:
            self.recorded[path] = self._before[path]

    def take_back(self, path: str) -> None:
        """Undo `announce` for an entry that could not be put in place."""
        self.recorded.pop(path, None)
        self.keep_known(path)

    def drop(self, path: str) -> None:
        self.recorded.pop(path, None)

    def close(self) -> None:
        """Store the record and end the journal."""
        text = json.dumps({"tool": "tf2npu", "version": 1, "files": dict(sorted(self.recorded.items()))}, indent=1)
        draft = self.scratch / "manifest.json"
        draft.write_text(text + "\n", encoding="utf-8")
        os.replace(draft, self.file)
        self._stream.close()
        self.journal.unlink()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _load(self) -> None:
        self._before: dict[str, str] = {}
        for path, signature in [*self._read_file(), *self._read_journal()]:
            if _is_inside(path):
                self._before[path] = signature
                self._accepted.setdefault(path, set()).add(signature)

    def _read_file(self) -> list[tuple[str, str]]:
        try:
            files = json.loads(self.file.read_text(encoding="utf-8"))["files"]
            return [(str(path), str(signature)) for path, signature in files.items()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []  # no manifest, or not one of ours: nothing in OUT counts as written by us

    def _read_journal(self) -> list[tuple[str, str]]:
        try:
            lines = self.journal.read_text(encoding="utf-8").split("\n")
        except OSError:
            return []
        entries = []
        for line in lines[:-1]:  # a kill can cut the last line; its file was not written yet
            try:
                path, signature = json.loads(line)
            except ValueError:
                continue
            entries.append((str(path), str(signature)))
        return entries


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts
