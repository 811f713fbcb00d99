"""The plug-in: what Ralph is told of it. Nothing heavy is loaded before it is asked for."""

from typing import TYPE_CHECKING

from ralph.plugins import hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["ralph_settings"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    from ralph_grounding.settings import GroundingSettings

    return GroundingSettings
