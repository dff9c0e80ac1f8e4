"""Vector IR text: types, loads of rows turned into lanes, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Emitter", "Lanes"]


@frozen
class Lanes:
    """How many problems one vector holds, and of what."""

    dtype: str
    """``float32`` or ``float64``."""
    width: int

    @property
    def scalar(self) -> str:
        """LLVM's scalar type."""
        return "float" if self.dtype == "float32" else "double"

    @property
    def vector(self) -> str:
        """LLVM's vector type."""
        return f"<{self.width} x {self.scalar}>"

    @property
    def integers(self) -> str:
        """Integer vector of the same bits."""
        return f"<{self.width} x i{self.bits}>"

    @property
    def bits(self) -> int:
        """Bits of one scalar."""
        return 32 if self.dtype == "float32" else 64

    @property
    def itemsize(self) -> int:
        """Bytes of one scalar."""
        return self.bits // 8

    @property
    def bytes(self) -> int:
        """Bytes of one vector."""
        return self.width * self.itemsize

    @property
    def suffix(self) -> str:
        """How intrinsics name the type."""
        return f"v{self.width}f{self.bits}"

    def splat(self, value: float) -> str:
        """A constant in every lane, all digits kept."""
        return f"splat ({self.scalar} {self.literal(value)})"

    def literal(self, value: float) -> str:
        """A scalar constant as LLVM reads it: the bits of a double, rounded for float32."""
        import numpy as np  # noqa: PLC0415 - keeps `import grid_backend_cpu` light

        rounded = float(np.float32(value)) if self.dtype == "float32" else float(value)
        return f"0x{int(np.float64(rounded).view(np.uint64)):016X}"


class Emitter:
    """Lines of one function body, with fresh names."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self._next = 0

    def fresh(self) -> str:
        """Return a new value name."""
        self._next += 1
        return f"%v{self._next}"

    def let(self, expression: str) -> str:
        """Bind an instruction's result to a new name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {expression}")
        return name

    def do(self, instruction: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{name}:")

    def load_columns(self, pointer: str, size: int) -> list[str]:
        """Load ``width`` rows of ``size`` scalars and return the columns as vectors.

        Rows are read in chunks of one vector and transposed in registers; the last chunk
        overlaps the one before it, and rows narrower than a vector are masked, so nothing
        outside the rows is touched.
        """
        columns: list[str] = [""] * size
        for start in self.chunks(size):
            rows = [self._load_row(pointer, size, r, start) for r in range(self.lanes.width)]
            for k, column in enumerate(self.transpose(rows)[: min(size, self.lanes.width)]):
                columns[start + k] = column
        return columns

    def store_columns(self, pointer: str, columns: Sequence[str]) -> None:
        """Write columns as rows: the inverse of `load_columns`."""
        size, width = len(columns), self.lanes.width
        for start in self.chunks(size):
            chunk = list(columns[start : start + width])
            chunk += ["poison"] * (width - len(chunk))
            for r, row in enumerate(self.transpose(chunk)):
                self._store_row(pointer, size, r, start, row)

    def chunks(self, size: int) -> list[int]:
        """Where in a row of ``size`` scalars each vector of it begins; the last may overlap."""
        width = self.lanes.width
        if size <= width:
            return [0] if size else []
        starts = list(range(0, size - width + 1, width))
        if size % width:
            starts.append(size - width)
        return starts

    def row_pointer(self, pointer: str, size: int, row: int, start: int) -> str:
        """Point at a scalar of a row of ``size``."""
        offset = row * size + start
        if offset == 0:
            return pointer
        return self.let(f"getelementptr {self.lanes.scalar}, ptr {pointer}, i64 {offset}")

    def _mask(self, size: int) -> str:
        bits = ", ".join(f"i1 {'true' if k < size else 'false'}" for k in range(self.lanes.width))
        return f"<{self.lanes.width} x i1> <{bits}>"

    def _load_row(self, pointer: str, size: int, row: int, start: int) -> str:
        t, at = self.lanes, self.row_pointer(pointer, size, row, start)
        if size >= t.width:
            return self.let(f"load {t.vector}, ptr {at}, align {t.itemsize}")
        return self.let(
            f"call {t.vector} @llvm.masked.load.{t.suffix}.p0(ptr align {t.itemsize} {at}, "
            f"{self._mask(size)}, {t.vector} zeroinitializer)"
        )

    def _store_row(self, pointer: str, size: int, row: int, start: int, value: str) -> None:
        t, at = self.lanes, self.row_pointer(pointer, size, row, start)
        if size >= t.width:
            self.do(f"store {t.vector} {value}, ptr {at}, align {t.itemsize}")
            return
        self.do(
            f"call void @llvm.masked.store.{t.suffix}.p0({t.vector} {value}, "
            f"ptr align {t.itemsize} {at}, {self._mask(size)})"
        )

    def transpose(self, rows: Sequence[str]) -> list[str]:
        """Transpose ``width`` vectors of ``width`` lanes.

        The first steps stay inside 128-bit lanes, where a shuffle is one cheap instruction.
        """
        v = self._transpose_quads(rows) if self.lanes.bits == 32 else list(rows)
        distance = 4 if self.lanes.bits == 32 else 1
        while distance < self.lanes.width:
            v = self._exchange(v, distance)
            distance *= 2
        return v

    def _exchange(self, rows: Sequence[str], d: int) -> list[str]:
        """Swap the off-diagonal blocks of size d in every block of size 2d."""
        n, v = self.lanes.width, list(rows)
        low = [k if not k & d else n + k - d for k in range(n)]
        high = [k + d if not k & d else n + k for k in range(n)]
        for i in range(n):
            if not i & d:
                a, b = v[i], v[i + d]
                v[i], v[i + d] = self._shuffle(a, b, low), self._shuffle(a, b, high)
        return v

    def _transpose_quads(self, rows: Sequence[str]) -> list[str]:
        """Transpose every 4×4 block in place: unpack singles, then pairs."""
        n, v = self.lanes.width, list(rows)
        quads = range(0, n, 4)
        low = [x for q in quads for x in (q, n + q, q + 1, n + q + 1)]
        high = [x for q in quads for x in (q + 2, n + q + 2, q + 3, n + q + 3)]
        first = [x for q in quads for x in (q, q + 1, n + q, n + q + 1)]
        second = [x for q in quads for x in (q + 2, q + 3, n + q + 2, n + q + 3)]
        for i in quads:
            a, b, c, d = v[i : i + 4]
            ab, cd = self._shuffle(a, b, low), self._shuffle(c, d, low)
            ab2, cd2 = self._shuffle(a, b, high), self._shuffle(c, d, high)
            v[i : i + 4] = [
                self._shuffle(ab, cd, first),
                self._shuffle(ab, cd, second),
                self._shuffle(ab2, cd2, first),
                self._shuffle(ab2, cd2, second),
            ]
        return v

    def _shuffle(self, a: str, b: str, indices: Sequence[int]) -> str:
        t = self.lanes
        mask = ", ".join(f"i32 {k}" for k in indices)
        return self.let(f"shufflevector {t.vector} {a}, {t.vector} {b}, <{t.width} x i32> <{mask}>")
