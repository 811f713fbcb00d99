"""The Copilot SDK as an executor: one runtime for the whole run, a session for each turn.

Override points, for a subclass:

session_options(turn)
    The keywords of the SDK's `create_session` and `resume_session`, the handlers excepted.
environment()
    The environment of the runtime and so of the agent's shells.
classify(event)
    The failure that an event of the runtime tells of, or None.

What the SDK leaves open is closed here. Its death or freezing in the middle of a turn is noticed, its processes are
ended, and the next turn finds a new runtime, which can take the session up again. Its own retries, a minute of them,
are cut short where they cannot help. It never fetches a CLI, for it is always given one.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import anyio

from ralph.errors import ExecutorUnavailableError
from ralph.executors.base import Turn
from ralph.executors.copilot.conversation import Conversation
from ralph.executors.copilot.events import Event, failure_in
from ralph.executors.copilot.provision import provide_cli, provide_runtime
from ralph.executors.copilot.runtime import CopilotRuntime
from ralph.executors.copilot.together import LOOKING, CopilotExecutor
from ralph.prompt import Prompt
from ralph.types.output import Failed, Output

__all__ = ["CopilotSDKExecutor"]


class CopilotSDKExecutor(CopilotExecutor):
    """Runs the agent of GitHub Copilot through its SDK; `program` is then the runtime."""

    name: ClassVar[str] = "copilot-sdk"
    _runtime: CopilotRuntime | None = None
    _last_review: str | None = None
    _last_session: str | None = None

    def session_options(self, turn: Turn) -> dict[str, Any]:
        """The keywords for the SDK's session; the same ones for a new session and for one that is taken up again."""
        options: dict[str, Any] = {
            "working_directory": str(turn.workspace),
            "streaming": True,
        }
        if turn.read_only:
            options |= {"skip_custom_instructions": True, "available_tools": [*LOOKING]}
        if self.model:
            options["model"] = self.model
        if self.base_url:
            options["provider"] = {
                "type": "openai",
                "base_url": self.base_url,
                "api_key": self._api_key,
                "wire_api": self._wire_api,
                "headers": self._headers,
            }
        return options

    def environment(self) -> dict[str, str]:
        """The whole environment of the runtime; with an endpoint of one's own it talks to nobody else."""
        ours = {"COPILOT_AUTO_UPDATE": "false", "COPILOT_SKIP_CLI_DOWNLOAD": "1"}
        if self.base_url and self.model:
            ours |= {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": self.base_url,
                "COPILOT_MODEL": self.model,
            }
        return {**self.passed_on(), **ours}

    def classify(self, event: Event) -> Failed | None:
        """The failure that an event tells of: of the turn ("session.error") or of one call to the model."""
        return failure_in(event)

    async def start(self) -> None:
        await self.confinement.require()
        if self._program is None:
            found = await provide_cli(progress=self._progress)
            self._program = await provide_runtime(found) or found.path
        if not self._program.is_file():
            raise ExecutorUnavailableError(
                f"There is no Copilot runtime at {str(self._program)!r}.",
                "Correct or remove the setting executor.cli_path; `ralph doctor` shows what is there.",
            )
        await self._start_runtime(self._program)

    async def stop(self) -> None:
        if self._runtime:
            await self._runtime.stop()
            self._runtime = None
        await super().stop()

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        transcript = turn.transcript
        transcript.executor, transcript.model = self.name, self.model
        try:
            runtime = await self._living_runtime(turn)
        except ExecutorUnavailableError as error:
            return transcript.finish(Failed(failure="unavailable", message=str(error)))
        if turn.session_of not in {"", self.name}:
            turn = replace(turn, session_id=None)
        last_session = self._last_review if turn.read_only else self._last_session
        conversation = Conversation(
            runtime,
            turn,
            options=self.session_options(turn),
            permissions=self.policy(turn),
            classify=self.classify,
        )
        try:
            outcome = await conversation.hold(prompt.text, last_session)
        finally:
            with anyio.CancelScope(shield=True):
                usable = await conversation.close()
                self._remember(turn)
                if not usable:
                    transcript.diagnosed("The Copilot runtime died or hung; the next turn gets a new one.")
                    await self._give_up_runtime(runtime)
        return transcript.finish(outcome)

    def _remember(self, turn: Turn) -> None:
        """The turn's session, which is deleted when the next one of its kind begins: a review must not cost the agent
        the session that it is to go on with.
        """
        session = turn.transcript.session_id
        if turn.read_only:
            self._last_review = session or self._last_review
        else:
            self._last_session = session or self._last_session

    async def _living_runtime(self, turn: Turn) -> CopilotRuntime:
        if self._runtime and self._runtime.lives:
            return self._runtime
        if self._runtime:
            turn.transcript.diagnosed("The Copilot runtime has died since the last turn; this one gets a new one.")
            await self._give_up_runtime(self._runtime)
        if self._program is None:
            await self.start()
        return self._runtime or await self._start_runtime(self._program or Path())

    async def _start_runtime(self, program: Path) -> CopilotRuntime:
        runtime = CopilotRuntime(program, self.environment(), self.home, self._confined)
        try:
            await runtime.start()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await runtime.stop(gently=False)
            raise
        self._runtime = runtime
        return runtime

    def _confined(self, argv: Sequence[str], logs: Path) -> list[str]:
        return self.confined(argv, self.confinement.workspace or Path.cwd(), logs)

    async def _give_up_runtime(self, runtime: CopilotRuntime) -> None:
        self._runtime = None
        await runtime.stop(gently=False)
