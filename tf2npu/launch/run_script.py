"""``tf2npu run``: prepare this process as a simulated Ascend host, then run a script as ``python script.py`` would."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from npu_formats import converted_copy
from npu_formats.documents import smoke_request
from npu_formats.environment import TF2NPU_ALL_SESSIONS, TF2NPU_FRONTEND, TF2NPU_OPTIONS, TF2NPU_RECORD, TF2NPU_STRICT
from npu_formats.escape import visible, visible_lines
from npu_formats.files.lock import Busy
from npu_formats.session_options import launcher_options
from tf2npu.launch import mindspore, pytorch
from tf2npu.launch.shims import MINDSPORE, PYTORCH, TENSORFLOW1, loaded_shim, shim_of_run, watching_shim
from tf2npu.ranks import launch_request, launcher_script, pytorch_job
from tf2npu.ranks.launch_request import ALONE, LaunchRequest
from tf2npu.report.errors import NotAReport
from tf2npu.runs import merge, write
from tf2npu.runs.coverage import StatementMarks
from tf2npu.runs.failure import Failure, failure_of

_NOT_FOUND = ("ModuleNotFoundError", "ImportError")
"""Errors of imports whose modules or names are not there."""
USAGE = 2
"""Exit code of a wrong command, as click has it."""
INTERRUPTED = 130
"""Exit code that a shell reports for a process that SIGINT ended."""


def run_script(
    argv: Sequence[str],
    *,
    module: str | None = None,
    script: str | Path | None = None,
    ranks: LaunchRequest = ALONE,
    soc: str | None = None,
    options: Mapping[str, Any] | None = None,
    all_sessions: bool = False,
    strict: bool = False,
    frontend: str = "auto",
    report: Path | None = None,
) -> int:
    """Run a script or module on the simulated device and give its exit code; 2 when it cannot even be started.

    argv: the script's own arguments.  ranks: how many processes, and where, each with a device of its own.  soc: name of a chip.
    options: session options that win over the script's.  all_sessions: sessions without the NpuOptimizer entry go to the device
    too.  strict: what a host would refuse is refused, and a run of which nothing reached the device.  frontend:
    "mindspore" for a program of MindSpore's, "auto" else.  report: folder of a migration report, into which the run goes, or a
    file FILE.json, which tells it for a report that is elsewhere.
    """
    is_launcher = script is not None and Path(script).suffix == launcher_script.SUFFIX
    problem = (
        _why_not(module, script, frontend)
        or (is_launcher and _why_no_launcher(ranks, report))
        or (report and merge.why_not_run(report))
        or launch_request.problem_of(ranks)
    )
    if problem:
        print(f"tf2npu run: {visible_lines(problem)}", file=sys.stderr)
        return USAGE
    report = report.absolute() if report is not None else None  # the script may go elsewhere
    _hand_over(dict(options or {}), soc, all_sessions, strict, report is not None, frontend)
    try:
        launch_request.prepare(ranks)
        if is_launcher:
            return launcher_script.run_launcher(Path(script or ""), argv)
        if not ranks.is_for_one:
            start = pytorch_job.run if shim_of_run(module, script) is PYTORCH else launch_request.run
            return start(ranks, _words(module, script, argv, strict), report)
    except ValueError as error:
        print(f"tf2npu run: {visible_lines(str(error))}", file=sys.stderr)
        return USAGE
    converted_copy.tell_users_places()  # before others watch for the error, who call what was there
    shim = watching_shim() or shim_of_run(module, script)
    problem = shim.prepare() if shim is not None else None
    if problem:
        print(f"tf2npu run: {visible_lines(problem)}", file=sys.stderr)
        return USAGE
    if all_sessions and shim is not TENSORFLOW1:
        framework = "PyTorch" if shim is PYTORCH else "MindSpore" if shim is MINDSPORE else "TensorFlow 2"
        print(f"tf2npu run: --all-sessions has no effect: a script for {framework} has no sessions", file=sys.stderr)
    name = module or str(script)
    sys.argv[:] = [name, *argv]
    code = _run(name, module, strict, None)[0] if report is None else _run_recorded(name, module, strict, report)
    if shim is None:
        print(f"tf2npu run: {visible(_left_alone(name))}", file=sys.stderr)
        return code or int(strict)
    return code


def _left_alone(script: str) -> str:
    return (
        f"{script} is a script for TensorFlow 2 that does not import npu_device: all of it ran on TensorFlow; convert it with "
        "`tf2npu convert`, and run what comes out"
    )


def _run(name: str, module: str | None, strict: bool, marks: StatementMarks | None) -> tuple[int, Failure | None]:
    """The script to its end.  marks: what its files are compiled with."""
    if module is not None:
        sys.path[0] = os.getcwd()
        code, failure = _ended(lambda: runpy.run_module(module, run_name="__main__", alter_sys=True))
    else:
        code, failure = _ended(lambda: _run_file(name, marks))
    missing = failure.message if failure is not None and failure.type in _NOT_FOUND else ""
    hint = pytorch.about_missing(missing) or mindspore.about_missing(missing)
    if hint:
        print(f"tf2npu run: {visible(hint)}", file=sys.stderr)
    return _ended(_refuse_without_device) if strict and code == 0 else (code, failure)


def _run_recorded(name: str, module: str | None, strict: bool, report: Path) -> int:
    """The script to its end, and then the run into a report, or into a file of its own."""
    is_file = merge.is_file(report)
    paths = None if is_file else [file.path for file in merge.load(report).files]
    smoke = smoke_request.read_request(os.environ)
    if smoke is not None:
        project = write.Project(os.path.join(smoke.root, smoke.told_from).rstrip(os.sep), None)
    else:
        project = write.project_of(write.script_of(module, name), paths)
    marks = StatementMarks(project.path_of)
    marks.install()
    code, failure = _run(name, module, strict, marks)
    try:
        shim = loaded_shim()
        if shim is None:
            print(f"tf2npu run: the run is not put into {visible(str(report))}: nothing of it is the device's", file=sys.stderr)
            return code
        made = write.record(shim.loaded_hooks().run_document(), name, code, failure, project, marks)
        if is_file:
            write.write(made, report)
        else:
            report = merge.merge(report, made, project.root)
    except (OSError, Busy, NotAReport) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"tf2npu run: the run cannot be put into {'' if is_file else 'the report in '}{report}: {reason}", file=sys.stderr)
        return code
    print(f"tf2npu run: the run is in {visible(str(report))}", file=sys.stderr)
    return code


def _why_not(module: str | None, script: str | Path | None, frontend: str) -> str | None:
    if (module is None) == (script is None):
        return "name either a script or a module"
    if script is not None and not os.path.exists(script):
        return f"can't open file {str(script)!r}: no such file"
    try:
        launcher_options(os.environ)
    except ValueError as error:
        return str(error)
    problem = _why_no_script(Path(script)) if script is not None else None
    return problem or (mindspore.hidden_by(script) or None if frontend == mindspore.FRONTEND else None)


def _why_no_script(script: Path) -> str | None:
    """The reason that Python would stumble over the script that was named; None for none."""
    if script.suffix == ".ipynb":
        return f"{script} is a notebook: open it in Jupyter, where its import of npu_bridge prepares the process"
    if script.is_dir() and not (script / "__main__.py").is_file():
        return f"{script} is a folder without a __main__.py: name a script in it, or a module with -m MODULE"
    return None


def _why_no_launcher(ranks: LaunchRequest, report: Path | None) -> str | None:
    """The reason that a shell script, which starts its processes itself, cannot be run with these options; None for none."""
    if shutil.which("bash") is None:
        return "a shell script needs bash, which is not in PATH"
    if not ranks.is_for_one:
        return "--devices does not go with a shell script, nor do --hosts and --rank-table: it says itself what ranks it starts"
    if report is not None:
        return "--report does not go with a shell script: name the Python script that it starts"
    return None


def _words(module: str | None, script: str | Path | None, argv: Sequence[str], strict: bool) -> list[str]:
    """The command line of one rank; other options are in the environment by then."""
    name = ["-m", module] if module is not None else [str(script)]
    return [*(["--strict"] if strict else []), *name, *argv]


def _hand_over(
    options: dict[str, Any], soc: str | None, all_sessions: bool, strict: bool, is_recorded: bool, frontend: str
) -> None:
    """Put the launcher's options into the environment, where this process and its children find them."""
    if soc is not None:
        options["soc"] = soc
    if options:
        inherited = launcher_options(os.environ)
        os.environ[TF2NPU_OPTIONS] = json.dumps({**inherited, **options}, sort_keys=True)
    for name, is_on in ((TF2NPU_ALL_SESSIONS, all_sessions), (TF2NPU_STRICT, strict), (TF2NPU_RECORD, is_recorded)):
        if is_on:
            os.environ[name] = "1"
    if frontend != "auto":
        os.environ[TF2NPU_FRONTEND] = frontend


def _run_file(path: str, marks: StatementMarks | None) -> None:
    """Run a file as ``__main__``; the module stays, so that threads and exit handlers find their names.

    Source: Python's documentation of ``__main__`` and of ``sys.path`` for a script given on the command line.
    """
    if not path.endswith(".py") and (os.path.isdir(path) or _is_zip(path)):
        sys.path[0] = path
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    full = os.path.abspath(path)
    loader = SourceFileLoader("__main__", full)
    data = loader.get_data(full)
    code = compile(data, full, "exec", dont_inherit=True) if marks is None else marks.compiled(data, full)
    main = ModuleType("__main__")
    main.__dict__.update(__file__=full, __loader__=loader, __package__=None, __spec__=None, __cached__=None, __annotations__={})
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _is_zip(path: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(path)


def _ended(run: Callable[[], object]) -> tuple[int, Failure | None]:
    """Run and answer as the interpreter does: exit codes, texts given to sys.exit, tracebacks of the user's frames."""
    try:
        run()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0, None
        print(stop.code, file=sys.stderr)
        return 1, failure_of(stop)
    except BaseException as error:
        error.__traceback__ = _users_part(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1, failure_of(error)
    return 0, None


def _refuse_without_device() -> None:
    """End a strict run that succeeded on TensorFlow alone; the closing lines of the run log say why."""
    shim = loaded_shim()
    if shim is not None and shim.loaded_hooks().none_on_device():
        sys.exit(f"tf2npu run: --strict: no {shim.unit} ran on the device")


def _users_part(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is neither ours nor runpy's."""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__ and "runpy" not in os.path.basename(file):
            return trace
        trace = trace.tb_next
    return None
