"""Options that take lists with commas, and may be given several times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import click

__all__ = ["comma_list"]


def comma_list(one: Any) -> Callable[[click.Context, click.Parameter, Sequence[str]], Any]:
    """Return an option's callback that reads lists, without what is there twice.

    Args:
        one: click's type of a single value.
    """

    def read(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> Any:
        parts = [part.strip() for text in given for part in text.split(",")]
        return tuple(dict.fromkeys(one.convert(part, param, ctx) for part in parts))

    return read
