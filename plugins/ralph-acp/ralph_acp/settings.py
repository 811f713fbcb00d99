"""The plug-in's own settings, `[plugins.acp]`. The model, the endpoint and what tools may do stand in `[executor]`."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, PositiveFloat

__all__ = ["AcpSettings"]


class AcpSettings(BaseModel, frozen=True, extra="forbid"):
    """Which agent is run, and how."""

    agent: Literal["copilot", "opencode", "gemini"] | None = Field(
        default=None, description="An agent that is known: copilot, opencode or gemini."
    )
    command: tuple[str, ...] = Field(
        default=(),
        description="What starts the agent in ACP mode; of one that is known, another program and its arguments. "
        "{model}, {base_url} and {api_key} stand for what [executor] says.",
    )
    env: dict[str, str] = Field(default={}, description="Variables for the agent, with the same placeholders.")
    home: Path | None = Field(
        default=None, description="Where a known agent keeps its sessions; unset: gone with the run."
    )
    files: bool = Field(default=True, description="Offer the agent to read and write the workspace's files for it.")
    terminals: bool = Field(default=True, description="Offer the agent to run commands for it.")
    start_timeout: PositiveFloat = Field(default=60.0, description="Seconds until the agent has to be ready.")
