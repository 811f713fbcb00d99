"""The Copilot CLI as an executor: one process for each turn.

A subclass may override `command`, `environment` and `classify`.

The CLI's exit status says little: it is 0 after SIGTERM, and after a turn in which every tool was denied. A turn has
succeeded if the status is 0, the CLI reports a result of 0, nothing was aborted or failed, and the agent answered.
"""

import os
import re
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import ClassVar, Unpack

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors.agent import NO_KEY, AgentOptions, Ending, Listener, ProgramExecutor
from ralph.executors.base import BOUNDS, Bound, Transcript, Turn
from ralph.executors.copilot.base import LOOKING, CopilotExecutor
from ralph.executors.copilot.events import (
    classify_failure,
    ends_turn,
    failure_in,
    in_the_providers_words,
    logged_retry_after,
    record,
)
from ralph.executors.copilot.provision import provide_cli
from ralph.executors.copilot.usage import SessionLog, UsageMeter
from ralph.executors.failures import describe_exit
from ralph.executors.permissions import DENIED_COMMANDS, Pattern, PermissionPolicy
from ralph.executors.program_output import Event, Oversized
from ralph.prompt import Prompt
from ralph.system.files import find_program
from ralph.system.process import Running, run
from ralph.system.process_tree import scratch_folder
from ralph.system.sandbox import Confinement
from ralph.types import evolve
from ralph.types.choices import CliMode, WireApi
from ralph.types.output import Answered, Failed, Outcome, Usage

_SHORT_KEY = 12
"""The CLI masks the key wherever it occurs in its output, names of JSON fields included. A shorter key may occur there;
it goes as a header instead, which the CLI does not look at.
"""

_AFTER_CALLS = {"assistant.turn_end", "model.call_start", "tool.execution_complete"}
"""The events after which the session's log may hold the usage of calls to the model."""

_SILENT = "It printed nothing: is there room in its home folder and in the folder for temporary files?"


class CopilotCLIExecutor(CopilotExecutor, ProgramExecutor):
    """Runs the agent of GitHub Copilot through its command-line program.

    Args:
        program: the native program, not npm's script; None to find or fetch one.
        mode: "what-the-shell" asks the deprecated `github-copilot-cli` for a command; `program` is then that one.
        options: those of `CopilotExecutor`; `permission_flags` says how far the CLI enforces `permissions`.

    Attributes:
        start_limit: seconds until the CLI's first output; without a home folder or cache that it can write to, it
            would be silent forever.

    Raises:
        UsageError: an endpoint without a model, or a policy that the CLI cannot enforce.
    """

    name: ClassVar[str] = "copilot-cli"
    confines: frozenset[Bound] = BOUNDS
    label: ClassVar[str] = "The CLI"
    start_limit: float = 60.0

    def __init__(
        self,
        program: Path | None = None,
        *,
        mode: CliMode = "prompt",
        wire_api: WireApi = "completions",
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(program, wire_api=wire_api, **options)
        self.mode: CliMode = mode
        self._meter = UsageMeter()
        if mode == "what-the-shell":
            self.measures = frozenset()
        permission_flags(self.permissions, Path("/"))

    def confine(self, confinement: Confinement, permissions: PermissionPolicy) -> None:
        super().confine(confinement, permissions)
        permission_flags(self.permissions, Path("/"))

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        """Return the command line; where the log and the usage go is added to it.

        The prompt is not in it: it would not fit. The CLI continues the session if it knows it, and begins it if not.
        """
        return [
            str(self.program),
            *("--output-format", "json", "--no-ask-user", "--no-auto-update", "--no-color"),
            *("--session-id", turn.transcript.session_id or ""),
            *permission_flags(self.policy(turn), turn.workspace, readers=LOOKING if turn.read_only else _READERS),
            *(["--no-custom-instructions"] if turn.read_only else []),
        ]

    def environment(self, turn: Turn) -> dict[str, str]:
        """Return the whole environment. With an endpoint, the CLI connects to nothing else."""
        env = {**self.inherited_environment(), "COPILOT_AUTO_UPDATE": "false", "COPILOT_ALLOW_ALL": "false"}
        if self.model:
            env["COPILOT_MODEL"] = self.model
        if self.home:
            env["COPILOT_HOME"] = str(self.home)
        return env | self._provider() if self.base_url else env

    def classify(self, ending: Ending) -> Failed | None:
        """Return the failure that an ending means; None for a turn that has succeeded."""
        if not ending.failure and not ending.spoke and (ending.code or 0) > 0:
            said = " ".join(ending.complaint.split())[:300]
            if (guess := classify_failure(said)).failure == "auth":
                return guess
            return self.crashed(describe_exit(ending.code), said or _SILENT)
        return super().classify(ending)

    async def start(self) -> None:
        await super().start()
        if self.mode == "what-the-shell":
            self.program = _legacy_program(self.program)
        elif self.program is None:
            self.program = await self._provided()
        if not os.access(self.program, os.X_OK):
            raise ExecutorUnavailableError(
                f"There is no Copilot CLI that can be run at {str(self.program)!r}.",
                "Correct or remove the setting executor.cli_path; `ralph doctor` shows what is there.",
            )

    async def _provided(self) -> Path:
        found = await provide_cli(progress=self.progress)
        if found.takes_prompts:
            return found.path
        raise ExecutorUnavailableError(
            f"{str(found.path)!r} is only the runtime for the SDK, not the whole CLI.",
            "Use the executor copilot-sdk, or install the Copilot CLI; `ralph doctor` explains how.",
        )

    async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
        if self.mode == "what-the-shell":
            return await self._ask(self.program or Path(_LEGACY), prompt.text, turn)
        turn.transcript.session_id = turn.session_id or str(uuid.uuid4())
        with scratch_folder("turn") as folder:
            return await self._converse_in(Path(folder), prompt, turn)

    async def _converse_in(self, folder: Path, prompt: Prompt, turn: Turn) -> Outcome:
        files = ["--usage-output-file", f"{folder}/usage.json", "--log-level", "warning", "--log-dir", f"{folder}/logs"]
        argv = self.confined(
            [*self.command(prompt, turn), *files],
            turn.workspace,
            readable=self.unpacked(),
            writable=[folder],
            read_only=turn.read_only,
        )
        log = SessionLog(self._session_log(turn))
        listener = _CLIListener(turn.transcript, folder / "logs", log, self.start_limit)
        try:
            return await self.hold(prompt, turn, listener, argv)
        finally:
            self._measure(turn, folder / "usage.json", log, listener.calls)

    async def _ask(self, program: Path, prompt: str, turn: Turn) -> Outcome:
        """Ask the deprecated `github-copilot-cli what-the-shell` once; its answer, a shell command, becomes a message.

        It measures nothing, keeps no session and uses no tools.
        """
        ends, timed_out = turn.transcript.expires(turn.timeouts)
        argv = self.confined([str(program), "what-the-shell", prompt], turn.workspace, read_only=True)
        env, left = self.inherited_environment(), max(0.0, ends - monotonic())
        try:
            done = await run(argv, cwd=turn.workspace, env=env, timeout=left, end_leftovers=True)
        except UsageError as error:
            return Failed(failure="refused", message=str(error))
        answer, complaint = _plain(done.stdout), _plain(done.stderr)
        turn.transcript.diagnostics = complaint
        if answer:
            turn.transcript.message(answer)
        if done.timed_out:
            return timed_out
        if done.code != 0:
            said = f"{_LEGACY} {describe_exit(done.code)}. {complaint[:200]}"
            return Failed(failure="crashed", message=said.strip())
        return Answered() if answer else Failed(failure="protocol", message=f"{_LEGACY} gave no answer.")

    def _measure(self, turn: Turn, path: Path, log: SessionLog, calls: int) -> None:
        session, begun_here = turn.transcript.session_id or "", turn.session_id is None or self.has_own_home
        turn.transcript.used(log.more())
        turn.transcript.used(self._meter.read(path, session, calls=calls, begun_here=begun_here, counted=log.counted))

    def _session_log(self, turn: Turn) -> Path:
        home = Path(self.environment(turn).get("COPILOT_HOME") or Path.home() / ".copilot")
        return home / "session-state" / (turn.transcript.session_id or "") / "events.jsonl"

    def _provider(self) -> dict[str, str]:
        headers = dict(self.headers)
        if len(self.key) < _SHORT_KEY:
            headers["Authorization"] = f"Bearer {self.key}"
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": self.base_url or "",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": NO_KEY if "Authorization" in headers else self.key,
            "COPILOT_PROVIDER_API_KEY_COMMAND": "",
            "COPILOT_PROVIDER_BEARER_TOKEN": "",
            "COPILOT_PROVIDER_WIRE_API": self.wire_api,
            "COPILOT_PROVIDER_HEADERS": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        }


class _CLIListener(Listener):
    """Follows the CLI's output; `calls` counts the requests to the model that were seen."""

    def __init__(self, transcript: Transcript, logs: Path, log: SessionLog, start_limit: float) -> None:
        super().__init__(transcript)
        self.start_limit = start_limit
        self.calls = 0
        self._logs, self._log = logs, log
        self._call_failure: Failed | None = None

    def take(self, event: Event) -> None:
        record(event, self.transcript)
        if event.get("type") in _AFTER_CALLS and (used := self._log.more()) != Usage():
            self.transcript.used(used)
        match event.get("type"):
            case "model.call_start":
                self.calls += 1
            case "result":
                code = event.get("exitCode")
                self.result = code if isinstance(code, int) else 1
            case "model.call_failure":
                self._call_failure = failure_in(event)
                if self._call_failure and ends_turn(event):
                    self.give_up(self._call_failure)
            case _:
                if failure := failure_in(event):
                    self.failure = in_the_providers_words(failure, self._call_failure)

    def take_oversized(self, line: Oversized) -> None:
        """Record the end of the tool that the beginning of the line names."""
        kind = line.field("type")
        self.transcript.diagnosed(
            f"The CLI printed a line of {line.size:,} bytes ({kind or 'unknown'}): it is left out."
        )
        if kind.startswith("tool.execution_"):
            data = {"toolCallId": line.field("toolCallId"), "toolName": line.field("toolName"), "success": True}
            record({"type": kind, "data": data}, self.transcript)

    async def follow(self, program: Running, prompt: str) -> None:
        await super().follow(program, prompt)
        if self.failure and self.failure.failure == "rate_limited":
            self.failure = evolve(self.failure, retry_after=await logged_retry_after(self._logs))


_READERS = ("view", "grep", "rg", "glob", "skill", "web_fetch")
_METADATA = ("http://169.254.169.254", "http://metadata.google.internal")


def permission_flags(policy: PermissionPolicy, workspace: Path, *, readers: Sequence[str] = _READERS) -> list[str]:
    """Return the part of the command line that makes the CLI enforce the policy.

    The CLI judges by itself, in places more strictly than Ralph's policy: in the modes "workspace" and "read-only" the
    agent cannot even read files outside the workspace and the folder for temporary files; "read-only" leaves it without
    a shell. In places it is more lax: it does not see a file that a shell command names by `~`, or within another
    shell's text (with 1.0.102), credentials included; of a denied command, only the first two words count. A pattern
    to deny for which the CLI has no flag is an error, not silence.

    Args:
        workspace: absolute.
        readers: the tools that the mode "read-only" leaves.

    Raises:
        UsageError: a pattern to deny that the CLI cannot enforce.
    """
    if policy.mode == "approve-all":
        general = ["--allow-all"]
    else:
        general = ["--allow-all-tools", "--allow-all-urls", "--disable-builtin-mcps"]
        general += [f"--deny-url={url}" for url in _METADATA]
    if policy.mode == "read-only":
        general += [f"--available-tools={','.join(readers)}", "--deny-tool=write", "--deny-tool=shell"]
    denied = [] if policy.mode == "approve-all" else [each for each in DENIED_COMMANDS if each not in policy.allow]
    tools = dict.fromkeys(rule for each in (*denied, *policy.deny) if (rule := _rule(each)))
    folders = [f"--add-dir={path}" for path in _opened(policy, workspace)]
    return [*general, *(f"--deny-tool={tool}" for tool in tools), *folders]


def _rule(pattern: str) -> str:
    """Return a pattern of ours as the CLI's, or the nearest one that denies no less.

    It is empty if what it denies cannot occur: the CLI is given no tools of ours, remembers nothing between sessions
    and runs no hooks of a workspace.
    """
    parsed = Pattern.parse(pattern)
    argument = parsed.argument
    match parsed.kind:
        case "shell":
            return f"shell({_command(argument)})" if argument else "shell"
        case "url":
            return f"url({argument})" if argument else "url"
        case "mcp" if argument:
            server, _, tool = argument.partition("/")
            return f"{server}({tool})" if tool else server
        case "custom-tool" | "memory" | "hook":
            return ""
        case _:
            raise UsageError(
                f"The Copilot CLI has no way to deny {pattern!r}.",
                "Remove the pattern, or use the executor copilot-sdk alone, which enforces every pattern.",
            )


def _command(argument: str) -> str:
    """Return the first two words, up to one with a wildcard, as the beginning of a command."""
    words = argument.removesuffix(":*").split()[:2]
    if len(words) == 2 and "*" in words[1]:
        words[1] = words[1].partition("*")[0]
    return f"{' '.join(filter(None, words))}:*"


def _opened(policy: PermissionPolicy, workspace: Path) -> Iterator[Path]:
    """Yield the folders besides the workspace that may be written; the CLI then allows reading them too."""
    for pattern in map(Pattern.parse, policy.allow):
        if pattern.kind == "write" and pattern.argument and "*" not in pattern.argument:
            yield workspace / Path(pattern.argument).expanduser()


_LEGACY = "github-copilot-cli"
_CONTROLS = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def _plain(output: str) -> str:
    return _CONTROLS.sub("", output).strip()


def _legacy_program(program: Path | None) -> Path:
    if program:
        return program
    if found := find_program(_LEGACY):
        return Path(found)
    raise ExecutorUnavailableError(
        f"The mode what-the-shell needs the deprecated program {_LEGACY}, which is not on PATH.",
        "Remove the setting executor.cli_mode: today's Copilot CLI is then used.",
    )
