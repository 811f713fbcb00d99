"""The settings of the plug-in: the table `[plugins.claude]`."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

__all__ = ["ClaudeSettings", "SettingSource"]

SettingSource = Literal["user", "project", "local"]


class ClaudeSettings(BaseModel, frozen=True, extra="forbid"):
    """The options of Claude Code; the model, the endpoint and the permissions are in `[executor]`."""

    program: Path | None = Field(default=None, description="Claude Code; unset: the SDK's own.")
    home: Path | None = Field(
        default=None,
        description="Where it keeps its login and its sessions; unset: the user's own folder, or, with an endpoint, "
        "one that is removed after the run.",
    )
    sources: tuple[SettingSource, ...] = Field(
        default=(),
        description="Whose settings of Claude Code apply, with their hooks and MCP servers: user, project, local. The "
        "project's can run programs.",
    )
    retries: int = Field(default=2, ge=0, le=10, description="How often a failed request to the model is repeated.")
