"""The hook specifications: the version of the hooks, the marker of an implementation, and what each hook is asked for.

Every hook is a function that returns an iterable of things, or None; a generator is the shortest way to write one. All
are optional. Each may take `settings`: the plug-in's own settings, an instance of the model that its `ralph_settings`
returns, or None without one. A hook may leave the argument out.

Ralph calls each hook once, at the start, in the thread that runs everything else: a hook should only name things, and
leave the work to them.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph import RunRecord
    from ralph.analysis import Detector, Keyword
    from ralph.decision.claims import Strategy
    from ralph.hooks import Hooks
    from ralph.plugins.providers import Command, Delivery, PromptPart, Provider
    from ralph.status import StatusField
    from ralph.verifiers import VerifierProvider
    from ralph.watch.web import Page

NAME = "ralph"
"""The group of entry points, and the project in pluggy's sense."""

API_VERSION = 1
"""The version of the hooks. A plug-in with `RALPH_API = 2` is made for other hooks, and is refused."""

hookimpl = pluggy.HookimplMarker(NAME)
"""Marks a plug-in's function as the implementation of the hook with its name."""

hookspec = pluggy.HookspecMarker(NAME)


@hookspec
def ralph_settings() -> "type[BaseModel] | None":
    """Return the model of the plug-in's own settings, the table `[plugins.NAME]`, where NAME is the plug-in's.

    This hook is called before all others. The model validates what is set in ralph.toml, or in variables such as
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
    """Return completion keywords, added to the built-in ones and those of the settings.

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
    """Return fields that the agent is asked for in its status block, parsed into `StatusReport.fields`.

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
    """Return detectors of the built-in analyzer, which run after its own.

    A detector is a pure function from a reply to
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
def ralph_analyzers(settings: "BaseModel | None") -> "Iterable[Provider] | None":
    """Return whole analyzers in addition to the built-in one, used where `--analyzer NAME` names them.

    Its result for a reply is in `analysis.further[NAME]`. With `Analysis.opinion` it may support a completion or hold
    it back; it can never force one. One that raises has no say in that analysis, and a warning says so.

    Example:
        ```python
        from ralph import Analysis
        from ralph.analysis import Opinion
        from ralph.plugins import Provider, hookimpl


        class Brevity:
            def analyze(self, output, status, context):
                if len(output.text) < 40:
                    return Analysis(opinion=Opinion(on_completion="holds_back", reason="the reply is too short"))
                return Analysis()


        @hookimpl
        def ralph_analyzers():
            yield Provider("brevity", "asks for more than a few words", lambda context: Brevity())
        ```
    """


@hookspec
def ralph_executors(settings: "BaseModel | None") -> "Iterable[Provider] | None":
    """Return executors, by the name that `--executor` or `executor.name` gives.

    Example:
        ```python
        from ralph import Answered, Executor
        from ralph.plugins import Provider, hookimpl


        class Echo(Executor):
            name = "echo"

            async def execute(self, prompt, turn):
                return turn.transcript.finish(Answered(), text=f"I was asked: {prompt.task}")


        @hookimpl
        def ralph_executors():
            yield Provider("echo", "says what it was asked", lambda context: Echo())
        ```
    """


@hookspec
def ralph_verifiers(settings: "BaseModel | None") -> "Iterable[VerifierProvider] | None":
    """Return verifiers, by the name that `--verifier NAME:key=value` gives.

    `keys` is the model of what follows the name.

    Example:
        ```python
        from pydantic import BaseModel
        from ralph.plugins import VerifierProvider, hookimpl
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
            yield VerifierProvider("exists", "a file must be there", Keys, lambda keys, context: Exists(keys.path))
        ```
    """


@hookspec
def ralph_strategies(settings: "BaseModel | None") -> "Iterable[Strategy] | None":
    """Return exit strategies, by the name that `--strategy` gives.

    A strategy that raises sees no claim in that iteration.

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
    """Return sections of the prompt, placed before the status contract. One that raises is left out.

    Example:
        ```python
        from ralph.plugins import PromptPart, hookimpl


        def house_rules(context):
            return "Write no comments in German." if context.iteration == 1 else ""


        @hookimpl
        def ralph_prompt_parts():
            yield PromptPart("house rules", "what holds in this house", house_rules)
        ```
    """


@hookspec
def ralph_observers(settings: "BaseModel | None") -> "Iterable[Hooks] | None":
    r"""Return observers of a run (`ralph.Hooks`). They see every event, and may veto an iteration or a completion.

    Example:
        ```python
        from ralph import Hooks
        from ralph.plugins import hookimpl


        class Bell(Hooks):
            async def on_run_finished(self, event):
                print(f"\a{event.stop_reason}")


        @hookimpl
        def ralph_observers():
            yield Bell()
        ```
    """


@hookspec
def ralph_deliveries(settings: "BaseModel | None") -> "Iterable[Callable[[Delivery, RunRecord], object]] | None":
    """Return functions that a worker of the fleet calls when it has delivered the result of a run.

    Each is called in a thread of its own, with a `ralph.plugins.Delivery` and the run's record.

    Example:
        ```python
        from ralph.plugins import hookimpl


        def mail(delivery, record):
            if delivery.kind == "pushed":
                print(f"{record.id}: {delivery.branch} of {delivery.where}")


        @hookimpl
        def ralph_deliveries():
            yield mail
        ```
    """


@hookspec
def ralph_commands(settings: "BaseModel | None") -> "Iterable[Command] | None":
    """Return commands of the program, besides the built-in ones.

    `settings` are those in force where the program is called. If the app cannot be built, the command says so when it
    is called.

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
def ralph_task_sources(settings: "BaseModel | None") -> "Iterable[Provider] | None":
    """Return sources of tasks, by the name that `--task NAME:PLACE` gives.

    A source builds a task's text, or a `ralph.tasks.Task`, which also names the plan that shows how far it is. The
    place is `context.argument`.

    Example:
        ```python
        from ralph.plugins import Provider, hookimpl


        @hookimpl
        def ralph_task_sources():
            yield Provider("notes", "a folder of notes", lambda context: context.argument)
        ```
    """


@hookspec
def ralph_displays(settings: "BaseModel | None") -> "Iterable[Provider] | None":
    """Return displays, by the name that `--display` gives.

    Example:
        ```python
        from ralph.watch import Display
        from ralph.plugins import Provider, hookimpl


        class Dots(Display):
            def show(self, event):
                if event.type == "iteration_finished":
                    self.out.write(".")


        @hookimpl
        def ralph_displays():
            yield Provider("dots", "a dot an iteration", lambda context: Dots())
        ```
    """


@hookspec
def ralph_pages(settings: "BaseModel | None") -> "Iterable[Page] | None":
    """Return pages of the dashboard, which `ralph serve` shows at /pages/NAME, behind its guard.

    What is not `Markup` is escaped. The pages' policy runs no inline script, and applies no inline style.

    Example:
        ```python
        from markupsafe import Markup
        from ralph.plugins import hookimpl
        from ralph.watch.web import Page


        async def show(request):
            runs = await request.store.runs(limit=5)
            return Markup("<ul>{}</ul>").format(Markup("").join(Markup("<li>{}</li>").format(run.task) for run in runs))


        @hookimpl
        def ralph_pages():
            yield Page("last-tasks", "Last tasks", show)
        ```
    """


@hookspec
def ralph_stores(settings: "BaseModel | None") -> "Iterable[Provider] | None":
    """Return stores, by the scheme of the URL that `--store` gives. The whole URL is `context.argument`.

    Example:
        ```python
        from ralph.plugins import Provider, hookimpl
        from ralph.store import MemoryStore


        @hookimpl
        def ralph_stores():
            yield Provider("void", "keeps nothing", lambda context: MemoryStore())
        ```
    """


HOOK_NAMES = tuple(sorted(name for name in globals() if name.startswith(f"{NAME}_")))
"""The names of all hooks."""
