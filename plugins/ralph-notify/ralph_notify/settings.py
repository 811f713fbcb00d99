"""The settings of the plug-in: the table `[plugins.notify]`."""

import json
import re
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

__all__ = ["NotifySettings", "Occasion"]

Occasion = Literal[
    "run_started",
    "iteration_finished",
    "blocked",
    "verification_finished",
    "breaker_changed",
    "executor_fell_back",
    "protected_restored",
    "paused",
    "resumed",
    "run_finished",
]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,40}://.")


class NotifySettings(BaseModel, frozen=True, extra="forbid"):
    """The addresses to notify and the events to report. Each address is a `SecretStr`, because it contains secrets."""

    urls: tuple[SecretStr, ...] = Field(
        default=(), max_length=50, description="Where to send: Apprise addresses, such as ntfys://ntfy.sh/my-topic."
    )
    on: tuple[Occasion, ...] = Field(
        default=("blocked", "paused", "run_finished"),
        description="What to report: event types; blocked: the agent asks you a question or cannot continue alone.",
    )
    patience: float = Field(
        default=8.0,
        gt=0,
        le=9,
        description="Maximum wait at the end of a run for messages that are not sent yet, in seconds.",
    )

    @field_validator("urls", "on", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        """Split the text of an environment variable: a JSON list, or words."""
        if not isinstance(value, str):
            return value
        return json.loads(value) if value.lstrip().startswith("[") else value.split()

    @field_validator("urls")
    @classmethod
    def _are_addresses(cls, urls: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for number, url in enumerate(urls, 1):
            if not _ADDRESS.match(url.get_secret_value().strip().lower()):
                raise ValueError(f"number {number} is not an address of the form service://…")
        return urls
