"""Pages of docs as tests: their scripts, the changes that they ask for, and their commands with what these print."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import fork_server

FENCED = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+\.\d+")
NEAR = 0.05
"""Largest difference of a figure of training and that of a page: the last bits of another processor move it."""
REPORT = "out/tf2npu-report/report.json"


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the file that it is of or "", its text."""

    language: str
    file: str
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in its order."""
    return [Block(*found) for found in FENCED.findall(page)]


class Reader:
    """Does what a page says, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.left: list[set[str]] = []
        """Rules of what each conversion leaves to a person."""
        self.new_shapes: list[int] = []
        """Number of new shapes of each run."""

    def follow(self, block: Block) -> None:
        """Raises AssertionError where what happens is not what the page shows."""
        if block.language == "python":
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "diff" and block.file:
            self._change(self.folder / block.file, block.text)
        elif block.language == "diff":
            assert self._changed_lines("train.py") == block.text.splitlines()
        elif block.language == "console":
            for command in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                self._run(*command.split("\n", 1))

    def report(self) -> dict[str, Any]:
        """report.json of the conversion."""
        return json.loads((self.folder / REPORT).read_text(encoding="utf-8"))

    def _run(self, command: str, shown: str) -> None:
        """Runs `tf2npu WORDS...   # exit code N`; the lines shown are all that the script prints on rank 0."""
        tool, *words = shlex.split(command, comments=True)
        assert tool == "tf2npu", "pages of how-tos run nothing else"
        code = re.search(r"# exit code (\d+)$", command)
        done = fork_server.tf2npu(words, self._environment(), self.folder)
        assert done.returncode == (int(code[1]) if code else 0), done.stdout + done.stderr
        if words[0] == "convert":
            self.left.append(self._rules_left())
        if words[0] == "run":
            self.new_shapes.append(self.report()["run"]["new_shapes"])
        if shown:
            assert_near([line for line in done.stdout.splitlines() if not line.startswith("[rank ")], shown.splitlines())

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8", "TF_CPP_MIN_LOG_LEVEL": "3"}

    def _rules_left(self) -> set[str]:
        findings = [finding for file in self.report()["files"] for finding in file["findings"]]
        return {finding["rule"] for finding in findings if finding["level"] in ("manual", "unsupported")}

    def _changed_lines(self, name: str) -> list[str]:
        texts = [(self.folder / place / name).read_text(encoding="utf-8").splitlines() for place in (".", "out")]
        return [line for line in difflib.unified_diff(*texts, lineterm="", n=0) if not re.match(r"---|\+\+\+|@@", line)]

    @staticmethod
    def _change(path: Path, patch: str) -> None:
        """Lines with - are found once in the file, and those with + below them come in their place."""
        text = path.read_text(encoding="utf-8")
        pieces = re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)+)", patch, re.MULTILINE)
        assert "".join(map("".join, pieces)) == patch
        for piece in pieces:
            old, new = (re.sub(r"^.", "", lines, flags=re.MULTILINE) for lines in piece)
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def assert_near(found: list[str], shown: list[str]) -> None:
    """The same lines, but for figures, which are near."""
    assert [NUMBER.sub("N", line) for line in found] == [NUMBER.sub("N", line) for line in shown]
    figures = [[float(number) for line in lines for number in NUMBER.findall(line)] for lines in (found, shown)]
    assert all(abs(one - other) <= NEAR for one, other in zip(*figures, strict=True)), (found, shown)
