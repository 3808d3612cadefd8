"""Put a report into a folder: whole files only, and nothing of somebody else's overwritten."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from npu_formats import escape
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole, staged, sweep
from npu_formats.files.lock import exclusive
from tf2npu.report import manifest
from tf2npu.report.formats import as_json, as_text
from tf2npu.report.formats.localized import localized, localized_lines
from tf2npu.report.html.page_types import FOLDERS
from tf2npu.report.manifest import Written
from tf2npu.report.model.report import Report

FORMATS = ("html", "json", "sarif", "text", "github", "gitlab", "junit", "md", "csv", "xlsx", "one-file")
MARKER = ".tf2npu-report"  # tells a walk that a folder is a report
_MARKER_TEXT = "This folder is a report of tf2npu: conversions leave it out.\n"
PATIENCE_SECONDS = 60.0
"""Seconds to wait for another process that writes a report there. One of thousands of pages takes less, and who waits would
lose a conversion."""

_BESIDE = re.compile(r"((prediction|profile)(-\d+-\w+)?|comparison|check)\.html")
"""Pages that `predict`, `profile` and `check` put into the folder of a report. They stay when a run is put into it."""
_PACKAGE = Path(__file__).parent.parent


class ForeignFile(Exception):
    """A file that this report would overwrite was not written by tf2npu; the text names it."""


Text = Iterable[str]
"""A text piece by piece."""


def _text(report: Report) -> Text:
    return (f"{line.text}\n" for line in localized_lines(as_text.full(report), report.language))


def _sarif(report: Report) -> Text:
    from tf2npu.report.formats import as_sarif  # brings the rules with it

    return as_sarif.pieces(report)


def _annotations(kind: str) -> Callable[[Report], Text]:
    def render(report: Report) -> Text:
        from tf2npu.report.formats import as_annotations

        made = {"github": as_annotations.github, "gitlab": as_annotations.gitlab, "junit": as_annotations.junit}[kind]
        return [made(report)]

    return render


def _markdown(report: Report) -> Text:
    from tf2npu.report.formats import as_markdown

    return [as_markdown.render(report)]


def _csv(report: Report) -> Text:
    from tf2npu.report.formats import as_csv

    return as_csv.pieces(report)


# Formats that are one text, and the file it goes to; GitHub reads its own from the output of the command.
_ONE_TEXT: dict[str, tuple[str, Callable[[Report], Text]]] = {
    "json": ("report.json", as_json.pieces),
    "sarif": ("report.sarif", _sarif),
    "text": ("report.txt", _text),
    "github": ("", _annotations("github")),
    "gitlab": ("gl-code-quality-report.json", _annotations("gitlab")),
    "junit": ("junit.xml", _annotations("junit")),
    "md": ("report.md", _markdown),
    "csv": ("findings.csv", _csv),
}


_OTHERS = {"html": "index.html", "xlsx": "report.xlsx", "one-file": "report.html"}
"""Formats that are no text, and the file of each that a person opens: they need a folder."""


def is_text(chosen: str) -> bool:
    """Whether a format is one text, which a terminal or a pipe can take."""
    return chosen not in _OTHERS


def text_of(report: Report, chosen: str) -> str:
    """The report in a format that is one text; report.json is English whatever the language, and can be shown in any."""
    return "".join(_pieces(report, chosen))


def _pieces(report: Report, chosen: str) -> Text:
    return _ONE_TEXT[chosen][1](report if chosen == "json" else localized(report, report.language))


def page_to_open(formats: list[str]) -> str:
    """The file of a report that a browser shows; "" where none of the formats has one."""
    return next((_OTHERS[chosen] for chosen in formats if chosen in ("html", "one-file")), "")


def has_files(formats: list[str]) -> bool:
    """Whether any of the formats is written into the folder."""
    return bool(_first_files(formats))


def _first_files(formats: list[str]) -> list[str]:
    """The files of these formats whose names anybody could have chosen: those of pages hold a hash."""
    return [name for name in map(_first_file, formats) if name]


def _first_file(chosen: str) -> str:
    return _OTHERS.get(chosen) or _ONE_TEXT[chosen][0]


def _drafts(report: Report, chosen: str, folder: Directory, jobs: int) -> Iterator[tuple[str, str]]:
    """Write drafts of the files of a format: (name, draft), "" for a file that holds the same already."""
    if chosen == "html":
        from tf2npu.report.html import page_files  # Jinja costs a tenth of a second to import

        yield from page_files.drafts(localized(report, report.language), folder, jobs)
    elif chosen == "xlsx":
        from tf2npu.report.formats import as_xlsx

        yield _OTHERS[chosen], staged(folder, _OTHERS[chosen], as_xlsx.pieces(localized(report, report.language)))
    elif chosen == "one-file":
        from tf2npu.report.html.single_file import single_file

        yield _OTHERS[chosen], staged(folder, _OTHERS[chosen], [single_file(localized(report, report.language))])
    elif name := _first_file(chosen):
        yield name, staged(folder, name, _pieces(report, chosen))


def check(folder: Path, formats: list[str], *, force: bool = False) -> None:
    """Refuse a folder where the report would overwrite files of somebody else.

    Raises: ForeignFile.
    """
    if not os.path.lexists(folder):
        return
    try:
        with Directory.given(folder) as place:
            if not force:
                _check_names(place, formats, manifest.load(folder))
    except OSError as error:
        raise ForeignFile(f"{folder}: {error.strerror or error}; give another --report folder") from None


def is_marked(folder: Path) -> bool:
    """Whether a folder is a report, be it one that was made on another computer."""
    try:
        with Directory.followed(folder) as place:
            return _is_file(place, MARKER)
    except OSError:
        return False


def _check_names(place: Directory, formats: list[str], earlier: Written) -> None:
    ours = earlier.names | {MARKER} if earlier.names else frozenset()  # the marker is never without a report
    for name in (MARKER, *_first_files(formats)):
        if name not in ours and place.lstat(name) is not None:
            raise ForeignFile(
                f"{place.path / name}: exists and is no report of tf2npu's that is known here; move it away, "
                "or give another --report folder (convert and scan overwrite it with --force)"
            )


def write(report: Report, folder: Path, formats: list[str], *, force: bool = False, keep: bool = False, jobs: int = 1) -> None:
    """Write the report in each format and remove what an earlier one left there; with `keep` only its stale pages.

    force: also over files of somebody else.  jobs: processes that render pages.

    A report that is there already, and whole, is left as it is: rendering costs more than finding out.
    Raises: OSError; ForeignFile; Busy where another process has not written its report after a minute.
    """
    with Directory.given(folder, make=True) as place, exclusive(place, patience_seconds=PATIENCE_SECONDS):
        earlier = manifest.load(folder)
        if not force:
            _check_names(place, formats, earlier)  # a conversion may have put its files there since it was checked
        report.beside = tuple(
            sorted(name for name in earlier.names if keep and _BESIDE.fullmatch(name) and _is_file(place, name))
        )
        digest = _digest(report, formats)
        if digest != earlier.digest or earlier.stamp != _stamp(place, earlier.names):
            _write(report, place, formats, earlier, digest, keep, jobs)


def _write(report: Report, place: Directory, formats: list[str], earlier: Written, digest: str, keep: bool, jobs: int) -> None:
    """Make all files beside their places, and then move them there.

    The first takes long. So the time in which a kill could leave some files of one report and some of another is short.
    """
    of_report: dict[str, Any] = {"language": report.language, "prefix": report.prefix, "paths": report.paths}
    ours = earlier.names.union(_first_files(formats))
    manifest.store(place.path, Written(ours, **of_report))  # from here on the folder is ours, also after a kill
    _sweep(place)
    put_whole(place, MARKER, [_MARKER_TEXT])
    try:
        drafts = dict(draft for chosen in formats for draft in _drafts(report, chosen, place, jobs))
        manifest.store(place.path, Written(ours.union(drafts), **of_report))
        for name, draft in drafts.items():
            if draft:
                place.rename(draft, name)
    except BaseException:
        _sweep(place)
        raise
    kept = {name for name in earlier.names if keep and (name in report.beside or not ("html" in formats and _is_page(name)))}
    for name in sorted(earlier.names - drafts.keys() - kept):
        place.remove(name)
    kept_digest = "" if any(drafts.values()) else earlier.digest  # the same pages again: what stands beside still belongs to them
    names = frozenset(drafts.keys() | kept)
    written = Written(names, kept_digest if kept else digest, stamp=_stamp(place, names), **of_report)
    manifest.store(place.path, written)


def _sweep(place: Directory) -> None:
    """Remove the drafts that a process left which was killed, or which has failed."""
    for name in ("", *FOLDERS):
        sweep(place, name)


def _is_page(name: str) -> bool:
    """Whether a file of a report is written by the format html alone: a page, or what pages share."""
    in_folder = name.startswith(tuple(f"{folder}/" for folder in FOLDERS))
    return in_folder or (name.endswith(".html") and name != _OTHERS["one-file"])


def _is_file(place: Directory, name: str) -> bool:
    info = place.lstat(name)
    return info is not None and stat.S_ISREG(info.st_mode)


def _stamp(place: Directory, names: Iterable[str]) -> str:
    """Stands for the files, their sizes and times: of a file that was damaged, replaced or removed since it is another."""
    stamp = hashlib.sha256()
    for name in sorted({*names, MARKER}):
        info = place.lstat(name)
        if info is not None and stat.S_ISREG(info.st_mode):
            stamp.update(f"{name} {info.st_size} {info.st_mtime_ns}\n".encode())
    return stamp.hexdigest()


def _digest(report: Report, formats: list[str]) -> str:
    """Stands for everything that the files of a report depend on: its data, the formats, and the code that renders."""
    settings = repr((sorted(formats), report.prefix, report.language, report.paths, report.beside))
    digest = hashlib.sha256(settings.encode("utf-8", "surrogatepass"))
    parts = [path for part in ("report", "rules") for path in sorted((_PACKAGE / part).rglob("*"))]
    for path in (*parts, Path(escape.__file__)):
        if path.is_file() and path.parent.name != "__pycache__":  # where files come and go while other processes import
            digest.update(path.read_bytes())
    for piece in as_json.pieces(report):
        digest.update(piece.encode())
    return digest.hexdigest()
