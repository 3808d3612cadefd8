"""Files as a script of a smoke run sees them: nothing is written outside of its throw-away folder.

Python's own functions, and those of TensorFlow's file system, are replaced by such that look elsewhere for what is not in the
folder, write there, and note what was asked for in vain.
"""

from __future__ import annotations

import builtins
import glob
import io
import linecache
import os
import shutil
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from npu_bridge._smoke.folder_forms import IMAGES, FolderForm, form_of_folder
from npu_bridge._smoke.line_forms import form_of_lines, keys_of_arrays, reader_of_lines
from npu_bridge._smoke.made_files import PICKLE, MadeFiles
from npu_bridge._smoke.places import looks_like_path
from tensorflow.python.client import _pywrap_events_writer
from tensorflow.python.framework import tensor_util
from tensorflow.python.lib.io import _pywrap_file_io, _pywrap_record_io, tf_record

_WRITES = frozenset("wax+")
_LIBRARY_FORMS = {"numpy": "array", "PIL": "image", "imageio": "image", "cv2": "image", "skimage": "image", "soundfile": "sound",
                  "wave": "sound", "librosa": "sound"}  # fmt: skip
"""Forms of files by the library that opens them."""
_READERS = frozenset((
    *_LIBRARY_FORMS, "npu_bridge", "os", "posixpath", "genericpath", "pathlib", "glob", "io", "codecs", "gzip", "csv", "zipfile",
    "shutil", "tensorflow", "scipy", "pandas", "h5py", "keras", "joblib", "fileinput", "tarfile", "pickle", "yaml", "contextlib",
    "xml",
))  # fmt: skip
"""Libraries that ask for a file because the script does; others look for their own settings."""
_files: list[MadeFiles] = []


def install(files: MadeFiles) -> None:
    """Replace the functions; there is no way back, as the process ends with its smoke run."""
    _files[:] = [files]
    _install_python()
    _install_tensorflow()
    _install_constants()


def _is_path(value: Any) -> bool:
    return isinstance(value, str | bytes | os.PathLike)


def _text(path: Any) -> str:
    return os.fsdecode(path)


def _is_in_folder(named: Any) -> bool:
    """Whether a path is relative to a folder that is given beside it, as libraries do."""
    return any(name.endswith("dir_fd") and value is not None for name, value in named.items())


def _read(path: Any) -> Any:
    """The place to read from, of the type that was given."""
    if not _is_path(path):
        return path
    text = _text(path)
    place = _files[0].places.read(text)
    return path if place == text else place


def _written(path: Any) -> Any:
    if not _is_path(path):
        return path
    text = _text(path)
    place = _files[0].places.written(text)
    return path if place == text else place


def _note(path: Any, how: str) -> bool:
    """Note a path that is missing, where the script itself asked for it, by itself or through a library that reads data.

    Returns: whether that is so.
    """
    if not _is_path(path):
        return False
    text, library, frames = _text(path), "", list[FrameType]()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.startswith(_files[0].places.root + os.sep):
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name not in _READERS or (name == "glob" and how == "list"):  # the pattern is asked for by itself
            return False
        library = library or _LIBRARY_FORMS.get(name, "")
        frames.append(frame)
        frame = frame.f_back
    if frame is None or (how != "glob" and not _files[0].places.is_missing(text, is_path=how in ("list", "read"))):
        return False
    lines = linecache.getlines(frame.f_code.co_filename)
    source = "".join(lines)
    if how == "open" and "pickle." in "".join(lines[frame.f_lineno - 1 : frame.f_lineno + 1]):
        library = PICKLE
    if how == "read" or (how == "exists" and reader_of_lines(frames) is not None):
        library = "read"
    if how in ("list", "glob"):
        _files[0].ask(text, how, folder=form_of_folder(source, frame.f_lineno))
    else:
        form = form_of_lines(text, frames, source, frame.f_lineno)
        keys = keys_of_arrays(source, frame.f_lineno) if library == "array" and text.endswith(".npz") else ()
        _files[0].ask(text, library or how, form, frame.f_code.co_filename, keys=keys)
    return True


def _folder_form() -> FolderForm:
    """The form of the folder that the script lists, by itself or through Python's library."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.startswith(_files[0].places.root + os.sep):
        frame = frame.f_back
    return form_of_folder("".join(linecache.getlines(frame.f_code.co_filename)), frame.f_lineno) if frame is not None else IMAGES


def _install_python() -> None:
    _install_open()
    _install_questions()
    _replace(os, _written, 1, "mkdir", "truncate")
    _replace(os, _written, 2, "rename", "replace", "link", "symlink")
    for name in ("remove", "unlink", "rmdir", "chmod", "utime"):
        _leave_users(os, name)
    _leave_users(shutil, "rmtree")
    _install_glob()


def _install_open() -> None:
    real_open = builtins.open

    def opened(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if not _is_path(file):
            return real_open(file, mode, *arguments, **named)
        if isinstance(mode, str) and _WRITES & set(mode):
            return real_open(_written(file), mode, *arguments, **named)
        try:
            return real_open(_read(file), mode, *arguments, **named)
        except (FileNotFoundError, NotADirectoryError):
            how = "open" if "b" in str(mode) else "read"
            made = _files[0].make_at_once(_text(file)) if _note(file, how) else None
            if made is None:
                raise
        return real_open(made, mode, *arguments, **named)

    for module in (builtins, io):
        _put(module, "open", opened)


def _put(module: Any, name: str, function: Callable[..., Any]) -> None:
    setattr(module, name, function)


def _install_questions() -> None:
    """The functions that ask whether a file is there and what is in a folder."""
    real_stat, real_listdir, real_scandir = os.stat, os.listdir, os.scandir

    def stat(path: Any, *arguments: Any, **named: Any) -> Any:
        if _is_in_folder(named):
            return real_stat(path, *arguments, **named)
        try:
            return real_stat(_read(path), *arguments, **named)
        except OSError:
            made = _files[0].make_if_read(_text(path)) if _note(path, "exists") else None
            if made is None:
                raise
        return real_stat(made, *arguments, **named)

    def listing(real: Callable[..., Any]) -> Callable[..., Any]:
        def listed(path: Any = ".", *arguments: Any, **named: Any) -> Any:
            try:
                if _is_path(path) and _files[0].is_made_folder(_text(_read(path))) and not real_listdir(_read(path)):
                    _files[0].fill(_text(_read(path)), _folder_form())
                return real(_read(path), *arguments, **named)
            except (FileNotFoundError, NotADirectoryError):
                made = _files[0].make_at_once(_text(path)) if _note(path, "list") else None
                if made is None:
                    raise
            return real(made, *arguments, **named)

        return listed

    os.stat = stat
    os.listdir, os.scandir = listing(real_listdir), listing(real_scandir)


def _install_glob() -> None:
    for name in ("glob", "iglob"):
        real = getattr(glob, name)

        def matched(pathname: Any, *arguments: Any, _real: Callable[..., Any] = real, **named: Any) -> Any:
            found = list(_real(_read(pathname), *arguments, **named))
            if not found and _is_path(pathname) and glob.has_magic(_text(pathname)):
                elsewhere = _files[0].places
                moved = elsewhere.written(_text(pathname))
                found = list(_real(moved, *arguments, **named)) if moved != _text(pathname) else []
                if not found and _note(pathname, "glob") and (made := _files[0].make_at_once(_text(pathname))):
                    found = list(_real(made, *arguments, **named))
            return found if _real.__name__ == "glob" else iter(found)

        setattr(glob, name, matched)


def _replace(module: Any, place: Callable[[Any], Any], n_paths: int, *names: str) -> None:
    """Replace functions of a module whose first arguments are paths."""
    for name in names:
        real = getattr(module, name, None)
        if real is None:
            continue

        def called(*arguments: Any, _real: Callable[..., Any] = real, **named: Any) -> Any:
            if _is_in_folder(named):
                return _real(*arguments, **named)
            moved = [place(one) if at < n_paths else one for at, one in enumerate(arguments)]
            return _real(*moved, **named)

        setattr(module, name, called)


def _leave_users(module: Any, name: str) -> None:
    """Replace a function that removes or changes what its first argument names: what is the user's own stays as it is."""
    real = getattr(module, name)

    def called(path: Any, *arguments: Any, **named: Any) -> Any:
        if not _is_path(path) or _is_in_folder(named):
            return real(path, *arguments, **named)
        places = _files[0].places
        place = places.read(_text(path))
        return real(place, *arguments, **named) if places.is_inside(place) or not os.path.lexists(place) else None

    setattr(module, name, called)


def _install_tensorflow() -> None:
    module = _pywrap_file_io
    _replace(module, _read_of_tensorflow, 1, "ReadFileToString", "GetChildren", "IsDirectory", "Stat", "BufferedInputStream")
    _replace(module, _read_of_tensorflow, 1, "FileExists", "GetMatchingFiles")
    _replace(module, _written, 1, "WriteStringToFile", "CreateDir", "RecursivelyCreateDir", "WritableFile")
    _replace(module, _written, 2, "CopyFile", "RenameFile")
    for name in ("DeleteFile", "DeleteRecursively"):
        _leave_users(module, name)
    _replace(_pywrap_record_io, _read_of_tensorflow, 1, "RecordIterator", "RandomRecordReader")
    _replace(_pywrap_events_writer, _written, 1, "EventsWriter")
    recorded = tf_record.TFRecordWriter.__init__

    def write_records(self: Any, path: Any, options: Any = None) -> None:
        recorded(self, _written(path), options)

    tf_record.TFRecordWriter.__init__ = write_records


def _read_of_tensorflow(path: Any) -> Any:
    """The place to read from; what is missing is noted, as TensorFlow's own errors do not come through here."""
    if not _is_path(path):
        return path
    place = _read(path)
    text = _text(place)
    if glob.has_magic(text):
        if not glob.glob(text):
            _note(path, "glob")
    elif not os.path.lexists(text):
        _note(path, "exists")
    return place


def _install_constants() -> None:
    """Name in constants of graphs where what is missing will be: one in the body of a function cannot be changed later."""
    real = tensor_util.make_tensor_proto

    def make(values: Any, *arguments: Any, **named: Any) -> Any:
        return real(_moved(values), *arguments, **named)

    tensor_util.make_tensor_proto = make


def _moved(values: Any) -> Any:
    """Values in which each text that names a missing file outside of the folder names its place elsewhere."""
    if isinstance(values, list | tuple):
        return type(values)(map(_moved, values)) if type(values) in (list, tuple) else values
    if isinstance(values, np.ndarray):
        moved = [_moved(one) for one in values.ravel().tolist()] if values.dtype.kind in "OSU" else []
        return np.array(moved, dtype=object).reshape(values.shape) if moved else values
    text = values.decode("utf-8", "replace") if isinstance(values, bytes) else values
    places = _files[0].places
    if not isinstance(text, str) or not (text.startswith(("/", "gs://", "s3://", "hdfs://")) and looks_like_path(text)):
        return values
    if places.read(text) == text and (os.path.lexists(text) or places.is_left_alone(text) or places.is_inside(text)):
        return values
    return os.fsencode(places.written(text)) if isinstance(values, bytes) else places.written(text)
