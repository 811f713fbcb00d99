"""The plug-in's own settings, `[plugins.acp]`. The model, the endpoint and what tools may do stand in `[executor]`."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, PositiveFloat

__all__ = ["AcpSettings"]


class AcpSettings(BaseModel, frozen=True, extra="forbid"):
    """The agent that is run, and its options."""

    agent: Literal["copilot", "opencode", "gemini"] | None = Field(
        default=None, description="A known agent: copilot, opencode or gemini."
    )
    command: tuple[str, ...] = Field(
        default=(),
        description="Starts the agent in ACP mode; for a known agent, another program with its arguments. "
        "{model}, {base_url} and {api_key} are filled in from [executor].",
    )
    env: dict[str, str] = Field(default={}, description="Variables for the agent, with the same placeholders.")
    home: Path | None = Field(
        default=None, description="Where a known agent keeps its sessions; unset: removed after the run."
    )
    files: bool = Field(default=True, description="Offer to read and write the workspace's files for the agent.")
    terminals: bool = Field(default=True, description="Offer to run commands for the agent.")
    start_timeout: PositiveFloat = Field(default=60.0, description="Seconds within which the agent must be ready.")
