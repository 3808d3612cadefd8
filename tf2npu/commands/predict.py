"""The commands `predict` and `profile`: run the script in a process of its own, or read profiles, and show the document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from npu_formats.documents import prediction
from npu_formats.documents.prediction import Advice, Document, NotAPrediction, Task
from npu_formats.documents.prediction_request import PredictionRequest
from npu_formats.environment import TF2NPU_PREDICT
from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from npu_formats.files.directory import Directory
from npu_formats.files.draft import put_whole
from npu_formats.files.temporary import temporary_folder
from npu_formats.session_options import of_text
from tf2npu.launch.check_places import place_of_user
from tf2npu.launch.subprocess import about_steps, chips, converted_for, is_for_pytorch, orderly_end, run_script
from tf2npu.launch.temporary_conversion import TemporaryConversion
from tf2npu.prediction import as_text, comparison
from tf2npu.prediction.arguments import processes_for
from tf2npu.prediction.further_batches import add_batches
from tf2npu.prediction.output import ForeignPage, check_folder, home_of, put_pages
from tf2npu.prediction.texts import texts
from tf2npu.profiles.csv_reader import NoProfile
from tf2npu.profiles.reader import read_profile
from tf2npu.profiles.tree import profiles_in
from tf2npu.refused_request import RefusedRequest
from tf2npu.report.formats.as_text import report_line, show
from tf2npu.report.languages.language import counted
from tf2npu.runs import merge

STDOUT = Path("-")
_FAILED = 1
"""Exit code where a script ended before anything could be predicted, and said itself that all went well."""


@dataclass(frozen=True)
class Place:
    """The destination of a document.  json: a file, - for stdout instead of the text.  report: a folder for pages."""

    json: Path | None
    report: Path | None
    language: str


def predict(
    words: Sequence[str], *, soc: str, devices: tuple[int, ...], place: Place, precision: str | None, frontend: str,
    **asked,
) -> int:  # fmt: skip
    """`tf2npu predict`; returns the exit code.

    words: the script and its arguments.  devices: numbers of them.  asked: further fields of the request, as PredictionRequest
    has them.
    """
    if not words:
        raise RefusedRequest("name a SCRIPT")
    script = Path(words[0])
    if not script.is_file():
        raise RefusedRequest(f"{script}: no such file")
    _check_place(place)
    _check_precision(precision)
    is_as_it_is = frontend != "auto"
    asked_of_pytorch = not is_as_it_is and is_for_pytorch(script)
    if asked_of_pytorch:
        _check_pytorch(precision, max(devices), asked)
    with orderly_end(), temporary_folder() as folder:
        out = folder / "prediction.json"
        scaled = devices if max(devices) > 1 else ()
        socs = chips(soc, None if is_as_it_is else script)
        request = PredictionRequest(str(out), socs, precision=precision, devices=scaled, **asked)
        converted = None if asked_of_pytorch or is_as_it_is else converted_for("predict", script, folder)
        run = _Run(script, words[1:], processes_for(devices), converted, frontend)
        made, code = run.predicted(replace(request, batch=()) if asked_of_pytorch else request)
        if made is not None and asked_of_pytorch and request.batch:
            add_batches(made, request, lambda other: run.predicted(other)[0])
    if made is None:
        return code or _FAILED
    _name_places(made, converted)
    made.subject = made.subject or str(script)
    _show(made, place)
    return 0


@dataclass(frozen=True)
class _Run:
    """A script that is run for predictions.

    words: its own.  n_ranks: processes.  converted: for this run, None for as it is.  frontend: as `tf2npu run` has it.
    """

    script: Path
    words: Sequence[str]
    n_ranks: int
    converted: TemporaryConversion | None
    frontend: str

    def predicted(self, request: PredictionRequest) -> tuple[Document | None, int]:
        """The document of a request, None where the script ended before that, and the script's exit code."""
        variables = {TF2NPU_PREDICT: request.as_json()}
        options = [*_options(request, self.n_ranks), "--frontend", self.frontend]
        code = run_script(self.script, self.words, options, variables, self.converted)
        return _document(Path(request.out), self.script, code, request.steps), code


def _check_pytorch(precision: str | None, n_devices: int, asked: dict[str, Any]) -> None:
    """Refuse what means nothing for a script for PyTorch, or is not known of it.  Raises: RefusedRequest."""
    given = {"--precision": precision, "--iterations-per-loop": asked["iterations_per_loop"]}
    ways_out = {"--precision": "write torch.autocast into it", "--iterations-per-loop": "its steps are called one by one"}
    for option, value in given.items():
        if value:
            raise RefusedRequest(f"{option} does not go with a script for PyTorch: {ways_out[option]}")
    if asked["batch"] and n_devices > 1:
        raise RefusedRequest("--batch and --devices do not go together with a script for PyTorch: predict one after the other")


def profile(paths: Sequence[Path], compared: tuple[Path, Path] | None, place: Place) -> int:
    """`tf2npu profile`; returns the exit code."""
    if bool(paths) == bool(compared):
        raise RefusedRequest("name a PROF_* folder, or two with --compare A B")
    _check_place(place)
    try:
        named = [_one(path) for path in compared] if compared else [inner for path in paths for inner in profiles_in(path)]
        documents = [_read(path) for path in named]
    except (NoProfile, NotAPrediction) as error:
        raise RefusedRequest(str(error)) from None
    if compared:
        _show_comparison(comparison.compare(*documents), place)
    else:
        _show(_together(documents), place)
    return 0


def _read(path: Path) -> Document:
    """The document of a profile, or the one that a JSON file holds.  Raises: NoProfile, NotAPrediction."""
    if not path.is_file():
        return read_profile(path)
    try:
        return prediction.load(read_at_most(path, MOST_REPORT_BYTES))
    except OSError as error:
        raise NotAPrediction(f"{path}: cannot be read: {error.strerror or error}") from None
    except NotAPrediction as error:
        raise NotAPrediction(f"{path}: {error}") from None


def _one(path: Path) -> Path:
    """The one profile in a folder that is to be compared.  Raises: NoProfile."""
    found = profiles_in(path)
    if len(found) > 1:
        raise NoProfile(f"{path}: holds {len(found)} profiles: name the one to compare, such as {found[0]}")
    return found[0]


def _together(documents: Sequence[Document]) -> Document:
    """One document of all profiles, each of which is told by its folder where there are several."""
    if len(documents) == 1:
        return documents[0]
    found = []
    for one in documents:
        for step in one.steps:
            step.soc = f"{step.soc}, {one.subject}" if step.soc else one.subject
            found.append(step)
    return prediction.of_steps(found, documents[0].origin, ", ".join(one.subject for one in documents))


def _check_precision(precision: str | None) -> None:
    try:
        of_text("precision_mode", precision or "")
    except ValueError as error:
        raise RefusedRequest(f"--precision {precision}: {error}") from None


def _options(request: PredictionRequest, n_ranks: int) -> list[str]:
    """The options of `tf2npu run` for a prediction."""
    options = ["--soc", request.socs[0], "--devices", str(n_ranks)]
    return [*options, "--option", f"precision_mode={request.precision}"] if request.precision else options


def _document(out: Path, script: Path, code: int, steps: int) -> Document | None:
    """The document that the device wrote; None, after a message, where the script ended before that."""
    if not out.exists():
        before = f"before {counted(steps, 'step')} of its training graph ran on the device"
        reason = f"ended with exit code {code} {before}: no prediction"
        click.echo(f"tf2npu predict: {visible(str(script))} {reason}{about_steps(script)}", err=True)
        return None
    try:
        made = prediction.load(read_at_most(out, MOST_REPORT_BYTES))
    except (OSError, NotAPrediction) as error:
        raise RefusedRequest(f"the prediction of {script} cannot be read: {error}") from None
    if code:
        click.echo(f"tf2npu predict: {visible(str(script))} ended with exit code {code} after it was predicted", err=True)
    return made


def _name_places(made: Document, converted: TemporaryConversion | None) -> None:
    """Name the lines as the user knows them: from the current folder, and not those of the copy that ran."""
    known: dict[str, str] = {}
    for step in (made, *made.chips):
        items: list[Task | Advice] = [*step.tasks, *step.advice]
        for item in items:
            if item.source not in known:
                known[item.source] = place_of_user(item.source, converted)
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
    _put_json(prediction.pieces(made), place)
    if place.report is not None:
        from tf2npu.prediction import page  # Jinja costs a tenth of a second to import

        _put_report(page.pages(made, t, home=home_of(place.report)), place.report, place.language)


def _show_comparison(found: comparison.Comparison, place: Place) -> None:
    t = texts(place.language)
    if place.json != STDOUT:
        show(comparison.lines(found, t), sys.stdout)
    _put_json([json.dumps(comparison.as_document(found), indent=1), "\n"], place)
    if place.report is not None:
        from tf2npu.prediction import page

        _put_report(iter([page.comparison_page(found, t, home=home_of(place.report))]), place.report, place.language)


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


def _put_report(pages: Iterator[tuple[str, str]], folder: Path, language: str) -> None:
    try:
        first = put_pages(pages, folder)
    except (OSError, ForeignPage) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else error
        raise RefusedRequest(f"{folder}: the report cannot be written: {reason}") from None
    merge.link_pages(folder)
    click.echo(report_line(folder / first, language), err=True)
