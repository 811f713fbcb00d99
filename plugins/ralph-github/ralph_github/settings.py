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
        default=None, description="As whom; unset: GITHUB_TOKEN or GH_TOKEN of the environment, else as nobody."
    )
    api: str = Field(
        default="https://api.github.com",
        description="The address of the REST interface; GitHub Enterprise's is https://HOST/api/v3.",
    )
    report: Literal["none", "comment", "pull-request"] = Field(
        default="none",
        description="What is told on the issue that the task is from: nothing; one comment, edited in place; or a "
        "draft pull request, too, when the run has completed.",
    )
    every: float = Field(default=300.0, ge=10, description="Seconds between two edits of the comment, at least.")
    patience: float = Field(
        default=8.0, gt=0, le=9, description="Seconds that the end of a run waits at most for what is not sent yet."
    )

    @field_validator("api")
    @classmethod
    def _is_safe(cls, api: str) -> str:
        if not _API.fullmatch(api):
            raise ValueError("it is an https address without user, query or fragment; http does on this machine alone")
        return api

    def secret(self) -> str | None:
        """The token that counts; None without one."""
        if self.token is not None:
            return self.token.get_secret_value().strip() or None
        return next(
            (value for name in ("GITHUB_TOKEN", "GH_TOKEN") if (value := os.environ.get(name, "").strip())), None
        )
