"""The base of executors for agents, with a shell script for the agent's program."""

from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ralph.errors import ProvisionError, UsageError
from ralph.executors import AgentExecutor, Ending, Event, Listener, ProgramExecutor, Timeouts, Transcript, Turn
from ralph.executors.base import Diagnosed
from ralph.executors.program_output import text
from ralph.prompt import Prompt
from ralph.system.sandbox import Confinement, Sandbox
from ralph.types.output import Answered, Failed, Outcome, Output, TimedOut

PROMPT = Prompt(text="Do it, é.", task="Do it.")
DONE = """echo '{"type":"say","text":"All is done."}'; echo '{"type":"end"}'"""


class Lines(Listener):
    """Gives up at an event of its own, and knows messages, tools and the end."""

    def take(self, event: Event) -> None:
        match event.get("type"):
            case "say":
                self.transcript.message(text(event.get("text")))
            case "tool":
                self.transcript.tool_started("1", "shell")
            case "hopeless":
                self.give_up(Failed(failure="rate_limited", message="No more today.", retry_after=60))
            case "end":
                self.result = 0
            case _:
                pass


class Scripted(ProgramExecutor):
    name: ClassVar[str] = "scripted-program"
    label: ClassVar[str] = "The script"
    logins: ClassVar[tuple[str, ...]] = ("BEST_TOKEN", "OTHER_TOKEN")
    start_limit: float | None = None

    def __init__(self, script: str = DONE, **options: Any) -> None:
        super().__init__(None, **options)
        self.script = script

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        return ["/bin/sh", "-c", self.script]

    def listener(self, turn: Turn) -> Listener:
        listener = Lines(turn.transcript)
        listener.start_limit = self.start_limit
        return listener


async def run(executor: AgentExecutor, workspace: Path, **options: Any) -> Output:
    async with executor:
        return await executor.execute(PROMPT, Turn(workspace=workspace, **options))


async def test_the_prompt_goes_in_and_the_events_come_out(tmp_path: Path) -> None:
    output = await run(Scripted(f"cat > asked; {DONE}"), tmp_path)
    assert (output.outcome, output.text, output.executor) == (Answered(), "All is done.", "scripted-program")
    assert (tmp_path / "asked").read_text() == PROMPT.text


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        (f"{DONE}; echo oh dear >&2; exit 3", "crashed", "The script ended with status 3. oh dear"),
        (f"{DONE}; kill -9 $$", "crashed", "The script was killed by SIGKILL."),
        (
            """echo '{"type":"say","text":"x"}'; echo no event""",
            "protocol",
            "The script ended without a result. no event",
        ),
        ("""echo '{"type":"end"}'""", "protocol", "The agent gave no answer."),
        (f"{DONE}; printf 'no line break' >&2; exit 1", "crashed", "The script ended with status 1. no line break"),
    ],
)
async def test_an_exit_status_of_0_is_not_enough(tmp_path: Path, script: str, kind: str, message: str) -> None:
    output = await run(Scripted(script), tmp_path)
    assert output.failure is not None
    assert (output.failure.failure, output.failure.message) == (kind, message)


def test_a_result_other_than_0_is_a_failure() -> None:
    ending = Ending(code=0, failure=None, result=2, answered=True, spoke=True, complaint="why")
    assert Scripted().classify(ending) == Failed(failure="crashed", message="The script reported the result 2. why")


async def test_a_turn_that_is_given_up_ends_at_once(tmp_path: Path) -> None:
    hopeless = """echo '{"type":"hopeless"}'; echo '{"type":"say","text":"too late"}'; exec sleep 60"""
    output = await run(Scripted(hopeless), tmp_path)
    assert output.outcome == Failed(failure="rate_limited", message="No more today.", retry_after=60)
    assert output.messages == ()
    assert output.duration < 30


async def test_how_a_program_ends_that_is_given_up_is_not_its_own_doing(tmp_path: Path) -> None:
    class Judges(Scripted):
        def classify(self, ending: Ending) -> Failed | None:
            codes.append(ending.code)
            return super().classify(ending)

    codes: list[int | None] = []
    for script in ("""echo '{"type":"hopeless"}'; exec sleep 60""", "exit 3"):
        await run(Judges(script), tmp_path)
    assert codes == [None, 3]


async def test_a_program_that_prints_nothing_is_ended_after_its_start_limit(tmp_path: Path) -> None:
    executor = Scripted("exec sleep 60")
    executor.start_limit = 0.3
    output = await run(executor, tmp_path)
    assert output.failure is not None
    assert output.failure.failure == "unavailable"
    assert "The script gave no sign of life for 0.3 s" in output.failure.message
    executor.script = f"{DONE}; sleep 0.6"
    assert (await run(executor, tmp_path)).outcome == Answered()


async def test_output_of_either_stream_is_a_sign_of_life(tmp_path: Path) -> None:
    chatter = f"for i in 1 2 3 4; do sleep 0.3; echo x >&2; sleep 0.3; echo x; done; {DONE}"
    assert (await run(Scripted(chatter), tmp_path, timeouts=Timeouts(idle=2))).outcome == Answered()
    assert (await run(Scripted("exec sleep 60"), tmp_path, timeouts=Timeouts(idle=0.3))).outcome == TimedOut(
        limit="idle", after=0.3
    )


async def test_lines_that_are_too_long_or_broken_harm_nothing(tmp_path: Path) -> None:
    seen: list[Any] = []
    rubbish = f"""echo '['; head -c 3000000 /dev/zero | tr '\\0' x; echo; printf '\\303\\n' >&2; {DONE}"""
    output = await run(Scripted(rubbish), tmp_path, transcript=Transcript(seen.append))
    assert output.outcome == Answered()
    assert [event.text for event in seen if isinstance(event, Diagnosed)] == [
        "The script printed a line of 3,000,000 bytes: it is left out."
    ]
    assert output.diagnostics == "[\n\ufffd\n"


async def test_background_processes_of_tools_are_ended(tmp_path: Path) -> None:
    from ralph.testing import lives

    left = f"""echo '{{"type":"tool"}}'; sleep 60 > /dev/null 2>&1 & echo $! > pid; {DONE}"""
    await run(Scripted(left), tmp_path)
    assert not lives(int((tmp_path / "pid").read_text()))


async def test_only_the_login_that_is_needed_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_TOKEN", "2")
    assert Scripted().inherited_environment().get("OTHER_TOKEN") == "2"
    monkeypatch.setenv("BEST_TOKEN", "1")
    given = Scripted().inherited_environment()
    assert (given.get("BEST_TOKEN"), given.get("OTHER_TOKEN")) == ("1", None)
    for own in ({"api_key": "k"}, {"base_url": "http://127.0.0.1:9/v1", "model": "m"}):
        assert "BEST_TOKEN" not in Scripted(**own).inherited_environment()


async def test_a_home_of_its_own_goes_with_the_executor(tmp_path: Path) -> None:
    endpoint: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    assert Scripted().home is None
    assert Scripted(home=tmp_path, **endpoint).home == tmp_path
    async with Scripted(**endpoint) as executor:
        home = executor.home
        assert home is not None
        assert home.is_dir()
        assert executor.account == endpoint["base_url"]
    assert not home.exists()


def test_an_endpoint_needs_a_model() -> None:
    with pytest.raises(UsageError, match="--model"):
        Scripted(base_url="http://127.0.0.1:9/v1")


def test_a_sandbox_opens_what_the_agent_needs(tmp_path: Path) -> None:
    class Housed(Scripted):
        def user_folders(self) -> list[Path]:
            return [tmp_path / "sessions"]

    confinement = Confinement(sandbox=Sandbox(kind="bwrap"))
    argv = Housed(confinement=confinement).confined(["/opt/agent/bin/agent"], tmp_path, writable=[tmp_path / "logs"])
    bound = [(option, path) for option, path in pairwise(argv) if option.startswith("--")]
    assert ("--ro-bind-try", "/opt/agent/bin") in bound
    assert {("--bind-try", str(tmp_path / name)) for name in ("sessions", "logs")} <= set(bound)
    own_home = Housed(confinement=confinement, home=tmp_path / "mine").confined(["/bin/agent"], tmp_path)
    assert str(tmp_path / "sessions") not in own_home
    assert str(tmp_path / "mine") in own_home


async def test_what_an_agent_lacks_is_a_failure_of_the_turn(tmp_path: Path) -> None:
    class Lacking(AgentExecutor):
        name: ClassVar[str] = "lacking"

        async def converse(self, prompt: Prompt, turn: Turn) -> Outcome:
            raise ProvisionError("There is no agent.", "Install it.")

    output = await run(Lacking(), tmp_path)
    assert output.outcome == Failed(failure="unavailable", message="There is no agent. Install it.")
    missing = Scripted()
    missing.command = lambda prompt, turn: [str(tmp_path / "missing")]
    output = await run(missing, tmp_path)
    assert output.failure is not None
    assert (output.failure.failure, str(tmp_path / "missing") in output.failure.message) == ("unavailable", True)


def test_a_turn_that_only_looks_has_a_policy_of_its_own(tmp_path: Path) -> None:
    executor = Scripted()
    assert executor.policy(Turn(workspace=tmp_path)).mode == "workspace"
    assert executor.policy(Turn(workspace=tmp_path, read_only=True)).mode == "read-only"
