"""The tree that a request asks to convert."""

from __future__ import annotations

from npu_formats.files.directory import Directory, real_path
from tf2npu.project.earlier_outputs import leave_out_outputs
from tf2npu.project.excludes import BadPattern
from tf2npu.project.request import Request, TooLarge, UsageProblem
from tf2npu.project.walk import TooManyEntries, Tree, single, walk


def source_tree(request: Request) -> Tree:
    """The tree that is to be converted; a file that was named itself is converted, whatever is excluded.

    Raises: UsageProblem.
    """
    source, config = real_path(request.source), request.config
    try:
        files = Directory.followed(source.parent if request.is_single_file else source)
        if request.is_single_file:
            return single(files, source.name)
        tree = walk(files, config.exclude, config.respect_gitignore, request.most_entries)
    except TooManyEntries:
        raise TooLarge(f"{request.source}: holds more than {request.most_entries} files") from None
    except BadPattern as error:
        raise UsageProblem(str(error)) from None
    except OSError as error:
        raise UsageProblem(f"{request.source}: cannot be read: {error.strerror or error}; nothing was done") from None
    leave_out_outputs(tree)
    return tree
