"""The settings of the plug-in: the table `[plugins.codex]`."""

from pathlib import Path

from pydantic import BaseModel, Field

__all__ = ["CodexSettings"]


class CodexSettings(BaseModel, frozen=True, extra="forbid"):
    """The options of Codex; the model, the endpoint and the permissions are in `[executor]`."""

    program: Path | None = Field(
        default=None, description="The Codex CLI, the native program; unset: fetched from npm once, a tested version."
    )
    home: Path | None = Field(
        default=None,
        description="CODEX_HOME, where Codex keeps its login and its sessions; unset: the user's own, or, with an "
        "endpoint or a key, a folder that is removed after the run.",
    )
    network: bool = Field(
        default=False, description="Whether the commands that the agent runs may use the network, also to push."
    )
    retries: int = Field(default=2, ge=0, le=10, description="How often a failed request to the model is repeated.")
