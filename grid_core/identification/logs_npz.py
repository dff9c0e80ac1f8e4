"""Logs of named arrays: ``.npz``, read from the file piece by piece.

A member that is stored as it is (`numpy.savez`) is read at its place in the file; one that is
compressed (`numpy.savez_compressed`) is unpacked as it is read. Neither is ever whole in memory.
A map of the file would do as well, but its pages count as the process's own.
"""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
from attrs import define, field, frozen

from grid_core.errors import InputError
from grid_core.identification.logs_columns import (
    NEEDED,
    QUANTITIES,
    TIME,
    TRAJECTORY,
    joint_order,
    width,
)
from grid_core.identification.logs_rows import Rows
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from grid_core.model.types import RobotModel

__all__ = ["NpzLog", "open_npz"]

_NAMES = "joint_names"
_DAMAGED = (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""What reading a damaged archive may raise."""
_LOCAL_HEADER = 30
"""Bytes of a ZIP member's own header before its name."""


@frozen
class _Member:
    """One array of the archive."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    info: zipfile.ZipInfo
    start: int
    """Where its numbers start in the unpacked member."""
    stored_at: int | None
    """Where its numbers start in the file; None where they are compressed."""


@define
class NpzLog:
    """An ``.npz`` with arrays ``t``, ``q``, ``qd``, ``qdd`` and ``tau``."""

    path: Path
    members: dict[str, _Member]
    """By quantity; ``time`` and ``trajectory`` too."""
    order: dict[str, tuple[int, NDArray[np.intp]]] | None
    size: int
    ignored: tuple[str, ...]
    has: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.has = frozenset(self.members) - {TRAJECTORY}

    @property
    def divided(self) -> bool:
        """Whether it has an array ``trajectory``."""
        return TRAJECTORY in self.members

    def place(self, row: int) -> str:
        """Return what a row is called."""
        return f"row {row}"

    def read(self, count: int) -> Iterator[Rows]:
        """Yield all rows."""
        with contextlib.ExitStack() as stack:
            readers = {
                name: stack.enter_context(_Reader(self.path, member))
                for name, member in self.members.items()
            }
            for first in range(0, self.size, count):
                n = min(count, self.size - first)
                try:
                    arrays = {name: reader.rows(first, n) for name, reader in readers.items()}
                except _DAMAGED as error:
                    raise InputError(
                        f"{self.path}: rows {first} to {first + n - 1} cannot be read: {error}"
                    ) from error
                trajectory = arrays.pop(TRAJECTORY, None)
                columns = {name: self._own_order(name, x) for name, x in arrays.items()}
                yield Rows(first, first + n, columns, trajectory)

    def _own_order(self, name: str, array: NDArray[Any]) -> NDArray[np.float64]:
        if name == "time":
            return array.astype(np.float64, copy=False)
        array = array.reshape(len(array), -1)
        if self.order is not None:
            array = array[:, self.order[name][1]]
        return np.ascontiguousarray(array, dtype=np.float64)


def open_npz(path: Path, model: RobotModel) -> NpzLog:
    """Look at the arrays of an ``.npz``, without reading them.

    Raises:
        InputError: it is no archive, or an array is missing or of the wrong shape.
    """
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            found = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
            wanted = [*QUANTITIES, TRAJECTORY, *TIME]
            members = {
                name: _look(path, name, info, archive, file)
                for name, info in found.items()
                if name in wanted
            }
            order = _order(path, archive, found, model)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(f"{path}: no archive of named arrays: {error}") from error
    time = next((members.pop(name) for name in TIME if name in members), None)
    members = {name: members[name] for name in (*QUANTITIES, TRAJECTORY) if name in members}
    missing = [name for name in NEEDED if name not in members]
    if missing:
        raise InputError(
            f"{path}: array {listing(missing)} missing; there are {listing(sorted(found))}, and a "
            f"log has {listing(['t', *QUANTITIES])}"
        )
    if time is not None:
        members["time"] = time
    _check_shapes(path, members, order, model)
    ignored = tuple(sorted(set(found).difference(wanted, {_NAMES})))
    return NpzLog(path, members, order, members["q"].shape[0], ignored)


def _look(
    path: Path, name: str, info: zipfile.ZipInfo, archive: zipfile.ZipFile, file: BinaryIO
) -> _Member:
    """Read the header of one array."""
    with archive.open(info) as member:
        try:
            version = np.lib.format.read_magic(member)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, fortran, dtype = read(member)
        except _DAMAGED as error:
            raise InputError(f"{path}: array {name} cannot be read: {error}") from error
        start = member.tell()
    if dtype.kind not in ("fiub" if name != TRAJECTORY else "fiubUS"):
        raise InputError(f"{path}: array {name} must hold real numbers; it is of dtype {dtype}")
    stored_at = None
    if info.compress_type == zipfile.ZIP_STORED:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        # The lengths of name and extra field: the central directory's may differ.
        lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        stored_at = info.header_offset + _LOCAL_HEADER + lengths + start
    return _Member(name, shape, dtype, fortran and len(shape) > 1, info, start, stored_at)


def _order(
    path: Path, archive: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo], model: RobotModel
) -> dict[str, tuple[int, NDArray[np.intp]]] | None:
    if _NAMES not in found:
        return None
    with archive.open(found[_NAMES]) as member:
        try:
            names = np.lib.format.read_array(member, allow_pickle=False)
        except _DAMAGED as error:
            raise InputError(
                f"{path}: joint_names must be an array of text: np.array([...], dtype=str); {error}"
            ) from error
    if names.ndim != 1 or names.dtype.kind not in "US":
        raise InputError(
            f"{path}: joint_names must be one-dimensional text; got dtype {names.dtype}, shape "
            f"{names.shape}"
        )
    texts = [x.decode() if isinstance(x, bytes) else str(x) for x in names.tolist()]
    return joint_order(path, texts, model)


def _check_shapes(
    path: Path,
    members: dict[str, _Member],
    order: dict[str, tuple[int, NDArray[np.intp]]] | None,
    model: RobotModel,
) -> None:
    count = members["q"].shape[0] if members["q"].shape else 0
    for name, member in members.items():
        shown = "t" if name == "time" else name
        if name in QUANTITIES:
            called, columns = width(model, name)
            if order is not None:
                called, columns = "the width of joint_names", order[name][0]
            flat = columns == 1 and len(member.shape) == 1
            good = flat or (len(member.shape) == 2 and member.shape[1] == columns)
            wanted = f"(N, {called}={columns})"
        else:
            good, wanted = len(member.shape) == 1, "(N,)"
        if not good:
            raise InputError(f"{path}: {shown} must be {wanted}; got {member.shape}")
        if member.shape[0] != count:
            raise InputError(f"{path}: {shown} has {member.shape[0]} rows, and q has {count}")


class _Reader:
    """Reads rows of one array, from the first to the last."""

    def __init__(self, path: Path, member: _Member) -> None:
        self._path = path
        self._member = member
        self._columns = int(np.prod(member.shape[1:], dtype=np.int64))
        self._stack = contextlib.ExitStack()
        self._streams: list[Any] = []

    def __enter__(self) -> Self:
        member = self._member
        if member.stored_at is not None:
            self._streams = [self._stack.enter_context(self._path.open("rb"))]
            return self
        archive = self._stack.enter_context(zipfile.ZipFile(self._path))
        for column in range(self._columns if member.fortran else 1):
            # A column of a compressed Fortran array has a stream of its own: none goes back.
            stream = self._stack.enter_context(archive.open(member.info))
            stream.seek(member.start + column * member.shape[0] * member.dtype.itemsize)
            self._streams.append(stream)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def rows(self, first: int, count: int) -> NDArray[Any]:
        """Return rows, shape (count, ...)."""
        member, columns = self._member, self._columns
        if not member.fortran:
            flat = self._numbers(0, first * columns, count * columns)
            return flat.reshape(count, *member.shape[1:])
        parts = [
            self._numbers(column, column * member.shape[0] + first, count)
            for column in range(columns)
        ]
        return np.stack(parts, axis=1)

    def _numbers(self, column: int, index: int, count: int) -> NDArray[Any]:
        member = self._member
        result = np.empty(count, member.dtype)
        if member.stored_at is not None:
            stream = self._streams[0]
            stream.seek(member.stored_at + index * member.dtype.itemsize)
        else:
            stream = self._streams[column if member.fortran else 0]
        buffer = memoryview(result.view(np.uint8).data)
        while buffer:
            read = stream.readinto(buffer)
            if not read:
                raise EOFError(f"array {member.name} ends too early")
            buffer = buffer[read:]
        return result
