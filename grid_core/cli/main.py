"""The entry point ``grid``.

Next to nothing is imported before `main` is at work, so that Ctrl-C is answered from then on.
"""

from __future__ import annotations

import os
import sys

__all__ = ["generate", "main"]

_INTERRUPTED = 130  # grid_core.cli.guard is not imported yet


def main() -> None:
    """Run the command line; exits with its code."""
    _guarded(sys.argv[1:])


def generate() -> None:
    """Run ``grid-generate``, which is ``grid generate``."""
    _guarded(["generate", *sys.argv[1:]])


def _guarded(arguments: list[str]) -> None:
    try:
        _run(arguments)
    except KeyboardInterrupt:
        # During imports, or while another error was told: Click answers the rest.
        sys.stderr.write("interrupted\n")
        sys.exit(_INTERRUPTED)


def _run(arguments: list[str]) -> None:
    import contextlib  # noqa: PLC0415 - as all of these, within reach of main
    import io  # noqa: PLC0415

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it: >&-
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    from grid_core.cli.root import cli  # noqa: PLC0415

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal's encoding lacks is no reason to fail.
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="backslashreplace")
    cli(arguments, prog_name="grid")


if __name__ == "__main__":
    main()
