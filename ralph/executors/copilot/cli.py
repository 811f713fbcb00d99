"""The Copilot CLI as an executor: one process for each turn.

Override points, for a subclass:

command(prompt, turn)
    The command line; the prompt comes on its standard input.
environment(turn)
    The environment of the CLI and so of the agent's shells.
classify(ending)
    The failure that the end of a turn means, or None.

The CLI's exit status says little: it is 0 after SIGTERM, and after a turn that was denied everything. A turn has
succeeded when the status is 0, the CLI reports a result of 0, nothing was aborted or failed, and the agent answered.
"""

import os
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from ralph.errors import ExecutorUnavailableError
from ralph.executors.base import Turn, within_time
from ralph.executors.copilot.events import classify_failure
from ralph.executors.copilot.flags import permission_flags
from ralph.executors.copilot.provision import provide_cli
from ralph.executors.copilot.together import LOOKING, NO_KEY, CopilotExecutor
from ralph.executors.copilot.turn import Ending, Listener
from ralph.executors.copilot.usage import SessionLog, UsageMeter
from ralph.executors.copilot.what_the_shell import LEGACY, ask
from ralph.executors.endings import how_it_ended
from ralph.prompt import Prompt
from ralph.system.process import ProgramMissingError, spawn
from ralph.types.output import Answered, Failed, Outcome, Output

__all__ = ["CopilotCLIExecutor", "Ending"]

_SHORT_KEY = 12
"""The CLI hides the key wherever it occurs in what it prints, names of JSON fields included; a key that short may
occur there, and goes as a header instead, which the CLI does not look at.
"""


class CopilotCLIExecutor(CopilotExecutor):
    """Runs the agent of GitHub Copilot through its command line program.

    Args:
        program: the native program, not npm's script; None to find or fetch one.
        mode: "what-the-shell" asks the deprecated `github-copilot-cli` for a command; `program` is then that one.
        options: those of `CopilotExecutor`; `ralph.executors.copilot.flags` tells how far the CLI keeps `permissions`.

    Attributes:
        start_limit: how long, in seconds, until the CLI's first sign of life; without a home folder or cache that it
            can write to, it would be silent for ever.

    Raises:
        UsageError: an endpoint without a model, or a policy that the CLI cannot keep.
    """

    name: ClassVar[str] = "copilot-cli"
    start_limit: float = 60.0

    def __init__(
        self, program: Path | None = None, *, mode: Literal["prompt", "what-the-shell"] = "prompt", **options: Any
    ) -> None:
        super().__init__(program, **options)
        self.mode: Literal["prompt", "what-the-shell"] = mode
        self._meter = UsageMeter()
        if mode == "what-the-shell":
            self.measures = frozenset()
        permission_flags(self.permissions, Path("/"))

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        """The command line, without where the log and the usage go, which is added to it.

        The prompt is not in it: it would not fit. The session is taken up where the CLI knows it, and begun if not.
        """
        return [
            str(self._program),
            *("--output-format", "json", "--no-ask-user", "--no-auto-update", "--no-color"),
            *("--session-id", turn.transcript.session_id or ""),
            *self._flags(turn),
        ]

    def _flags(self, turn: Turn) -> list[str]:
        if not turn.read_only:
            return permission_flags(self.policy(turn), turn.workspace)
        looking = permission_flags(self.policy(turn), turn.workspace, readers=LOOKING)
        return [*looking, "--no-custom-instructions"]

    def environment(self, turn: Turn) -> dict[str, str]:
        """The whole environment. With an endpoint of one's own, the CLI talks to nobody else."""
        env = {**self.passed_on(), "COPILOT_AUTO_UPDATE": "false", "COPILOT_ALLOW_ALL": "false"}
        if self.model:
            env["COPILOT_MODEL"] = self.model
        if self.home:
            env["COPILOT_HOME"] = str(self.home)
        return env | self._provider() if self.base_url else env

    def classify(self, ending: Ending) -> Failed | None:
        """The failure that an ending means; None for a turn that succeeded."""
        if ending.failure:
            return ending.failure
        said = " ".join(ending.complaint.split())[:300]
        if ending.code is not None and ending.code < 0:
            return _crashed(how_it_ended(ending.code), said)
        if not ending.spoke and ending.code != 0 and (guess := classify_failure(said)).failure == "auth":
            return guess
        if ending.code != 0:
            return _crashed(how_it_ended(ending.code), said or ("" if ending.spoke else _SILENT))
        if ending.result is None:
            return Failed(failure="protocol", message=f"The CLI ended without a result. {said}".strip())
        if ending.result != 0:
            return _crashed(f"reported the result {ending.result}", said)
        return None if ending.answered else Failed(failure="protocol", message="The agent gave no answer.")

    async def start(self) -> None:
        await self.confinement.require()
        if self.mode == "what-the-shell":
            self._program = _legacy_program(self._program)
        elif self._program is None:
            self._program = await self._provided()
        if not os.access(self._program, os.X_OK):
            raise ExecutorUnavailableError(
                f"There is no Copilot CLI that can be run at {str(self._program)!r}.",
                "Correct or remove the setting executor.cli_path; `ralph doctor` shows what is there.",
            )

    async def _provided(self) -> Path:
        found = await provide_cli(progress=self._progress)
        if found.takes_prompts:
            return found.path
        raise ExecutorUnavailableError(
            f"{str(found.path)!r} is only the runtime for the SDK, not the whole CLI.",
            "Use the executor copilot-sdk, or install the Copilot CLI; `ralph doctor` explains how.",
        )

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        transcript = turn.transcript
        transcript.executor, transcript.model = self.name, self.model
        if self.mode == "what-the-shell":
            return transcript.finish(await ask(self._program or Path(LEGACY), prompt.text, turn))
        transcript.session_id = turn.session_id or str(uuid.uuid4())
        with tempfile.TemporaryDirectory(prefix="ralph-turn-", ignore_cleanup_errors=True) as folder:
            return transcript.finish(await self._converse(prompt, turn, Path(folder)))

    async def _converse(self, prompt: Prompt, turn: Turn, folder: Path) -> Outcome:
        files = ["--usage-output-file", f"{folder}/usage.json", "--log-level", "warning", "--log-dir", f"{folder}/logs"]
        environment = self.environment(turn)
        session = SessionLog(_session_log(environment, turn.transcript.session_id or ""))
        listener = Listener(turn.transcript, folder / "logs", session, self.start_limit)
        try:
            argv = self.confined([*self.command(prompt, turn), *files], turn.workspace, folder)
            async with spawn(argv, cwd=turn.workspace, env=environment) as program:
                try:
                    timed_out = await within_time(turn, partial(listener.follow, program, prompt.text))
                finally:
                    if turn.transcript.did_something:
                        program.suspected()
        except ProgramMissingError as error:
            return Failed(failure="unavailable", message=str(error))
        finally:
            self._measure(turn, folder / "usage.json", session, listener.calls)
            turn.transcript.diagnostics = listener.complaint
        return timed_out or self.classify(listener.ending(program.code)) or Answered()

    def _measure(self, turn: Turn, path: Path, log: SessionLog, calls: int) -> None:
        session, begun_here = turn.transcript.session_id or "", turn.session_id is None or self._own_home is not None
        turn.transcript.used(log.more())
        turn.transcript.used(self._meter.read(path, session, calls=calls, begun_here=begun_here, counted=log.counted))

    def _provider(self) -> dict[str, str]:
        headers = dict(self._headers)
        if len(self._api_key) < _SHORT_KEY:
            headers["Authorization"] = f"Bearer {self._api_key}"
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": self.base_url or "",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": NO_KEY if "Authorization" in headers else self._api_key,
            "COPILOT_PROVIDER_API_KEY_COMMAND": "",
            "COPILOT_PROVIDER_BEARER_TOKEN": "",
            "COPILOT_PROVIDER_WIRE_API": self._wire_api,
            "COPILOT_PROVIDER_HEADERS": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        }


def _session_log(environment: Mapping[str, str], session_id: str) -> Path:
    home = Path(environment.get("COPILOT_HOME") or Path.home() / ".copilot")
    return home / "session-state" / session_id / "events.jsonl"


_SILENT = "It said nothing: is there room in its home folder and in the folder for temporary files?"


def _crashed(how: str, said: str) -> Failed:
    return Failed(failure="crashed", message=f"The CLI {how}. {said}".strip())


def _legacy_program(program: Path | None) -> Path:
    if program:
        return program
    if found := shutil.which(LEGACY):
        return Path(found)
    raise ExecutorUnavailableError(
        f"The mode what-the-shell needs the deprecated program {LEGACY}, which is not on PATH.",
        "Remove the setting executor.cli_mode: today's Copilot CLI is then used.",
    )
