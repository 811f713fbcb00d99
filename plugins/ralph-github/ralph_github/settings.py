"""The settings of the plug-in: the table `[plugins.github]`."""

import os
import re
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

__all__ = ["GitHubSettings"]

_API = re.compile(r"https://[^\s/@?#]+(?:/[^\s?#]*)?|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/[^\s?#]*)?")


class GitHubSettings(BaseModel, frozen=True, extra="forbid"):
    """Where GitHub is, as whom, and what is reported there."""

    token: SecretStr | None = Field(
        default=None, description="The token; unset: GITHUB_TOKEN or GH_TOKEN of the environment, otherwise none."
    )
    api: str = Field(
        default="https://api.github.com",
        description="The address of the REST interface; GitHub Enterprise's is https://HOST/api/v3.",
    )
    report: Literal["none", "comment", "pull-request"] = Field(
        default="none",
        description="What to report on the task's issue: nothing; one comment, edited in place; or a draft pull "
        "request, too, once the run has completed.",
    )
    every: float = Field(default=300.0, ge=10, description="The fewest seconds between two edits of the comment.")
    patience: float = Field(
        default=8.0, gt=0, le=9, description="The most seconds that the end of a run waits for what is not sent yet."
    )

    @field_validator("api")
    @classmethod
    def _is_safe(cls, api: str) -> str:
        if not _API.fullmatch(api):
            raise ValueError("write an https address without user, query or fragment; http is for this machine only")
        return api

    def secret(self) -> str | None:
        """The token that counts; None without one."""
        if self.token is not None:
            return self.token.get_secret_value().strip() or None
        return next(
            (value for name in ("GITHUB_TOKEN", "GH_TOKEN") if (value := os.environ.get(name, "").strip())), None
        )
