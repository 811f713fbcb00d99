"""The hooks: what a plug-in can be asked for.

Every hook is a function that gives some things, or None; a generator is the shortest way to write one. All are
optional. Each may take `settings`, too: the plug-in's own settings, an instance of what its `ralph_settings` names, or
None where it names nothing. It may leave the argument out.

A hook is asked once, at the start, in the thread that everything else runs in: it should only name things, and leave
the work to what it names.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ralph.plugins.markers import hookspec

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph.analysis import Detector, Keyword
    from ralph.decision.claims import Strategy
    from ralph.hooks import Hooks
    from ralph.plugins.kinds import (
        AnalyzerKind,
        Command,
        DisplayKind,
        ExecutorKind,
        PromptPart,
        StoreKind,
        TaskSourceKind,
    )
    from ralph.status import StatusField
    from ralph.verifiers.kinds import VerifierKind

__all__ = [
    "ralph_analyzers",
    "ralph_commands",
    "ralph_detectors",
    "ralph_displays",
    "ralph_executors",
    "ralph_keywords",
    "ralph_observers",
    "ralph_prompt_parts",
    "ralph_settings",
    "ralph_status_fields",
    "ralph_stores",
    "ralph_strategies",
    "ralph_task_sources",
    "ralph_verifiers",
]


@hookspec
def ralph_settings() -> "type[BaseModel] | None":
    """The plug-in's own settings: the model of the table `[plugins.NAME]`, where NAME is the plug-in's.

    It is asked before all others. The model validates what is set in ralph.toml, or in variables such as
    `RALPH_PLUGINS__NAME__KEY`; an invalid value is refused as for any setting, before anything starts. A model whose
    fields all have defaults needs no table. Give secrets the type `SecretStr`, so that they are stored and shown
    nowhere.

    Example:
        ```python
        from pydantic import BaseModel, SecretStr
        from ralph.plugins import hookimpl


        class Settings(BaseModel, extra="forbid"):
            channel: str = "night"
            token: SecretStr = SecretStr("")


        @hookimpl
        def ralph_settings():
            return Settings
        ```
    """


@hookspec
def ralph_keywords(settings: "BaseModel | None") -> "Iterable[Keyword] | None":
    """Completion keywords beside the built-in ones and those of the settings.

    Example:
        ```python
        from ralph import Keyword
        from ralph.plugins import hookimpl


        @hookimpl
        def ralph_keywords():
            yield Keyword(text="mission accomplished", weight="very_high", forms=("mission is accomplished",))
        ```
    """


@hookspec
def ralph_status_fields(settings: "BaseModel | None") -> "Iterable[StatusField] | None":
    """Fields that the agent is asked for in its status block, parsed into `StatusReport.fields`.

    Example:
        ```python
        from ralph import StatusField
        from ralph.plugins import hookimpl


        @hookimpl
        def ralph_status_fields():
            yield StatusField("COVERAGE", float, "the tests' coverage in percent", example=87.5)
        ```
    """


@hookspec
def ralph_detectors(settings: "BaseModel | None") -> "Iterable[Detector] | None":
    """Detectors of the built-in analyzer, which run after its own. A detector is a pure function from a reply to
    signals, linear in the length of the text. One that raises is left out of that analysis, and a warning says so.

    Example:
        ```python
        from ralph.analysis import Reply, Signal
        from ralph.plugins import hookimpl


        def detect_rollbacks(reply: Reply):
            at = reply.reading.prose.find("rolled back")
            if at >= 0:
                yield Signal("rollback", "rolled back", at, at + 11, -60, "says that work was taken back")


        @hookimpl
        def ralph_detectors():
            yield detect_rollbacks
        ```
    """


@hookspec
def ralph_analyzers(settings: "BaseModel | None") -> "Iterable[AnalyzerKind] | None":
    """Whole analyzers beside the built-in one, used where `--analyzer NAME` names them.

    Its result for a reply is in `analysis.further[NAME]`. With `Analysis.opinion` it may support a completion or hold
    it back; it can never force one. One that raises has no say in that analysis, and a warning says so.

    Example:
        ```python
        from ralph import Analysis
        from ralph.analysis import Opinion
        from ralph.plugins import AnalyzerKind, hookimpl


        class Brevity:
            def analyze(self, output, status, context):
                if len(output.text) < 40:
                    return Analysis(opinion=Opinion(on_completion="holds_back", reason="the reply is too short"))
                return Analysis()


        @hookimpl
        def ralph_analyzers():
            yield AnalyzerKind("brevity", "asks for more than a few words", lambda settings: Brevity())
        ```
    """


@hookspec
def ralph_executors(settings: "BaseModel | None") -> "Iterable[ExecutorKind] | None":
    """Executors, by the name that `--executor` or `executor.name` gives.

    Example:
        ```python
        from ralph import Answered, Executor
        from ralph.plugins import ExecutorKind, hookimpl


        class Echo(Executor):
            name = "echo"

            async def execute(self, prompt, turn):
                return turn.transcript.finish(Answered(), text=f"I was asked: {prompt.task}")


        @hookimpl
        def ralph_executors():
            yield ExecutorKind("echo", "says what it was asked", lambda materials: Echo())
        ```
    """


@hookspec
def ralph_verifiers(settings: "BaseModel | None") -> "Iterable[VerifierKind] | None":
    """Verifiers, by the name that `--verifier NAME:key=value` gives; `keys` is the model of what follows the name.

    Example:
        ```python
        from pydantic import BaseModel
        from ralph.plugins import VerifierKind, hookimpl
        from ralph.types.verification import Verdict
        from ralph.verifiers import Verifier


        class Keys(BaseModel, extra="forbid"):
            path: str


        class Exists(Verifier):
            def __init__(self, path):
                self.name, self._path = f"{path} exists", path

            async def verify(self, subject):
                there = (subject.workspace / self._path).is_file()
                return Verdict(verifier=self.name, passed=there, signature="" if there else "missing file")


        @hookimpl
        def ralph_verifiers():
            yield VerifierKind("exists", "a file must be there", Keys, lambda keys, materials: Exists(keys.path))
        ```
    """


@hookspec
def ralph_strategies(settings: "BaseModel | None") -> "Iterable[Strategy] | None":
    """Exit strategies, by the name that `--strategy` gives. One that raises sees no claim in that iteration.

    Example:
        ```python
        from ralph.plugins import hookimpl
        from ralph.decision.claims import Case, Claim


        class Ticked:
            name = "ticked"

            def claim(self, case: Case):
                if case.plan is not None and not case.plan.still_open:
                    return Claim(reason="nothing is open in the plan")


        @hookimpl
        def ralph_strategies():
            yield Ticked()
        ```
    """


@hookspec
def ralph_prompt_parts(settings: "BaseModel | None") -> "Iterable[PromptPart] | None":
    """Sections of the prompt, which stand before the status contract. One that raises is left out.

    Example:
        ```python
        from ralph.plugins import PromptPart, hookimpl


        def house_rules(moment):
            return "Write no comments in German." if moment.iteration == 1 else ""


        @hookimpl
        def ralph_prompt_parts():
            yield PromptPart("house rules", "what holds in this house", house_rules)
        ```
    """


@hookspec
def ralph_observers(settings: "BaseModel | None") -> "Iterable[Hooks] | None":
    """Observers of a run: `ralph.Hooks`, told of every event. They may also veto an iteration or a completion.

    Example:
        ```python
        from ralph import Hooks
        from ralph.plugins import hookimpl


        class Bell(Hooks):
            async def on_run_finished(self, event):
                print(f"\\a{event.stop_reason}")


        @hookimpl
        def ralph_observers():
            yield Bell()
        ```
    """


@hookspec
def ralph_commands(settings: "BaseModel | None") -> "Iterable[Command] | None":
    """Commands of the program, beside the built-in ones. `settings` are those in force where the program is called.

    Where the app cannot be made, the command says so when it is called.

    Example:
        ```python
        import typer
        from ralph.plugins import Command, hookimpl

        app = typer.Typer()


        @app.command()
        def hello() -> None:
            typer.echo("hello")


        @hookimpl
        def ralph_commands():
            yield Command("hello", "Greets.", lambda: app)
        ```
    """


@hookspec
def ralph_task_sources(settings: "BaseModel | None") -> "Iterable[TaskSourceKind] | None":
    """Where tasks come from, by the name that `--task NAME:PLACE` gives. A source gives a task's text, or a
    `ralph.tasks.Task`, which also names the plan that tells how far it is.

    Example:
        ```python
        from ralph.plugins import TaskSourceKind, hookimpl


        @hookimpl
        def ralph_task_sources():
            yield TaskSourceKind("notes", "a folder of notes", lambda materials: materials.place)
        ```
    """


@hookspec
def ralph_displays(settings: "BaseModel | None") -> "Iterable[DisplayKind] | None":
    """How a run is shown, by the name that `--display` gives.

    Example:
        ```python
        from ralph.watch import Display
        from ralph.plugins import DisplayKind, hookimpl


        class Dots(Display):
            def show(self, event):
                if event.type == "iteration_finished":
                    self.out.write(".")


        @hookimpl
        def ralph_displays():
            yield DisplayKind("dots", "a dot an iteration", lambda materials: Dots())
        ```
    """


@hookspec
def ralph_stores(settings: "BaseModel | None") -> "Iterable[StoreKind] | None":
    """Where runs are kept, by the scheme of the URL that `--store` gives.

    Example:
        ```python
        from ralph.plugins import StoreKind, hookimpl
        from ralph.store import MemoryStore


        @hookimpl
        def ralph_stores():
            yield StoreKind("void", "keeps nothing", lambda url: MemoryStore())
        ```
    """
