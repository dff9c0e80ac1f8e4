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
    permutes: bool = False
    """Whether AVX-512 is there, which looks up a table in registers."""

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
    def piece(self) -> int:
        """Scalars of a row that are read or written at once: half a vector, or 128 bits."""
        return max(self.width // 2, 128 // self.bits)

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

    def pattern(self, value: float) -> int:
        """Return the bits of a scalar as a whole number."""
        import numpy as np  # noqa: PLC0415

        kind = np.uint32 if self.bits == 32 else np.uint64
        return int(np.dtype(self.dtype).type(value).view(kind))


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

        Rows are read in pieces and transposed in registers; the last piece may overlap the one
        before it, and rows narrower than any are masked, so nothing outside the rows is touched.
        """
        columns: list[str] = [""] * size
        for start, piece in self.pieces(size):
            vectors = self._load_pieces(pointer, size, start, piece)
            for k, column in enumerate(self.transpose(vectors)[: size - start]):
                columns[start + k] = column
        return columns

    def store_columns(self, pointer: str, columns: Sequence[str]) -> None:
        """Write columns as rows: the inverse of `load_columns`."""
        size = len(columns)
        for start, piece in self.pieces(size):
            chunk = list(columns[start : start + piece])
            chunk += ["poison"] * (piece - len(chunk))
            self.store_pieces(pointer, size, start, self.transpose(chunk))

    def pieces(self, size: int) -> list[tuple[int, int]]:
        """Cut rows of ``size`` scalars: where each piece begins, and how many scalars it has.

        Half a vector each, so that loads and stores do what would swap the halves, which spares
        a shuffle in three. What is left over takes 128 bits, or overlaps the piece before it.
        """
        whole, least = self.lanes.piece, min(self.lanes.piece, 128 // self.lanes.bits)
        if size < least:
            return [(0, self.lanes.width)] if size else []
        if size < whole:
            return [(0, least), (size - least, least)][: 1 + (size > least)]
        starts = [(start, whole) for start in range(0, size - whole + 1, whole)]
        left = size % whole
        if left:
            piece = least if left <= least else whole
            starts.append((size - piece, piece))
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

    def _load_pieces(self, pointer: str, size: int, start: int, piece: int) -> list[str]:
        """Read a piece of each row; vector k has those of rows k, piece + k, ... side by side."""
        t = self.lanes
        vectors = []
        for k in range(piece):
            parts = [
                self._load(self.row_pointer(pointer, size, row, start), size, piece)
                for row in range(k, t.width, piece)
            ]
            while len(parts) > 1:
                parts = [
                    self._joined(a, b, t.width // len(parts))
                    for a, b in zip(parts[::2], parts[1::2], strict=True)
                ]
            vectors += parts
        return vectors

    def store_pieces(
        self, pointer: str, size: int, start: int, vectors: Sequence[str], *, joined: bool = False
    ) -> None:
        """Write the pieces of rows that `transpose` has made.

        Volatile ones LLVM leaves apart: to join halves of rows takes a shuffle, and spares a store,
        which pays where the rows do not stay in the nearest cache.
        """
        t, piece = self.lanes, len(vectors)
        for row in range(t.width):
            value, first = vectors[row % piece], row // piece * piece
            if piece < t.width:
                mask = ", ".join(f"i32 {k}" for k in range(first, first + piece))
                both = f"{t.vector} {value}, {t.vector} poison"
                value = self.let(f"shufflevector {both}, <{piece} x i32> <{mask}>")
            kind = "store" if joined else "store volatile"
            self._store(self.row_pointer(pointer, size, row, start), size, value, piece, kind)

    def _joined(self, a: str, b: str, width: int) -> str:
        kind = f"<{width} x {self.lanes.scalar}>"
        mask = ", ".join(f"i32 {k}" for k in range(2 * width))
        return self.let(f"shufflevector {kind} {a}, {kind} {b}, <{2 * width} x i32> <{mask}>")

    def _load(self, at: str, size: int, piece: int) -> str:
        t = self.lanes
        if size >= piece:
            return self.let(f"load <{piece} x {t.scalar}>, ptr {at}, align {t.itemsize}")
        return self.let(
            f"call {t.vector} @llvm.masked.load.{t.suffix}.p0(ptr align {t.itemsize} {at}, "
            f"{self._mask(size)}, {t.vector} zeroinitializer)"
        )

    def _store(self, at: str, size: int, value: str, piece: int, kind: str) -> None:
        t = self.lanes
        if size >= piece:
            vector = f"<{piece} x {t.scalar}>"
            self.do(f"{kind} {vector} {value}, ptr {at}, align {t.itemsize}")
            return
        self.do(
            f"call void @llvm.masked.store.{t.suffix}.p0({t.vector} {value}, "
            f"ptr align {t.itemsize} {at}, {self._mask(size)})"
        )

    def transpose(self, rows: Sequence[str]) -> list[str]:
        """Transpose every square block of as many lanes as there are vectors.

        The first steps stay inside 128-bit lanes, where a shuffle is one cheap instruction.
        """
        quads = self.lanes.bits == 32 and len(rows) >= 4
        v = self._transpose_quads(rows) if quads else list(rows)
        distance = 4 if quads else 1
        while distance < len(v):
            v = self._exchange(v, distance)
            distance *= 2
        return v

    def _exchange(self, rows: Sequence[str], d: int) -> list[str]:
        """Swap the off-diagonal blocks of size d in every block of size 2d."""
        n, v = self.lanes.width, list(rows)
        low = [k if not k & d else n + k - d for k in range(n)]
        high = [k + d if not k & d else n + k for k in range(n)]
        for i in range(len(v)):
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
        for i in range(0, len(v), 4):
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
