"""What `predict` and `profile` do: run the script in a process of its own, or read profiles, and show the document."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tf2npu.config import ConfigError
from tf2npu.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from tf2npu.files.directory import Directory
from tf2npu.files.draft import put_whole
from tf2npu.files.temporary import temporary_folder
from tf2npu.prediction import as_text, comparison, document
from tf2npu.prediction.document import Advice, Document, NotAPrediction, Task
from tf2npu.prediction.output import ForeignPage, check_folder, put_pages
from tf2npu.prediction.texts import texts
from tf2npu.prediction_request import PREDICT_VARIABLE, PredictionRequest, chips_named
from tf2npu.profiles.reader import NoProfile, read_profile
from tf2npu.project.request import UsageProblem
from tf2npu.ranks.process import AS_COMMAND
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.as_text import show
from tf2npu.report.visible import visible
from tf2npu.session_options import of_text
from tf2npu.temporary_conversion import TemporaryConversion, convert_for_run, is_migrated

STDOUT = Path("-")
_STDERR = 2
"""The descriptor that a script's own output goes to: stdout has the prediction alone."""
_FAILED = 1
"""Exit code where a script ended before anything could be predicted, and said itself that all went well."""


@dataclass(frozen=True)
class Place:
    """Where a document goes.  json: a file, - for stdout instead of the text.  report: a folder for pages."""

    json: Path | None
    report: Path | None
    language: str


def predict(words: Sequence[str], *, soc: str, devices: int, place: Place, precision: str | None, **asked) -> int:
    """`tf2npu predict`; returns the exit code.

    words: the script and its arguments.  asked: further fields of the request, as PredictionRequest has them.
    """
    if not words:
        raise RefusedRequest("name a SCRIPT")
    script = Path(words[0])
    if not script.is_file():
        raise RefusedRequest(f"{script}: no such file")
    _check_place(place)
    _check_precision(precision)
    with temporary_folder() as folder:
        out = folder / "prediction.json"
        request = PredictionRequest(str(out), _chips(soc), precision=precision, **asked)
        converted = _converted(script, folder)
        started = [str(converted.script) if converted else str(script), *words[1:]]
        code = _run(started, request, devices, converted)
        made = _document(out, script, code, request.steps)
    if made is None:
        return code or _FAILED
    _name_places(made, converted.users_place if converted else lambda place: place)
    made.subject = made.subject or str(script)
    _show(made, place)
    return 0


def profile(paths: Sequence[Path], compared: tuple[Path, Path] | None, place: Place) -> int:
    """`tf2npu profile`; returns the exit code."""
    if bool(paths) == bool(compared):
        raise RefusedRequest("name a PROF_* folder, or two with --compare A B")
    _check_place(place)
    try:
        documents = [read_profile(path) for path in (compared or paths)]
    except NoProfile as error:
        raise RefusedRequest(str(error)) from None
    if compared:
        _show_comparison(comparison.compare(*documents), place)
    else:
        _show(_together(documents), place)
    return 0


def _together(documents: Sequence[Document]) -> Document:
    """One document of all profiles, each of which is told by its folder where there are several."""
    if len(documents) == 1:
        return documents[0]
    found = []
    for one in documents:
        for step in one.steps:
            step.soc = f"{step.soc}, {one.subject}" if step.soc else one.subject
            found.append(step)
    return document.of_steps(found, "profile", ", ".join(one.subject for one in documents))


def _chips(soc: str) -> tuple[str, ...]:
    """The chips that --soc names.  Raises: RefusedRequest."""
    from tf2npu.doctor import why_not_run

    reason = why_not_run()
    if reason:
        raise RefusedRequest(reason)
    try:
        return chips_named(soc, importlib.import_module("npu_runtime.device.chip").chip_names())
    except ValueError as error:
        raise RefusedRequest(f"--soc {soc}: {error}") from None


def _check_precision(precision: str | None) -> None:
    try:
        of_text("precision_mode", precision or "")
    except ValueError as error:
        raise RefusedRequest(f"--precision {precision}: {error}") from None


def _converted(script: Path, folder: Path) -> TemporaryConversion | None:
    """The conversion of a script that is not migrated yet; None for one that is."""
    try:
        if is_migrated(script):
            return None
        converted = convert_for_run(script, folder)
    except (UsageProblem, ConfigError) as error:
        raise RefusedRequest(str(error)) from None
    click.echo(f"tf2npu predict: {visible(converted.summary())}", err=True)
    return converted


def _run(words: list[str], request: PredictionRequest, devices: int, converted: TemporaryConversion | None) -> int:
    """Run the script as `tf2npu run` does, in a process of its own; its exit code, as a shell has it.

    So it cannot leave modules or settings behind here, the temporary files go whatever becomes of it, and what it imports
    cannot take the place of what shows the prediction.
    """
    options = ["--soc", request.socs[0], "--devices", str(devices)]
    if request.precision:
        options += ["--option", f"precision_mode={request.precision}"]
    command = [sys.executable, "-c", AS_COMMAND, str(os.getpid()), "run", *options, "--", *words]
    environment = _environment(request, os.environ, converted)
    code = subprocess.run(command, env=environment, stdout=_STDERR, check=False).returncode
    return code if code >= 0 else 128 - code


def _environment(
    request: PredictionRequest, inherited: Mapping[str, str], converted: TemporaryConversion | None
) -> dict[str, str]:
    environment = {**inherited, PREDICT_VARIABLE: request.as_json()}
    if converted and environment.get("PYTHONPATH"):
        environment["PYTHONPATH"] = converted.search_path(environment["PYTHONPATH"])
    return environment


def _document(out: Path, script: Path, code: int, steps: int) -> Document | None:
    """What the device wrote; None, after saying so, where the script ended before it did."""
    if not out.exists():
        reason = f"ended with exit code {code} before {steps} steps of its training graph ran on the device: no prediction"
        click.echo(f"tf2npu predict: {visible(str(script))} {reason}", err=True)
        return None
    try:
        made = document.load(read_at_most(out, MOST_REPORT_BYTES))
    except (OSError, NotAPrediction) as error:
        raise RefusedRequest(f"the prediction of {script} cannot be read: {error}") from None
    if code:
        click.echo(f"tf2npu predict: {visible(str(script))} ended with exit code {code} after it was predicted", err=True)
    return made


def _name_places(made: Document, users_place: Callable[[str], str]) -> None:
    """Name the lines of the user's own files instead of those of the copy that ran."""
    known: dict[str, str] = {}
    for step in (made, *made.chips):
        items: list[Task | Advice] = [*step.tasks, *step.advice]
        for item in items:
            if item.source not in known:
                known[item.source] = users_place(item.source)
            item.source = known[item.source]


def _check_place(place: Place) -> None:
    """Refuse what could not be written, before a script runs for it."""
    if place.report is not None:
        try:
            check_folder(place.report)
        except ForeignPage as error:
            raise RefusedRequest(str(error)) from None
    if place.json not in (None, STDOUT) and not place.json.absolute().parent.is_dir():
        raise RefusedRequest(f"--json {place.json}: there is no folder {place.json.parent}")


def _show(made: Document, place: Place) -> None:
    """The text or JSON on stdout, the files where they were asked for."""
    t = texts(place.language)
    if place.json != STDOUT:
        show(as_text.full(made, t), sys.stdout)
    _put_json(document.pieces(made), place)
    if place.report is not None:
        from tf2npu.prediction import page  # Jinja costs a tenth of a second to import

        _put_report(page.pages(made, t), place.report)


def _show_comparison(found: comparison.Comparison, place: Place) -> None:
    t = texts(place.language)
    if place.json != STDOUT:
        show(comparison.lines(found, t), sys.stdout)
    _put_json([json.dumps(comparison.as_document(found), indent=1), "\n"], place)
    if place.report is not None:
        from tf2npu.prediction import page

        _put_report(iter([page.comparison_page(found, t)]), place.report)


def _put_json(pieces: Iterable[str], place: Place) -> None:
    if place.json == STDOUT:
        for piece in pieces:
            click.echo(piece, nl=False)
    elif place.json is not None:
        try:
            with Directory.given(place.json.parent) as folder:
                put_whole(folder, place.json.name, pieces)
        except OSError as error:
            raise RefusedRequest(f"--json {place.json}: cannot be written: {error.strerror or error}") from None


def _put_report(pages: Iterator[tuple[str, str]], folder: Path) -> None:
    try:
        first = put_pages(pages, folder)
    except (OSError, ForeignPage) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise RefusedRequest(f"{folder}: the report cannot be written: {reason}") from None
    click.echo(f"report: {visible(str(folder / first))}", err=True)
