"""The destination of a conversion: OUT, the files themselves, or nothing."""

from __future__ import annotations

from npu_formats.files.directory import real_path
from npu_formats.files.lock import Busy
from tf2npu.project.in_place import InPlace
from tf2npu.project.output import Output
from tf2npu.project.request import Request, UsageProblem
from tf2npu.project.walk import Tree


def opened(request: Request, tree: Tree) -> Output:
    """The place for the results.  Raises: UsageProblem where nothing can be written, or another conversion writes there."""
    if request.in_place:
        return _opened_in_place(tree)
    if request.out is None:
        return Output(tree, None, request.data, {})
    rename = {real_path(request.source).name: request.out_name} if request.out_name else {}
    folder = request.out_folder
    assert folder is not None
    try:
        return Output.open(tree, folder, data=request.data, force=request.force, rename=rename, adding=request.is_single_file)
    except Busy as busy:
        raise UsageProblem(f"{busy}; nothing was done") from None
    except OSError as error:
        raise UsageProblem(f"{request.out}: cannot be written: {error.strerror or error}; nothing was done") from None


def _opened_in_place(tree: Tree) -> Output:
    try:
        return InPlace(tree)
    except Busy as busy:
        raise UsageProblem(f"{busy}; nothing was done") from None
    except OSError as error:
        raise UsageProblem(f"{tree.root}: cannot be written: {error.strerror or error}; nothing was done") from None
