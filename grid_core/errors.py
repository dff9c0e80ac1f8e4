"""Every error that Grid raises on purpose.

One root, `GridError`. Each class is also the built-in exception that a caller would expect,
so ``except ValueError`` around a call with bad arrays works. A message says what is wrong,
where (file, line, element, name, attribute; or operation and argument) and what to do.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "ArtifactCorrupt",
    "ArtifactError",
    "ArtifactIncompatible",
    "ArtifactMissing",
    "ArtifactOutdated",
    "BackendError",
    "BackendUnavailable",
    "CacheError",
    "CacheWarning",
    "ContractError",
    "DescriptionError",
    "DescriptorError",
    "DescriptorMismatch",
    "GridError",
    "HandleClosed",
    "InputError",
    "LoadRefused",
    "ModelError",
    "ModelWarning",
    "OperationNotLoaded",
    "OperationRefused",
    "OptionError",
    "PluginConflict",
    "PluginError",
    "PluginWarning",
    "TraceError",
    "UnknownAlgorithm",
    "UnknownName",
    "UnknownRobot",
]


class GridError(Exception):
    """Root of all errors raised by Grid."""

    def __str__(self) -> str:
        # KeyError's own __str__ shows the repr of its argument, quotes and all.
        return str(self.args[0]) if self.args else type(self).__name__


class ModelError(GridError, ValueError):
    """A robot description that cannot be read, or that describes no robot.

    Attributes:
        file: path or label of the document, or None.
        line: line of the offending element, counted from 1, or None.
        element: tag of the element, such as ``joint``.
        name: value of its (or its owner's) ``name`` attribute.
        attribute: name of the offending attribute.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        element: str | None = None,
        name: str | None = None,
        attribute: str | None = None,
    ) -> None:
        self.file = file
        self.line = line
        self.element = element
        self.name = name
        self.attribute = attribute
        self.reason = message
        super().__init__(self._compose())

    def _compose(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        subject = ""
        if self.element is not None:
            subject = f"<{self.element}>"
            if self.name is not None:
                subject += f" {self.name!r}"
            if self.attribute is not None:
                subject += f" attribute {self.attribute!r}"
        return ": ".join(part for part in (place, subject, self.reason) if part)


class ModelWarning(UserWarning):
    """A robot description that is usable but suspicious; the message names the element."""


class DescriptorError(GridError, ValueError):
    """A model descriptor that breaks a rule of its schema.

    Attributes:
        reason: what is wrong.
        where: the field, such as ``joints[2].axis``, or None.
        invariant: name of the broken rule, such as ``ownership``, or None.
        file: the descriptor's file, or None.
    """

    def __init__(
        self,
        reason: str,
        *,
        where: str | None = None,
        invariant: str | None = None,
        file: str | None = None,
    ) -> None:
        self.reason = reason
        self.where = where
        self.invariant = invariant
        self.file = file
        rule = None if invariant is None else f"[{invariant}]"
        parts = (f"{part}:" for part in (file, where) if part)
        super().__init__(" ".join([*parts, reason, *([rule] if rule else [])]))

    def in_file(self, file: str) -> DescriptorError:
        """Return the same error with the file named."""
        return DescriptorError(self.reason, where=self.where, invariant=self.invariant, file=file)


class DescriptionError(GridError, ValueError):
    """A robot-description directory, a calibration or another document beside it, at fault.

    Attributes:
        faults: every fault that was found, each with its file and key path.
    """

    def __init__(self, *faults: object) -> None:
        self.faults = tuple(str(fault) for fault in faults)
        super().__init__("\n".join(self.faults))


class LoadRefused(GridError, RuntimeError):
    """A program that was planned for another robot than the cell has.

    Attributes:
        mismatches: (field, the program's value, the cell's value) of each that differs.
    """

    def __init__(self, mismatches: tuple[tuple[str, str, str], ...]) -> None:
        self.mismatches = mismatches
        lines = [
            f"{field}: the plan has {plan}, the cell {cell}" for field, plan, cell in mismatches
        ]
        super().__init__("\n".join([*lines, "plan again with what the cell describes now"]))


class InputError(GridError, ValueError):
    """An array argument of the wrong width, rank, dtype or batch."""


class ArgumentError(GridError, TypeError):
    """A call with a missing, surplus or unknown argument, or one of a type that it cannot have."""


class OptionError(GridError, ValueError):
    """An option of unknown name or value."""


class UnknownName(GridError, KeyError):
    """A joint, link or frame name that the model does not have."""


class UnknownRobot(GridError, KeyError):
    """A robot name that was never registered."""


class UnknownAlgorithm(GridError, KeyError):
    """An algorithm, family or backend name that no plugin offers."""


class OperationNotLoaded(GridError, AttributeError):
    """An operation that exists, or may exist, but was not loaded into this handle."""


class OperationRefused(GridError, RuntimeError):
    """An operation that this model cannot have, such as M⁻¹ where M is singular."""


class HandleClosed(GridError, RuntimeError):
    """A handle used after `close`."""


class PluginError(GridError, RuntimeError):
    """A plugin that failed, with its provider named."""


class PluginConflict(PluginError):
    """Two plugins that claim one name."""


class ContractError(PluginError, ValueError):
    """A plugin's record that breaks the contract of `grid_core.algorithm`."""


class PluginWarning(UserWarning):
    """A plugin that was left out, with the reason."""


class TraceError(GridError, TypeError):
    """A program that does with symbolic scalars what they cannot do (branch on a value, say)."""


class BackendError(GridError, RuntimeError):
    """A backend that could not compile or run an operation."""


class BackendUnavailable(BackendError):
    """A backend that this machine cannot run; the message says what is missing."""


class CacheWarning(UserWarning):
    """A build cache that cannot be used: operations are compiled anew in every process."""


class CacheError(GridError, OSError):
    """A build cache that cannot be used (not writable, say)."""


class ArtifactError(GridError, RuntimeError):
    """A prepared artifact that cannot be built, read or used.

    Attributes:
        reason: what is wrong and what to do.
        directory: the artifact's folder.
        file: the file in it that is at fault, or None.
    """

    def __init__(self, reason: str, *, directory: object, file: str | None = None) -> None:
        self.reason = reason
        self.directory = str(directory)
        self.file = file
        place = self.directory if file is None else f"{self.directory}/{file}"
        super().__init__(f"{place}: {reason}")


class ArtifactMissing(ArtifactError):
    """A folder that is not there, or that is no prepared artifact."""


class ArtifactOutdated(ArtifactError):
    """A prepared artifact of another schema than this Grid reads; it is to be built again."""


class ArtifactCorrupt(ArtifactError, ValueError):
    """A prepared artifact whose files are not those that were built."""


class ArtifactIncompatible(ArtifactError):
    """A sound artifact without code for this processor, device or Grid."""


class DescriptorMismatch(ArtifactError, ValueError):
    """A model that is not the one expected, or a header of another model than its descriptor.

    Attributes:
        expected: the descriptor's identity that was wanted.
        found: the one that is there.
    """

    def __init__(
        self, reason: str, *, directory: object, file: str | None, expected: str, found: str
    ) -> None:
        self.expected = expected
        self.found = found
        super().__init__(reason, directory=directory, file=file)
