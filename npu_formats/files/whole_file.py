"""Writes into a folder that a path or a descriptor names: whole or not at all, never through a link that stands there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from npu_formats.files import draft
from npu_formats.files.directory import Directory
from npu_formats.files.lock import Busy, take

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LAST = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_UNFIT = {errno.ELOOP: "it is a symbolic link", errno.ENXIO: "it is no regular file"}
"""Reasons that opening fails for anything but a regular file: O_NOFOLLOW refuses a link, and nobody can open a socket. Source:
open(2)."""
OWN_FOLDER, OWN_FILE = 0o755, 0o644
"""Modes, less the umask, of what is read again later: others may read it and write nothing, even with umask 000."""
MOST_OPTION_BYTES = 16 << 20
"""Bytes of a file that a session option names: a line for each of 100,000 nodes has half of that."""


class Unfit(OSError):
    """A link, no regular file, or too large a file stands where a file should. Other errors say nothing of the file itself."""


def put_text(folder: Path, name: str, text: str, mode: int = 0o666) -> None:
    """Put a text into the file `name` of a folder, which is made where it is missing.

    mode: of the file, less the umask.  Raises: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with Directory.followed(folder) as place:
        put_pieces(place.fileno(), name, [text.encode("utf-8")], mode)


def put_pieces(place: int, name: str, pieces: Iterable[bytes | memoryview], mode: int) -> int:
    """Put bytes into a file of an open folder, and return how many.

    place: the folder's descriptor.  mode: of the file, less the umask.  Raises: OSError; then there is no half file.
    """
    folder, own_name = Directory(place, Path()), draft.new_name()
    n_bytes = 0
    with draft.discarding(folder, own_name):
        with folder.new_file(own_name, mode) as stream:
            for piece in pieces:
                n_bytes += stream.write(piece)
        folder.rename(own_name, name)
    return n_bytes


def append(place: int, name: str, data: bytes, mode: int) -> None:
    """Put bytes behind those of a file of an open folder, which is made where it is missing: all of them, or none.

    place, mode: as in `put_pieces`.  Raises: OSError.
    """
    descriptor = os.open(name, _LAST, mode, dir_fd=place)
    try:
        n_before = os.fstat(descriptor).st_size
        try:
            if os.write(descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(descriptor, n_before)
            raise
    finally:
        os.close(descriptor)


def read_bounded(folder: Path, name: str, most_bytes: int) -> bytes | None:
    """The bytes of a regular file of a folder; None where nothing has that name.

    Raises: Unfit for a link, a named pipe, a socket, a folder, and a file of more than `most_bytes`; another OSError for what the
    system refuses, which says nothing of the file.
    """
    try:
        place = os.open(folder, _FOLDER)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _UNFIT:
            raise Unfit(error.errno, _UNFIT[error.errno]) from None
        raise
    finally:
        os.close(place)
    return _read_regular(descriptor, most_bytes)


def _read_regular(descriptor: int, most_bytes: int) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unfit(errno.EINVAL, "it is no regular file")
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise Unfit(errno.EFBIG, f"it is larger than {most_bytes >> 20} MB")
    return data


def given_text(path: str, most_bytes: int = MOST_OPTION_BYTES) -> str:
    """The text of a regular file that an option names; links are followed.  Raises: OSError; UnicodeDecodeError."""
    real = Path(path).resolve()
    data = read_bounded(real.parent, real.name, most_bytes)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return data.decode("utf-8")


def set_aside(folder: Path, name: str) -> str:
    """Give an entry of a folder a name that nothing reads, and return it.  Raises: OSError."""
    place = os.open(folder, _FOLDER)
    try:
        other = f"{name}.set-aside-{secrets.token_hex(4)}"
        os.rename(name, other, src_dir_fd=place, dst_dir_fd=place)
        return other
    finally:
        os.close(place)


@contextmanager
def locked(folder: Path, patience_seconds: float) -> Iterator[None]:
    """Keep other processes of ours out of a folder, which is made where it is missing, for the time of the block.

    The lock is on the folder itself, leaves no file behind and ends with the process, however that ends. Where the file system
    has no locks the block runs without one.  Raises: Busy, after waiting for so long; OSError.
    """
    _make_own(folder)
    with Directory.followed(folder) as place:
        try:
            take(place, patience_seconds)  # until the descriptor is closed
        except Busy:
            raise Busy("another process keeps the folder locked (`fuser` names it)") from None
        yield


def _make_own(folder: Path) -> None:
    """Make a folder, and those above it, in which others can write nothing, whatever the umask."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_own(folder.parent)
    with suppress(FileExistsError):  # another process was faster
        folder.mkdir(OWN_FOLDER)
