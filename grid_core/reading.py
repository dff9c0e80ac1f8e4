"""From what `load_robot` is given to a robot model, by the model source that takes it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grid_core.assets import asset_names
from grid_core.errors import GridError, ModelError, OptionError, PluginConflict, PluginError
from grid_core.model.types import RobotModel
from grid_core.plugins.catalogue import failures_note
from grid_core.wording import listing

if TYPE_CHECKING:
    from grid_core.load_options import LoadOptions
    from grid_core.model.source import ModelSource
    from grid_core.plugins import Offer, PluginManager

__all__ = ["read_model", "require_one_source"]

URDF_TEXT = "urdf-text"
"""The model source that `urdf_string` goes to."""


def require_one_source(source: object, urdf_string: object) -> None:
    """Raise `OptionError` unless exactly one of the two is given, as text or a path."""
    if source is None and urdf_string is None:
        raise OptionError("nothing to load: give the path of a URDF, or its text as urdf_string")
    if source is not None and urdf_string is not None:
        raise OptionError(f"two robots to load: both {_show(source)} and urdf_string are given")
    if urdf_string is not None and not isinstance(urdf_string, str | bytes):
        raise OptionError(f"urdf_string must be text; got {type(urdf_string).__name__}")


def read_model(
    source: object, urdf_string: str | bytes | None, options: LoadOptions, plugins: PluginManager
) -> RobotModel:
    """Read the robot, or pass on a model that was read already.

    Raises:
        OptionError: no model source takes it.
        PluginConflict: several model sources take it.
        ModelError: it describes no robot.
        PluginError: a model source failed.
    """
    if isinstance(source, RobotModel):
        if options.floating_base != source.floating_base:
            kind = "floating" if source.floating_base else "fixed"
            raise OptionError(
                f"floating_base={options.floating_base}: the model {source.name!r} was read with "
                f"a {kind} base"
            )
        _refuse_calibration(options, "a model that was read already")
        return source
    if urdf_string is not None:
        offer, source = plugins.model_sources.take(URDF_TEXT), urdf_string
    else:
        offer = _source_for(source, plugins)
    keywords: dict[str, Any] = {}
    if offer.value.takes_calibration:
        keywords["calibration"] = options.calibration
    else:
        _refuse_calibration(options, offer.value.summary)
    try:
        model = offer.value.load(
            source, floating_base=options.floating_base, strict=options.strict, **keywords
        )
    except ModelError as error:
        hint = _name_hint(source)
        if hint:
            raise ModelError(f"no such file; {hint}", file=str(source)) from error
        raise
    except (GridError, Warning):
        raise
    except Exception as error:
        raise PluginError(
            f"the model source {offer.value.name!r} of {offer.provider} failed on "
            f"{_show(source)}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(model, RobotModel):
        raise PluginError(
            f"the model source {offer.value.name!r} of {offer.provider} returned a "
            f"{type(model).__name__}, not a RobotModel"
        )
    return model


def _name_hint(source: object) -> str | None:
    """Say how to load what is no path but the name of a robot that Grid knows."""
    # The registry loads robots with this module.
    from grid_core.registry import list_registered  # noqa: PLC0415

    if not isinstance(source, str) or source not in {*list_registered(), *asset_names()}:
        return None
    if Path(source).exists():
        return None
    if source in list_registered():
        return f"{source!r} is a registered robot: grid_core.get_robot({source!r}) loads it"
    return f"{source!r} comes with Grid: its path is grid_core.assets.asset_path({source!r})"


def _refuse_calibration(options: LoadOptions, what: str) -> None:
    if options.calibration is not None:
        raise OptionError(
            f"calibration is for a robot-description directory; this is {what}, which has none"
        )


def _source_for(source: object, plugins: PluginManager) -> Offer[ModelSource]:
    found = [name for name in plugins.model_sources.names if _accepts(plugins, name, source)]
    if not found:
        known = [
            f"{name} ({offers[0].value.summary})"
            for name, offers in sorted(plugins.model_sources.claims.items())
        ]
        note = failures_note(plugins.records, "grid_model_sources")
        if isinstance(source, str | os.PathLike) and not Path(source).exists():
            raise ModelError(f"no such file{note}", file=str(source))
        raise OptionError(
            f"no model source takes {_show(source)}; there are {listing(known)}{note}"
        )
    if len(found) > 1:
        raise PluginConflict(
            f"{_show(source)} is taken by the model sources {listing(found)}; uninstall the "
            "plugin of all but one"
        )
    return plugins.model_sources.take(found[0])


def _accepts(plugins: PluginManager, name: str, source: object) -> bool:
    # A name with two claims is asked of the first; `take` then refuses it.
    offer = plugins.model_sources.claims[name][0]
    try:
        return bool(offer.value.accepts(source))
    except Exception as error:
        raise PluginError(
            f"the model source {name!r} of {offer.provider} could not tell whether it takes "
            f"{_show(source)}: {type(error).__name__}: {error}"
        ) from error


def _show(source: object) -> str:
    text = repr(os.fspath(source)) if isinstance(source, os.PathLike) else repr(source)
    return text if len(text) <= 100 else f"{text[:97]}..."
