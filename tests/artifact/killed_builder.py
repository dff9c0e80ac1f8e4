"""A process that builds an artifact over and over in children, each killed one step later.

Steps are calls that change the disk, or ask for a lock. After each child, the place must hold all
of the old artifact or all of the new one. Prints how many steps there were.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from grid_core.artifact import prepared_build, prepared_publish
from grid_core.artifact.prepared_check import read_prepared
from tests.artifact.prepared import ARM, OTHER, build

CHANGES = ("mkdir", "write", "fsync", "rename", "unlink", "rmdir", "close")


class Killer:
    """Ends the process at a step."""

    def __init__(self, at: int) -> None:
        self._left = at

    def step(self) -> None:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Any) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            self.step()
            result = function(*args, **keywords)
            self.step()
            return result

        return call

    def arm(self) -> None:
        for name in CHANGES:
            setattr(os, name, self.around(getattr(os, name)))
        created = self.around(os.open)
        plain = os.open

        def opened(path: Any, flags: int, *args: Any, **keywords: Any) -> Any:
            function = created if flags & os.O_CREAT else plain
            return function(path, flags, *args, **keywords)

        os.open = opened
        fcntl.flock = self.around(fcntl.flock)
        prepared_publish.exchange = self.around(prepared_publish.exchange)


class Builders:
    """Builds of two robots at one place, what is slow about them done once, here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / "artifact"
        self.requests: dict[str, Any] = {}
        codes: list[tuple[Any, Any]] = []
        compile_plan, self._build = prepared_build.compile_plan, prepared_build._build

        def compiled(request: Any) -> Any:
            codes.append((request, compile_plan(request)))
            return codes[-1][1]

        prepared_build.compile_plan = compiled
        for name, text in {"old": ARM, "new": OTHER}.items():
            self._learn(name, text)
        prepared_build.compile_plan = lambda wanted: next(c for r, c in codes if r is wanted)
        self._names = {
            read_prepared(folder / name).manifest.content_id: name for name in self.requests
        }

    def _learn(self, name: str, text: str) -> None:
        def remember(where: Path, request: Any, expected: Any) -> Any:
            self.requests[name] = request
            return self._build(where, request, expected)

        prepared_build._build = remember
        build(self.folder / name, text, algorithm_list="crba", instruction_sets="x86-64-v3")

    def build(self, name: str) -> Any:
        return self._build(self.place, self.requests[name], None)

    def attempt(self, step: int) -> tuple[bool, str | None]:
        """Let a child build the new one; returns whether it was killed, and what is there."""
        child = os.fork()
        if child == 0:
            Killer(step).arm()
            self.build("new")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or os.WEXITSTATUS(status) == 0, f"step {step} ended with {status}"
        if not self.place.exists():
            return killed, None
        return killed, self._names[read_prepared(self.place).manifest.content_id]

    def kill_at_every_step(self, before: str | None) -> int:
        """Return the number of steps of a build over what was there before."""
        seen: list[str | None] = []
        killed = True
        while killed:
            shutil.rmtree(self.place, ignore_errors=True)
            if before is not None:
                shutil.copytree(self.folder / before, self.place)
            killed, found = self.attempt(len(seen))
            assert found in (before, "new"), f"step {len(seen)} over {before}: {found}"
            seen.append(found)
        assert (seen[0], seen[-1]) == (before, "new")
        # Once the new one is there it stays.
        assert seen == sorted(seen, key=lambda name: name == "new"), seen
        assert not self.left()
        return len(seen)

    def left(self) -> list[str]:
        return [p.name for p in self.folder.iterdir() if p.name.endswith(".part")]


def main(folder: Path) -> None:
    builders = Builders(folder)
    counts = [builders.kill_at_every_step(before) for before in (None, "old")]
    # What a killed builder leaves is deleted by the next one.
    builders.build("old")
    assert builders.attempt(counts[1] // 2) == (True, "old")
    assert builders.left()
    assert builders.build("old").reused  # which takes no lock, and so leaves it there
    assert builders.left()
    assert not builders.build("new").reused
    assert not builders.left()
    sys.stdout.write(" ".join(map(str, counts)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
