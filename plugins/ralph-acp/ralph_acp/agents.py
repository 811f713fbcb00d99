"""The agents that are known by name: how each is started, and where it differs from the protocol.

Each was tried against a scripted endpoint unless the README says otherwise.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.errors import ExecutorUnavailableError
from ralph.executors import NO_KEY, find_program
from ralph.system.files import read_regular

if TYPE_CHECKING:
    from ralph.executors import Progress

__all__ = ["AGENTS", "Agent", "Copilot", "Endpoint", "Gemini", "OpenCode", "filled"]

_SHORT_KEY = 12
"""Copilot hides the key wherever it occurs, names of fields included: one that is shorter goes as a header."""

_RETRY_AFTER = re.compile(rb'"http_status":429[^\n}]{0,500}?"retry_after_ms":(\d{1,12})')
_LOG_TAIL = 65_536


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The model that answers, as in `[executor]`.

    Attributes:
        url: OpenAI-compatible; None for the agent's own provider and login.
        wire_api: the endpoint's dialect, "completions" or "responses".
    """

    model: str | None = None
    url: str | None = None
    key: str | None = None
    headers: Mapping[str, str] | None = None
    wire_api: str = "completions"


class Agent:
    """An agent that keeps to the protocol. Subclass it for one that has to be configured for its model.

    Attributes:
        name: in messages.
        program: what is looked for on PATH.
        arguments: what puts it into its ACP mode.
        install: how the user installs it.
        logins: the variables that it may need to log in, passed on although they look secret.
        counts: whether the usage it reports is that of the turn, so that a limit on tokens can be kept.
        fails_silently: a turn without usage is one that failed, whatever it says.
        notices: how messages begin that are not the model's.
    """

    name: str = "agent"
    program: str = ""
    arguments: tuple[str, ...] = ()
    install: str = "Install it, or name the right program in plugins.acp.command."
    logins: tuple[str, ...] = ()
    counts: bool = False
    fails_silently: bool = False
    notices: tuple[str, ...] = ()

    def command(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> list[str]:
        """Return what is added to the program's own arguments.

        Args:
            endpoint: the model that answers.
            home: where sessions are kept; None for the user's own folder.
            read_only: the turn only looks.
        """
        return []

    def environment(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> dict[str, str]:
        """Return the variables that the agent needs besides the inherited ones."""
        return {}

    def places(self) -> list[Path]:
        """Return the user's folders that the agent writes to; a sandbox has to open them."""
        return []

    def hosts(self) -> Sequence[str]:
        """Return the hosts of its own provider, which a sandbox lets it reach."""
        return ()

    def retry_after(self, home: Path | None) -> float | None:
        """Return the wait that the provider asked for at the last rate limit, if the agent only logs it; in seconds."""
        return None

    async def found(self, progress: "Progress | None" = None) -> list[str]:
        """Return the program with its arguments.

        Raises:
            ExecutorUnavailableError: it is not there.
        """
        if path := find_program(self.program):
            return [path, *self.arguments]
        raise ExecutorUnavailableError(f"There is no {self.program!r} on PATH to run {self.name} with.", self.install)

    async def present(self) -> str:
        """Return where the program is, or how it gets there; raises as `found` does. Nothing is fetched."""
        return (await self.found())[0]


class Copilot(Agent):
    """The Copilot CLI. It ends a failed turn as if it had succeeded, says so in a message, and reports no usage."""

    name = "Copilot"
    program = "copilot"
    arguments = ("--acp", "--no-auto-update")
    logins = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
    counts = True
    fails_silently = True
    notices = ("Info: ",)

    async def found(self, progress: "Progress | None" = None) -> list[str]:
        from ralph.executors import provide_cli

        cli = await provide_cli(progress=progress)
        return [str(cli.path), *self.arguments]

    async def present(self) -> str:
        from ralph.executors import present_cli

        cli = await present_cli()
        return str(cli.path) if cli else "not here yet; the first run fetches it"

    def command(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> list[str]:
        logs = ("--log-level", "warning", "--log-dir", str(home / "logs")) if home else ()
        looking = ("--available-tools=view,grep,glob", "--disable-builtin-mcps")
        return [*logs, *(looking if read_only else ())]

    def environment(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> dict[str, str]:
        env = {"COPILOT_AUTO_UPDATE": "false", "COPILOT_ALLOW_ALL": "false"}
        if endpoint.model:
            env["COPILOT_MODEL"] = endpoint.model
        if home:
            env["COPILOT_HOME"] = str(home)
        if not endpoint.url:
            return env
        headers, key = dict(endpoint.headers or {}), endpoint.key or NO_KEY
        if len(key) < _SHORT_KEY:
            headers["Authorization"], key = f"Bearer {key}", NO_KEY
        return env | {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_BASE_URL": endpoint.url,
            "COPILOT_PROVIDER_API_KEY": key,
            "COPILOT_PROVIDER_API_KEY_COMMAND": "",
            "COPILOT_PROVIDER_BEARER_TOKEN": "",
            "COPILOT_PROVIDER_WIRE_API": endpoint.wire_api,
            "COPILOT_PROVIDER_HEADERS": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        }

    def places(self) -> list[Path]:
        return [Path.home() / ".copilot", Path.home() / ".cache" / "copilot"]

    def hosts(self) -> Sequence[str]:
        from ralph.executors import CopilotCLIExecutor

        return CopilotCLIExecutor.hosts

    def retry_after(self, home: Path | None) -> float | None:
        try:
            newest = max((home / "logs").glob("*.log"), key=lambda log: log.lstat().st_mtime) if home else None
            if newest is None:
                return None
            start = max(0, newest.lstat().st_size - _LOG_TAIL)
            waits = _RETRY_AFTER.findall(read_regular(newest, _LOG_TAIL, offset=start))
        except (OSError, ValueError):
            return None
        return int(waits[-1]) / 1000 if waits else None


class OpenCode(Agent):
    """OpenCode. Its usage is that of the last call to the model alone, so it is not counted."""

    name = "OpenCode"
    program = "opencode"
    arguments = ("acp",)
    install = "Install it with `npm install -g opencode-ai`, or name the program in plugins.acp.command."

    def environment(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> dict[str, str]:
        asked = "deny" if read_only else "ask"
        permission = dict.fromkeys(("edit", "bash", "webfetch"), asked) | {"external_directory": "ask"}
        if read_only:
            permission |= {"task": "deny", "websearch": "deny"}
        config: dict[str, object] = {"autoupdate": False, "share": "disabled", "permission": permission}
        if endpoint.url:
            config |= self._provider(endpoint)
        elif endpoint.model:
            config["model"] = endpoint.model
        folders = {"XDG_DATA_HOME": str(home / "data"), "XDG_STATE_HOME": str(home / "state")} if home else {}
        offline = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"} if endpoint.url else {}
        looking = {"OPENCODE_DISABLE_PROJECT_CONFIG": "1"} if read_only else {}
        inline = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
        return {**inline, **folders, **offline, **looking}

    def _provider(self, endpoint: Endpoint) -> dict[str, object]:
        model = f"local/{endpoint.model}"
        options = {"baseURL": endpoint.url, "apiKey": endpoint.key or NO_KEY, "headers": dict(endpoint.headers or {})}
        local = {
            "npm": "@ai-sdk/openai-compatible",
            "options": options,
            "models": {str(endpoint.model): {"limit": {"context": 128_000, "output": 8_192}}},
        }
        return {
            "model": model,
            "small_model": model,
            "enabled_providers": ["local"],
            "provider": {"local": local},
        }

    def places(self) -> list[Path]:
        home = Path.home()
        return [home / ".local/share/opencode", home / ".local/state/opencode", home / ".cache/opencode"]


class Gemini(Agent):
    """The Gemini CLI, with the user's own login. An endpoint has to speak Gemini's own dialect."""

    name = "Gemini CLI"
    program = "gemini"
    arguments = ("--acp", "--skip-trust")
    install = "Install it with `npm install -g @google/gemini-cli`, or name the program in plugins.acp.command."
    logins = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    def command(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> list[str]:
        return ["-m", endpoint.model] if endpoint.model else []

    def environment(self, endpoint: Endpoint, home: Path | None, *, read_only: bool) -> dict[str, str]:
        own = {"GOOGLE_GEMINI_BASE_URL": endpoint.url, "GEMINI_API_KEY": endpoint.key or NO_KEY} if endpoint.url else {}
        return {"GEMINI_CLI_NO_RELAUNCH": "true", **own}

    def places(self) -> list[Path]:
        return [Path.home() / ".gemini"]

    def hosts(self) -> Sequence[str]:
        return ("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com")


AGENTS: Mapping[str, type[Agent]] = {"copilot": Copilot, "gemini": Gemini, "opencode": OpenCode}
"""By the names that `[plugins.acp] agent` takes."""


def filled(words: Sequence[str], endpoint: Endpoint) -> list[str]:
    """Return the words with the placeholders for the endpoint filled in; other braces stay."""
    values = {"{model}": endpoint.model, "{base_url}": endpoint.url, "{api_key}": endpoint.key}
    return [_filled(word, values) for word in words]


def _filled(word: str, values: Mapping[str, str | None]) -> str:
    for placeholder, value in values.items():
        word = word.replace(placeholder, value or "")
    return os.path.expanduser(word) if word.startswith("~/") else word  # noqa: PTH111 - a word, not always a path
