"""The base of both Copilot executors: the model's endpoint, the home folder, and the agent's environment."""

from pathlib import Path
from typing import ClassVar, Unpack

from ralph.executors.agent import NO_KEY, AgentExecutor, AgentOptions
from ralph.executors.base import BOUNDS, Bound
from ralph.types.choices import WireApi

LOOKING = ("glob", "grep", "rg", "view")
"""The tools of a turn that only looks. What they may read is the policy's."""

HOSTS = (
    *("api.github.com", "api.githubcopilot.com"),
    *(f"api.{plan}.githubcopilot.com" for plan in ("individual", "business", "enterprise")),
)
"""The hosts of Copilot itself, with a login."""

LOGINS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")


class CopilotExecutor(AgentExecutor):
    """The agent of GitHub Copilot, however it is reached.

    Args:
        program: see each executor.
        wire_api: the dialect of an OpenAI-compatible endpoint.
        options: those of `AgentExecutor`. Without an endpoint, `home` None is the user's own folder.

    Raises:
        UsageError: an endpoint without a model.
    """

    confines: frozenset[Bound] = BOUNDS
    logins: ClassVar[tuple[str, ...]] = LOGINS
    hosts: ClassVar[tuple[str, ...]] = HOSTS

    def __init__(
        self,
        program: Path | None = None,
        *,
        wire_api: WireApi = "completions",
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(program, **options)
        self.wire_api: WireApi = wire_api
        self.account = self.base_url or "github"
        self.measures = frozenset({"tokens"}) if self.base_url else frozenset({"tokens", "premium_requests"})

    @property
    def logs_in(self) -> bool:
        """True if the agent uses the user's login with GitHub; a key is an endpoint's."""
        return not self.base_url

    @property
    def key(self) -> str:
        """The endpoint's key."""
        return self.api_key or NO_KEY

    async def login_command(self) -> list[str]:
        """Return the login command of the Copilot CLI, and fetch the CLI where it is missing; the SDK has no login."""
        from ralph.executors.copilot.provision import program_name, provide_cli

        named = self.program if self.program and self.program.name == program_name() else None
        return [str(named or (await provide_cli(progress=self.progress)).path), "login"]

    def user_folders(self) -> list[Path]:
        return [Path.home() / ".copilot"]

    def unpacked(self) -> list[Path]:
        """Return the folders that the CLI runs from, which a sandbox has to open."""
        return [Path.home() / ".cache" / "copilot"]
