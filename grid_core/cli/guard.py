"""Running a command so that whatever goes wrong becomes a line and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from typing import TYPE_CHECKING

import click
from attrs import define, field

from grid_core import errors
from grid_core.errors import GridError
from grid_core.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "EXIT_CLOSED",
    "EXIT_ERROR",
    "EXIT_INTERRUPTED",
    "EXIT_UNEXPECTED",
    "OutputClosed",
    "Session",
    "guarded",
    "telling_closed_pipes",
]

EXIT_UNEXPECTED = 1
"""A check that failed, or an error that nobody foresaw."""
EXIT_ERROR = 2
"""A `GridError`, or a command line that cannot be understood."""
EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells count it."""
EXIT_CLOSED = 141
"""Who read the output went away, as shells count it."""

_OWN_WARNINGS = tuple(
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Warning)
)
_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""Click's answer to a group without a command; older ones print the help themselves."""


class OutputClosed(Exception):
    """Who read the output went away; no `OSError`, for Click would exit with 1."""


@contextlib.contextmanager
def telling_closed_pipes() -> Iterator[None]:
    """Turn a broken pipe into `OutputClosed`."""
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed from error


@define
class Session:
    """What holds for one run of the command line."""

    debug: bool = False
    """Whether errors come with their traceback."""
    provider: str | None = None
    """Whose plugin the command is from; None for Grid's own."""
    shown: set[str] = field(factory=set)
    """Warnings that were shown already."""

    def warn(self, text: str) -> None:
        """Show a warning on stderr, once."""
        if text not in self.shown:
            self.shown.add(text)
            _say(click.style("warning:", fg="yellow"), text)

    def fail(self, text: str, error: BaseException) -> None:
        """Show an error on stderr, with its traceback if that is asked for."""
        if self.debug:
            click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        _say(click.style("error:", fg="red"), text)


def _say(label: str, text: str) -> None:
    click.echo(f"{label} {printable(text, keep=chr(10))}", err=True)


def guarded(run: Callable[[], object], session: Session) -> int:
    """Run a command and return the exit code."""
    try:
        with _warnings_as_lines(session):
            code = _run(run, session)
    except (OutputClosed, BrokenPipeError):
        code = EXIT_CLOSED
    # Here, for the interpreter would do it with a traceback.
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError as error:
            _silence(stream)
            if code == 0:
                code = EXIT_CLOSED if isinstance(error, BrokenPipeError) else EXIT_UNEXPECTED
    return code


def _run(run: Callable[[], object], session: Session) -> int:
    try:
        result = run()
    except click.Abort:
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except click.UsageError as error:
        _show_usage(error, session)
        return EXIT_ERROR
    except (OutputClosed, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - users get a line, --debug the rest
        text, code = _explain(error, session)
        session.fail(text, error)
        return code
    # Click returns the code of an early exit, such as that of --help.
    return result if isinstance(result, int) else 0


def _explain(error: Exception, session: Session) -> tuple[str, int]:
    """Return what to tell the user, and the exit code."""
    if isinstance(error, click.ClickException):
        return error.format_message(), EXIT_ERROR
    if isinstance(error, GridError):
        return str(error), EXIT_ERROR
    if isinstance(error, MemoryError):
        return f"not enough memory: {error or 'the batch is too large'}", EXIT_ERROR
    where = f"the command of {session.provider} failed: " if session.provider else "unexpected "
    hint = "" if session.debug else "; --debug shows where"
    return f"{where}{type(error).__name__}: {error}{hint}", EXIT_UNEXPECTED


def _show_usage(error: click.UsageError, session: Session) -> None:
    """Show how the command is called and what is wrong; or the help, where nothing was asked."""
    if isinstance(error, _NO_ARGUMENTS):
        error.show()
        return
    if error.ctx is not None:
        click.echo(error.ctx.get_usage(), err=True)
        click.echo(f"Try '{error.ctx.command_path} --help' for help.\n", err=True)
    session.fail(error.format_message(), error)


@contextlib.contextmanager
def _warnings_as_lines(session: Session) -> Iterator[None]:
    """Show what Grid warns about as lines of text, never as lines of source code."""

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        own = issubclass(category, _OWN_WARNINGS)
        session.warn(str(message) if own else f"{category.__name__}: {message}")

    with warnings.catch_warnings():
        for category in _OWN_WARNINGS:
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def _silence(stream: object) -> None:
    """Let the interpreter flush the rest of the output to nowhere when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[attr-defined]
