"""The made-up files of a process: which there are, what is in them, and which the script asked for in vain."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any

from npu_bridge._smoke.contents import MAKERS, Contents, arrays, form_of, lines, width_of
from npu_bridge._smoke.folder_forms import IMAGES, FolderForm, parted
from npu_bridge._smoke.line_forms import SENTENCES, LineForm
from npu_bridge._smoke.places import Places, looks_like_path

from npu_formats.documents.smoke_request import OF_IMAGES

MOST_MADE = 1_000
"""Files of a process that are made at most: a text that looks like a path is not always one."""
_BINARY = ("idx", "image", "sound", "array", "records")
"""Forms of files that are no text, though a script may open them as such."""
PICKLE = "pickle"
"""The way in which a script asks for a file whose form only the script knows, whatever its name is."""
_SETTINGS = re.compile(r"(?i)\.(?:json|ya?ml|ini|cfg|conf)$")
_MANY = ("image", "sound")
"""Forms of files of which a folder holds many."""
_FOLDERS = 12
"""Folders in a folder, one a class."""
_IN_FOLDER = 24
"""Files of a folder of which nothing is known but that it is listed."""


@dataclass(frozen=True)
class Missing:
    """A file that the script asked for and that is not there.

    how: it asked: "open", "read" for text, "exists", "list", "glob", or the form that a library reads.  lines: their form.
    asker: the file of the script that asked.  folder: the form of one that is listed, or of names that a pattern finds.
    keys: of the arrays that are taken from it.
    """

    path: str
    how: str
    lines: LineForm = SENTENCES
    asker: str = ""
    folder: FolderForm = IMAGES
    keys: tuple[str, ...] = ()


class MadeFiles:
    """places: where files are.  facts: of the script, by which files are made.  made: what was made, by path as the user has it.

    missing: in the order in which the script asked.  texts: of lines, in the order in which they were made.  lessons: on the
    form of texts, by path.
    """

    def __init__(self, places: Places, lessons: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> None:
        self.places, self._lessons = places, lessons
        self.facts = Contents(**lessons.get(OF_IMAGES, {}))
        self.texts: dict[str, Missing] = {}
        self.made: dict[str, str] = {}
        self.missing: dict[str, Missing] = {}
        self._of_records: dict[str, str] = {}
        self._folders: set[str] = set()
        self._lock = RLock()

    def ask(
        self, path: str, how: str, lines: LineForm = SENTENCES, asker: str = "", folder: FolderForm = IMAGES,
        keys: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Note what the script asked for in vain."""
        self.missing.pop(path, None)
        self.missing[path] = Missing(path, how, self.form_of(path, lines), asker, folder, keys)

    def form_of(self, path: str, form: LineForm) -> LineForm:
        """The form of a text with what earlier attempts have taught of it."""
        return form.taught(self._lessons.get(self.places.told(path), {}))

    def make(self, path: str, forms: Sequence[str]) -> str | None:
        """Make a file that is missing.  forms: that its reader may take.  Returns: where it is; None where it cannot be made."""
        with self._lock:
            form = form_of(path, forms)
            twin = self._twin(path) if form not in MAKERS else ""
            if (form not in MAKERS and not twin) or len(self.made) >= MOST_MADE:
                self.ask(path, "open")
                return None
            place = self.places.written(path)
            try:
                Path(place).parent.mkdir(parents=True, exist_ok=True)
                told = self._copy(twin, place) if twin else MAKERS[form](place, self.facts)
            except OSError:  # a file stands where its folder would be
                self.ask(path, "open")
                return None
            self.made[self.places.shown(place)] = told
            if form in ("records", "text"):
                self._of_records[place] = form
            return place

    def _twin(self, path: str) -> str:
        """The nearest file of settings of the project that has the same name; "" where there is none."""
        full, name = os.path.abspath(path), os.path.basename(path)
        if not _SETTINGS.search(name):
            return ""
        found = sorted(map(str, Path(self.places.root).rglob(name)))
        return max(found, key=lambda twin: len(os.path.commonpath((twin, full))), default="")

    def _copy(self, twin: str, place: str) -> str:
        shutil.copyfile(twin, place)
        return f"a copy of {self.places.shown(twin)}"

    def make_again(self) -> None:
        """Make the files anew whose form depends on facts of the script that were not known yet."""
        with self._lock:
            for place, form in self._of_records.items():
                if os.path.lexists(place):
                    self.made[self.places.shown(place)] = MAKERS[form](place, self.facts)

    def make_matching(self, pattern: str, forms: Sequence[str], separator: str = "") -> str | None:
        """Make files that a pattern finds.  Returns: the pattern where they are, None where none can be made."""
        place = None
        for number in range(_IN_FOLDER if form_of(pattern, forms) in _MANY else 1):
            place = self.make(matching(pattern, number, separator), forms)
        return None if place is None else self.places.written(pattern)

    def make_at_once(self, path: str) -> str | None:
        """Make what the script is about to read, where its name or its reader tells the form.  Returns: where it is.

        What only the script knows, such as a pickle, is no file of a script's own that it can do without: it gets its error.
        """
        asked = self.missing.get(path)
        if asked is None or asked.how == PICKLE:
            return None
        if asked.how == "glob":
            forms = ("records",) if asked.folder.holds_records and not os.path.splitext(path)[1] else ()
            return self.make_matching(path, forms, asked.folder.separator)
        if asked.how == "list":
            self._make_folder(path)
            self.fill(self.places.read(path), asked.folder)
            return self.places.read(path)
        if asked.keys or (asked.how == "array" and form_of(path, ["array"]) == "array"):
            place = self._make_arrays(path, asked)
        elif asked.how == "read" and form_of(path, ["lines", *_BINARY]) == "lines":
            place = self._make_lines(path, asked)
        else:
            place = self.make(path, [asked.how] if asked.how in MAKERS else [])
        if place is not None:
            self.missing.pop(path, None)
        return place

    def make_if_read(self, path: str) -> str | None:
        """The same of a path about which a reader of lines asks before it opens it; None for questions of the script's own."""
        asked = self.missing.get(path)
        return self.make_at_once(path) if asked is not None and asked.how == "read" else None

    def _make_arrays(self, path: str, asked: Missing) -> str:
        """Make rows of numbers, as wide as their name says or an attempt has taught."""
        place = self.places.written(path)
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        form = self.form_of(path, LineForm(n_columns=width_of(path), has_numbers=True, is_table=True))
        self.made[self.places.shown(place)] = arrays(place, asked.keys, form.n_columns)
        self.texts[self.places.told(path)] = replace(asked, lines=form)
        return place

    def _make_lines(self, path: str, asked: Missing) -> str:
        """Make a text of lines that have a form."""
        place = self.places.written(path)
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        self.made[self.places.shown(place)] = lines(place, asked.lines)
        self.texts[self.places.told(path)] = asked
        return place

    def make_asked(self, asked: Missing) -> None:
        """Make what an earlier attempt asked for in vain."""
        path, how = asked.path, asked.how
        if how == PICKLE:
            return
        if how == "glob":
            self.make_matching(path, ())
        elif how == "list" or (how == "exists" and not os.path.splitext(path)[1]):
            self._make_folder(path)
        elif how in MAKERS or form_of(path, ()) or self._twin(path):
            self.make(path, [how] if how in MAKERS else [])
        elif not os.path.splitext(path)[1]:
            self.make(path, ["text"])

    def _make_folder(self, path: str) -> None:
        """Make an empty folder, which is filled when it is listed."""
        place = self.places.written(path)
        Path(place).mkdir(parents=True, exist_ok=True)
        self.made[self.places.shown(place)] = "a folder"
        self._folders.add(os.path.realpath(place))

    def is_made_folder(self, path: str) -> bool:
        """Whether a folder is made up and was not filled yet."""
        return bool(self._folders) and os.path.realpath(path) in self._folders

    def fill(self, path: str, form: FolderForm) -> None:
        """Fill a made-up folder that is listed."""
        self._folders.discard(os.path.realpath(path))
        for number in range(_FOLDERS if form.holds_folders else _IN_FOLDER):
            inner = os.path.join(path, form.name(number))
            if form.holds_folders:
                self._make_folder(inner)
            else:
                self.make(inner, ())


def matching(pattern: str, number: int, separator: str = "") -> str:
    """A path that a pattern of glob finds.  separator: between the parts of a name."""
    filled = re.sub(r"\[[^\]]*\]|\?", "0", pattern).replace("**", "*")
    return re.sub(r"\{([^,}]*)[^}]*\}", r"\1", filled).replace("*", parted(number, separator))


def is_path(text: str) -> bool:
    """Whether a constant of a graph may name a file."""
    return looks_like_path(text) and " " not in text and not text.startswith(("http:", "https:"))
