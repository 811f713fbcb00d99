"""The settings of the plug-in: the table `[plugins.github]`."""

import os
import re
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

__all__ = ["GitHubSettings"]

_API = re.compile(r"https://[^\s/@?#]+(?:/[^\s?#]*)?|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/[^\s?#]*)?")


class GitHubSettings(BaseModel, frozen=True, extra="forbid"):
    """The access to GitHub, and what Ralph reports there."""

    token: SecretStr | None = Field(
        default=None, description="The token; without it, the variable GITHUB_TOKEN or GH_TOKEN."
    )
    api: str = Field(
        default="https://api.github.com",
        description="Address of the REST API; for GitHub Enterprise, https://HOST/api/v3.",
    )
    report: Literal["none", "comment", "pull-request"] = Field(
        default="none",
        description="What to report on the task's issue: nothing; one comment, edited in place; or also a draft pull "
        "request when the run has completed.",
    )
    every: float = Field(default=300.0, ge=10, description="Minimum time between two edits of the comment, in seconds.")
    patience: float = Field(
        default=8.0,
        gt=0,
        le=9,
        description="Maximum wait at the end of a run for reports that are not sent yet, in seconds.",
    )

    @field_validator("api")
    @classmethod
    def _is_safe(cls, api: str) -> str:
        if not _API.fullmatch(api):
            raise ValueError(
                "use an https address without user, query or fragment; http is only valid for this machine"
            )
        return api

    def secret(self) -> str | None:
        """Return the token from the settings or else from the environment; None without one."""
        if self.token is not None:
            return self.token.get_secret_value().strip() or None
        return next(
            (value for name in ("GITHUB_TOKEN", "GH_TOKEN") if (value := os.environ.get(name, "").strip())), None
        )
