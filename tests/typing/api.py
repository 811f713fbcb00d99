"""Typical use of the public interface, checked by type checkers and never run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, assert_type

from pydantic import BaseModel

from ralph import (
    Analysis,
    BreakerSettings,
    CircuitBreaker,
    Complete,
    Completed,
    Continue,
    Decision,
    Executor,
    Failed,
    Halt,
    Hooks,
    IterationRecord,
    Keyword,
    Limits,
    Output,
    Pause,
    Price,
    Prompt,
    ResponseAnalyzer,
    Runner,
    RunRecord,
    StatusField,
    TimedOut,
    Turn,
    Usage,
    Veto,
    parse_status,
)
from ralph.analysis import AnalysisContext, Opinion
from ralph.decision.claims import Case, Claim
from ralph.executors import CopilotCLIExecutor, CopilotSDKExecutor, FallbackExecutor
from ralph.hooks import CompletionDue, IterationDue
from ralph.plugins import BuildContext, PromptContext, PromptPart, Provider, hookimpl
from ralph.records.events import Event, IterationFinished, RunFinished
from ralph.status import Status, StatusMalformed, StatusMissing, StatusReport
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.types.verification import Verdict
from ralph.verifiers import CommandVerifier, Subject, Verifier, parse_command
from ralph.workspace import open_workspace


class Echo(Executor):
    name: ClassVar[str] = "echo"
    measures = frozenset({"tokens"})

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if not prompt.text:
            return turn.transcript.finish(Failed(failure="refused", message="nothing was asked"))
        turn.transcript.used(Usage(input_tokens=3))
        return turn.transcript.finish(Completed(), text=f"{turn.iteration}: {prompt.task}")


class Diary(Hooks):
    def __init__(self) -> None:
        self.lines: list[str] = []

    async def on_event(self, event: Event) -> None:
        self.lines.append(event.type)

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        assert_type(event.decision, Continue | Complete | Halt | Pause)
        assert_type(event.analysis, Analysis)
        if isinstance(event.outcome, TimedOut):
            self.lines.append(f"timed out after {event.outcome.after:g} s")

    async def on_run_finished(self, event: RunFinished) -> None:
        assert_type(event.verified, bool)
        assert_type(event.usage.tokens, int | None)


class EnoughTests:
    """A strategy is any object with a name and a `claim`."""

    name = "enough_tests"

    def claim(self, case: Case) -> Claim | None:
        status = case.analysis.status
        passing = status.fields.get("TESTS") if isinstance(status, StatusReport) else None
        return Claim(reason=f"{passing} tests") if isinstance(passing, int) and passing >= 12 else None


class Always(Verifier):
    name = "always"

    async def verify(self, subject: Subject) -> Verdict:
        return Verdict(verifier=self.name, passed=True)


class House(Hooks):
    async def before_iteration(self, due: IterationDue) -> Veto | None:
        return Veto(reason="enough for tonight") if due.iteration > 9 else None

    async def before_completion(self, due: CompletionDue) -> Veto | None:
        assert_type(due.claim, Claim)
        return None


class Measured(Analysis, frozen=True):
    words: int = 0


class Counting:
    """An analyzer is any object with an `analyze`."""

    def analyze(self, output: Output, status: Status, context: AnalysisContext) -> Analysis:
        return Measured(words=len(output.text.split()), opinion=Opinion(on_completion="supports"))


class Own(BaseModel, extra="forbid"):
    command: tuple[str, ...] = ("agent",)


class Plugin:
    """A plug-in is a module like this class, or an object of it."""

    RALPH_API = 1

    @hookimpl
    def ralph_settings(self) -> type[BaseModel]:
        return Own

    @hookimpl
    def ralph_keywords(self) -> Iterable[Keyword]:
        yield Keyword(text="shipped")

    @hookimpl
    def ralph_executors(self) -> Iterable[Provider]:
        def build(context: BuildContext) -> Executor:
            assert isinstance(context.own, Own)
            assert_type(context.settings.model, str | None)
            return Echo()

        yield Provider("echo", "says what it was asked", build)

    @hookimpl
    def ralph_analyzers(self, settings: BaseModel | None) -> Iterable[Provider]:
        yield Provider("counting", "counts words", lambda context: Counting())

    @hookimpl
    def ralph_prompt_parts(self) -> Iterable[PromptPart]:
        def text(context: PromptContext) -> str:
            return f"This is iteration {context.iteration} in {context.workspace}."

        yield PromptPart("place", "says where", text)

    @hookimpl
    def ralph_observers(self, settings: BaseModel | None) -> Iterable[Hooks]:
        yield House()


def told(decision: Decision) -> str:
    match decision:
        case Continue():
            return decision.feedback
        case Complete():
            return "verified" if decision.verified else ", ".join(decision.still_open)
        case Halt():
            return decision.stop_reason
        case Pause():
            return decision.until.isoformat()


def said(text: str, fields: Sequence[StatusField]) -> bool | None:
    match parse_status(text, fields, promise="COMPLETE"):
        case StatusReport(exit_signal=signal):
            return signal
        case StatusMissing() | StatusMalformed():
            return None


def typed(report: StatusReport, event: IterationFinished) -> None:
    assert_type(report.value(StatusField("TESTS", int)), int | None)
    assert_type(report.value(StatusField(name="FILES", type=list[str])), list[str] | None)
    assert_type(report.value(StatusField("NOTE")), str | None)
    assert_type(StatusField("SHARE", float).read(event.fields), float | None)
    assert_type(StatusField("SURE", bool).parse("yes"), bool)


async def one_run(folder: Path) -> RunRecord:
    fields = [StatusField(name="TESTS", type=int, description="tests that pass", example=12)]
    async with Runner(
        executor=FallbackExecutor(CopilotSDKExecutor(model="m"), CopilotCLIExecutor(model="m")),
        analyzer=ResponseAnalyzer(keywords=[Keyword(text="shipped", weight="very_high")]),
        breaker=CircuitBreaker(BreakerSettings(no_progress=5, when_open="wait")),
        store=open_store(None),
        workspace=open_workspace(folder),
        verify=[CommandVerifier(parse_command("pytest -q")), Always()],
        hooks=[Diary()],
        plugins=[Plugin()],
        analyzers=["counting"],
        status_fields=fields,
        limits=Limits(max_iterations=20, max_cost=1.5),
        strategy=EnoughTests(),
        prices={"m": Price(input=1, output=4)},
        model="m",
    ) as runner:
        record = await runner.run("Make the tests pass.")
        assert_type(record, RunRecord)
        assert_type(await runner.resume(record.id), RunRecord)
        iteration = await runner.iterate(record.id)
        assert_type(iteration, IterationRecord)
        told(iteration.decision)
    return record


def in_a_script() -> RunRecord:
    return Runner(executor=ScriptedExecutor(["Done.", Failed(failure="crashed")]), strategy="exit_signal").run_sync(
        "go"
    )
