"""Everything that is wrong with some documents, collected, so that one look shows all of it."""

from __future__ import annotations

import re

from attrs import evolve, field, frozen

from grid_core.errors import DescriptionError

__all__ = ["Faults", "Place"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@frozen(eq=False)
class Faults:
    """A list that documents are read with."""

    found: list[str] = field(factory=list)

    def at(self, file: str) -> Place:
        """Return the top of a document."""
        return Place(self, file)

    def raise_any(self) -> None:
        """Raise `DescriptionError` with all faults, if there are any."""
        if self.found:
            raise DescriptionError(*dict.fromkeys(self.found))


@frozen(eq=False)
class Place:
    """One value of one document: its file and its path of keys."""

    faults: Faults
    file: str
    path: str = ""

    def key(self, name: str) -> Place:
        """Return the place of a member of this map."""
        plain = _PLAIN.fullmatch(name) is not None
        step = f".{name}" if plain else f"[{name!r}]"
        return evolve(self, path=(self.path + step).removeprefix("."))

    def item(self, number: int) -> Place:
        """Return the place of an element of this list."""
        return evolve(self, path=f"{self.path}[{number}]")

    def fault(self, reason: str) -> None:
        """Note that something is wrong here."""
        where = f"{self.file}: {self.path}" if self.path else self.file
        self.faults.found.append(f"{where}: {reason}")
