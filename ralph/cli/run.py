"""`ralph run`: the loop, from one command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import Folder, NoPlugins
from ralph.types import evolve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ralph.loop.runner import Runner
    from ralph.plugins import Plugins
    from ralph.records.record import RunRecord
    from ralph.settings import Settings
    from ralph.system.sandbox import Confinement
    from ralph.watch import Display
    from ralph.workspace.worktree import Worktree

__all__ = ["app", "exit_code", "look_up", "run_to_end", "to_end"]

app = typer.Typer(add_completion=False)

_EXIT_CODES = {
    "completed": 0,
    "error": 1,
    "stuck": 3,
    "test_saturation": 3,
    "circuit_open": 4,
    "limit_reached": 5,
    "executor_unavailable": 6,
    "blocked": 7,
    "cancelled": 130,
}

_AGENT = "The agent"
_ENDS = "When it ends"
_LIMITS = "Limits"
_TIMES = "Time for one turn of the agent (90s, 15m, 2h)"
_WORK = "What becomes of the work"
_ELSE = "Other settings"
_SIGNALS = {"SIGHUP": 129, "SIGTERM": 143}
"""Any other one is SIGINT."""

Prompt = Annotated[str | None, typer.Argument(metavar="PROMPT", help="The task; - reads it from standard input.")]
File = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the task from a file.")]


TaskSource = Annotated[
    str | None,
    typer.Option("--task", metavar="NAME:PLACE", help="Take the task from plan:FILE, prd:FILE or a plug-in's source."),
]


def _setting(flag: str, metavar: str, panel: str, text: str) -> Any:
    """An option that is a setting: unset, what is set elsewhere counts."""
    return typer.Option(flag, metavar=metavar, rich_help_panel=panel, help=text, show_default=False)


ExecutorName = Annotated[
    str | None,
    _setting("--executor", "NAME", _AGENT, "copilot (the SDK, then the CLI), copilot-sdk or copilot-cli."),
]
Model = Annotated[str | None, _setting("--model", "NAME", _AGENT, "The model; else the agent's own default.")]
BaseUrl = Annotated[
    str | None, _setting("--base-url", "URL", _AGENT, "An OpenAI-compatible endpoint instead of GitHub's models.")
]
WireApi = Annotated[str | None, _setting("--wire-api", "NAME", _AGENT, "The endpoint's: completions or responses.")]
Permission = Annotated[
    str | None, _setting("--permission", "MODE", _AGENT, "What its tools may do: workspace, approve-all or read-only.")
]
Allow = Annotated[
    list[str] | None, _setting("--allow", "PATTERN", _AGENT, "What they may do in addition: shell(make); repeatable.")
]
Deny = Annotated[
    list[str] | None, _setting("--deny", "PATTERN", _AGENT, "What they may not do: shell(rm -rf); repeatable.")
]
SandboxKind = Annotated[
    str | None,
    _setting("--sandbox", "KIND", _AGENT, "none, or bwrap: agent and verifiers can write only the workspace."),
]
EnvOnly = Annotated[
    list[str] | None,
    _setting(
        "--env-only", "NAME", _AGENT, "Pass on only these variables, and PATH and the like; repeatable, * allowed."
    ),
]
Context = Annotated[
    str | None, _setting("--context", "WORD", _AGENT, "fresh: a new session for each iteration; continue: one for all.")
]
IterationTimeout = Annotated[str | None, _setting("--iteration-timeout", "TIME", _TIMES, "Time for a whole turn.")]
IdleTimeout = Annotated[str | None, _setting("--idle-timeout", "TIME", _TIMES, "Time without a sign of life.")]
ToolTimeout = Annotated[str | None, _setting("--tool-timeout", "TIME", _TIMES, "Time for one tool.")]
MaxIterations = Annotated[str | None, _setting("--max-iterations", "N", _LIMITS, "Iterations; 50 unless set.")]
MaxDuration = Annotated[str | None, _setting("--max-duration", "TIME", _LIMITS, "The whole time, pauses included.")]
MaxTokens = Annotated[str | None, _setting("--max-tokens", "N", _LIMITS, "Tokens, in and out.")]
MaxRequests = Annotated[str | None, _setting("--max-requests", "N", _LIMITS, "Premium requests.")]
MaxCost = Annotated[str | None, _setting("--max-cost", "USD", _LIMITS, "Cost; the model needs a price in ralph.toml.")]
MaxCalls = Annotated[
    str | None,
    _setting("--max-calls-per-hour", "N", _LIMITS, "Calls of the agent in any hour; beyond that, the run waits."),
]
Preset = Annotated[
    str | None,
    _setting(
        "--preset",
        "NAME",
        _ENDS,
        "When the circuit breaker opens: critical_feature, research_task, simple_script, documentation, debugging "
        "or generic.",
    ),
]
StrategyName = Annotated[
    str | None,
    _setting(
        "--strategy",
        "NAME",
        _ENDS,
        "What counts as a claim that it is done: auto, exit_signal, natural_language, done_signals, fix_plan or "
        "circuit_breaker.",
    ),
]
AnalyzerNames = Annotated[
    list[str] | None,
    _setting("--analyzer", "NAME", _ENDS, "A plug-in's analyzer beside the built-in one; repeatable."),
]
Verify = Annotated[
    list[str] | None,
    _setting("--verify", "CMD", _ENDS, "A program that must succeed to complete the run; repeatable. none: no check."),
]
VerifyShell = Annotated[list[str] | None, _setting("--verify-shell", "CMD", _ENDS, "The same, as a shell command.")]
NamedVerifier = Annotated[
    list[str] | None,
    _setting(
        "--verifier",
        "NAME:KEY=VALUE,…",
        _ENDS,
        "A verifier by name: command, shell or review (a fresh session of the agent judges the work; the default where "
        "nothing else checks it).",
    ),
]
Plan = Annotated[
    str | None, _setting("--plan", "FILE", _ENDS, "The plan, a checklist; by default @fix_plan.md or the like.")
]
Promise = Annotated[
    str | None, _setting("--promise", "TEXT", _ENDS, "The text that means done inside <promise>…</promise>.")
]
Commit = Annotated[
    str | None,
    _setting("--commit", "WHEN", _WORK, "Commit what the run has changed: none, iteration or completion."),
]
InWorktree = Annotated[
    bool,
    typer.Option("--worktree", rich_help_panel=_WORK, help="Work in a worktree of its own, on a branch ralph/RUN."),
]
WorktreeEnd = Annotated[
    str | None,
    _setting("--worktree-end", "WHAT", _WORK, "What happens to it at the end: keep, merge (if completed) or discard."),
]
Protect = Annotated[
    list[str] | None,
    _setting("--protect", "GLOB", _WORK, "Restore these paths if the agent changes them; repeatable."),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", rich_help_panel=_ELSE, help="Consent to what the workspace's own settings would run."),
]
StoreName = Annotated[
    str | None,
    _setting("--store", "URL", _ELSE, "Where runs are kept: a file, a postgresql:// URL, or memory: for nowhere."),
]
DisplayName = Annotated[str | None, _setting("--display", "NAME", _ELSE, "auto, live, plain, json or none.")]


@app.command()
def run(
    *,
    prompt: Prompt = None,
    file: File = None,
    task: TaskSource = None,
    directory: Folder = Path(),
    executor: ExecutorName = None,
    model: Model = None,
    base_url: BaseUrl = None,
    wire_api: WireApi = None,
    permission: Permission = None,
    allow: Allow = None,
    deny: Deny = None,
    sandbox: SandboxKind = None,
    env_only: EnvOnly = None,
    context: Context = None,
    iteration_timeout: IterationTimeout = None,
    idle_timeout: IdleTimeout = None,
    tool_timeout: ToolTimeout = None,
    max_iterations: MaxIterations = None,
    max_duration: MaxDuration = None,
    max_tokens: MaxTokens = None,
    max_requests: MaxRequests = None,
    max_cost: MaxCost = None,
    max_calls_per_hour: MaxCalls = None,
    preset: Preset = None,
    strategy: StrategyName = None,
    analyzer: AnalyzerNames = None,
    verify: Verify = None,
    verify_shell: VerifyShell = None,
    verifier: NamedVerifier = None,
    plan: Plan = None,
    promise: Promise = None,
    commit: Commit = None,
    worktree: InWorktree = False,
    worktree_end: WorktreeEnd = None,
    protect: Protect = None,
    trust: Trust = False,
    no_plugins: NoPlugins = False,
    store: StoreName = None,
    display: DisplayName = None,
) -> int:
    """Work on a task until the evidence says that it is done.

    Ends with 0 when completed, 1 after a fault, 2 for wrong usage, 3 when stuck,
    4 with an open circuit, 5 at a limit, 6 when no executor can work, 7 when the
    agent needs a person, 130 or 143 after a signal.
    """
    given = dict(locals())
    from ralph.cli.settings import FLAGS, read_settings, workspace_folder
    from ralph.errors import UsageError

    if worktree_end and not worktree:
        raise UsageError("--worktree-end is only for a run in a worktree.", "Add --worktree.")
    folder = workspace_folder(directory)
    flags = {flag: given[flag.removeprefix("--").replace("-", "_")] for flag in FLAGS}
    if verify == ["none"]:
        flags |= {"--verify-shell": verify_shell or [], "--verifier": verifier or []}
    found = read_settings(folder, flags, trust=trust)
    settings = found.settings
    from ralph.cli.assemble import display_for
    from ralph.cli.plugin_loading import load_plugins
    from ralph.cli.prompt import read_prompt

    plugins = load_plugins(found, folder, off=no_plugins, trust=trust, ask=True)

    text = read_prompt(prompt, file, task)
    shown = display_for(settings, plugins, look_up=look_up(settings.store))
    if not worktree:
        return exit_code(_run_in(folder, settings, text, plugins, shown, source=task), shown)
    from ralph.cli.worktree import end_worktree, new_worktree

    if settings.worktree_end == "merge" and settings.commit == "none":
        settings = evolve(settings, commit="completion")
    with new_worktree(folder) as made:
        record = _run_in(made.path, settings, text, plugins, shown, source=task, made=made)
    end_worktree(made, settings.worktree_end, record)
    return exit_code(record, shown)


def _run_in(
    folder: Path,
    settings: "Settings",
    task: str,
    plugins: "Plugins",
    shown: "Display",
    *,
    source: str | None = None,
    made: "Worktree | None" = None,
) -> "RunRecord":
    """Runs a task, or that of a source, in the folder that is worked in, which may be a worktree made for it."""
    from ralph.cli.assemble import confinement_for, runner_for
    from ralph.cli.plan_file import look_at_plan

    if source is not None:
        given = plugins.task(source, folder)
        task, settings = given.text, evolve(settings, plan=given.plan or settings.plan)
    look_at_plan(folder, settings.plan)
    runner = runner_for(
        settings,
        workspace=folder,
        plugins=plugins,
        origin=made.origin if made else None,
        onto=made.onto if made else None,
        hooks=[shown],
        progress=shown.progress,
        verifying=shown.verifying,
        looking=shown.looking,
    )
    return to_end(
        runner,
        lambda: runner.run(task, run_id=made.run_id if made else None),
        shown,
        endpoint=settings.executor.base_url,
        confinement=confinement_for(settings, folder),
    )


def run_to_end(runner: "Runner", task: str, display: "Display") -> "RunRecord":
    """Runs a task under a display; signals end it in good order."""
    return to_end(runner, lambda: runner.run(task), display)


def to_end(
    runner: "Runner",
    work: "Callable[[], Awaitable[RunRecord]]",
    display: "Display",
    *,
    endpoint: str | None = None,
    confinement: "Confinement | None" = None,
) -> "RunRecord":
    """Has a runner do its work under a display; signals end it in good order.

    An endpoint that does not answer and a sandbox that does not work are refused before anything is written.
    """
    import anyio

    from ralph.cli.signals import cancelled_by_signals
    from ralph.executors.endpoint import check_endpoint

    async def whole() -> "RunRecord":
        if endpoint:
            await check_endpoint(endpoint)
        if confinement is not None:
            await confinement.require()
        async with cancelled_by_signals(runner, display), runner:
            return await work()

    with display:
        return anyio.run(whole)


def look_up(store: str | None) -> str:
    """The command that shows the run later, without a password; none does where it is not kept."""
    from ralph.cli.store_url import store_option

    return "" if store == "memory:" else f"ralph show{store_option(store)}"


def exit_code(record: "RunRecord", shown: "Display | None" = None) -> int:
    """The exit code that a run's end means; a completion of which not all could be shown has that of a full disk."""
    if record.stop_reason == "cancelled" and record.detail in _SIGNALS:
        return _SIGNALS[record.detail]
    code = _EXIT_CODES[record.stop_reason or "error"]
    return _EXIT_CODES["error"] if code == 0 and shown is not None and shown.out.refused else code
