"""Where errors and warnings about one document are made, so that all look alike."""

from __future__ import annotations

from attrs import define, field

from grid_core.errors import ModelError

__all__ = ["UNNAMED", "Report"]

UNNAMED = "<string>"
"""What a document is called that came as text."""


@define
class Report:
    """Errors and warnings about one document."""

    file: str
    """Path or label of the document, as it stands in every message."""
    strict: bool = False
    """Whether a suspicious description is refused rather than warned about."""
    warnings: list[str] = field(factory=list)
    """What is suspicious about the document, each once."""
    notes: list[str] = field(factory=list)
    """What a user should know although nothing in the document is wrong."""

    def error(
        self,
        message: str,
        *,
        line: int | None = None,
        element: str | None = None,
        name: str | None = None,
        attribute: str | None = None,
    ) -> ModelError:
        """Make, but do not raise, an error that says where."""
        return ModelError(
            message, file=self.file, line=line, element=element, name=name, attribute=attribute
        )

    def warn(
        self,
        message: str,
        *,
        line: int | None = None,
        element: str | None = None,
        name: str | None = None,
        attribute: str | None = None,
    ) -> None:
        """Note something suspicious.

        Raises:
            ModelError: at once, if the report is strict.
        """
        error = self.error(message, line=line, element=element, name=name, attribute=attribute)
        if self.strict:
            raise error
        if str(error) not in self.warnings:
            self.warnings.append(str(error))
