"""`ralph run`: the loop, from one command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ralph.display import Display
    from ralph.record import RunRecord
    from ralph.runner import Runner

__all__ = ["app", "exit_code", "run_to_end"]

app = typer.Typer()

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

Prompt = Annotated[str | None, typer.Argument(metavar="[PROMPT]", help="The task; - reads it from standard input.")]
File = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the task from a file.")]
Folder = Annotated[Path, typer.Option("--directory", "-C", metavar="DIR", help="The folder to work in.")]
ExecutorName = Annotated[
    str | None, typer.Option("--executor", help="copilot (the SDK, then the CLI), copilot-sdk or copilot-cli.")
]
Model = Annotated[str | None, typer.Option("--model", help="The model.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="An OpenAI-compatible endpoint.")]
WireApi = Annotated[str | None, typer.Option("--wire-api", help="completions or responses.")]
Permission = Annotated[str | None, typer.Option("--permission", help="workspace, approve-all or read-only.")]
Context = Annotated[str | None, typer.Option("--context", help="fresh or continue.")]
IterationTimeout = Annotated[str | None, typer.Option("--iteration-timeout", help="A turn's whole time.")]
IdleTimeout = Annotated[str | None, typer.Option("--idle-timeout", help="A turn without a sign of life.")]
ToolTimeout = Annotated[str | None, typer.Option("--tool-timeout", help="One tool.")]
MaxIterations = Annotated[str | None, typer.Option("--max-iterations", help="Iterations.")]
MaxDuration = Annotated[str | None, typer.Option("--max-duration", help="Time of work.")]
MaxTokens = Annotated[str | None, typer.Option("--max-tokens", help="Tokens.")]
MaxRequests = Annotated[str | None, typer.Option("--max-requests", help="Premium requests.")]
MaxCost = Annotated[str | None, typer.Option("--max-cost", help="US dollars.")]
MaxCalls = Annotated[str | None, typer.Option("--max-calls-per-hour", help="Calls an hour.")]
Preset = Annotated[str | None, typer.Option("--preset", help="A breaker profile.")]
StrategyName = Annotated[str | None, typer.Option("--strategy", help="The exit strategy.")]
Verify = Annotated[list[str] | None, typer.Option("--verify", help="A program that must succeed.")]
VerifyShell = Annotated[list[str] | None, typer.Option("--verify-shell", help="The same as a shell command.")]
Plan = Annotated[str | None, typer.Option("--plan", help="The plan file.")]
Promise = Annotated[str | None, typer.Option("--promise", help="What <promise>…</promise> must hold.")]
Trust = Annotated[bool, typer.Option("--trust", help="Consent to the workspace's own settings.")]
StoreName = Annotated[str | None, typer.Option("--store", help="Where runs are kept.")]
DisplayName = Annotated[str | None, typer.Option("--display", help="auto, live, plain, json or none.")]


@app.command()
def run(
    *,
    prompt: Prompt = None,
    file: File = None,
    directory: Folder = Path(),
    executor: ExecutorName = None,
    model: Model = None,
    base_url: BaseUrl = None,
    wire_api: WireApi = None,
    permission: Permission = None,
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
    verify: Verify = None,
    verify_shell: VerifyShell = None,
    plan: Plan = None,
    promise: Promise = None,
    trust: Trust = False,
    store: StoreName = None,
    display: DisplayName = None,
) -> int:
    """Work on a task until the evidence says that it is done."""
    given = dict(locals())
    from ralph.cli.settings import FLAGS, read_settings, workspace_folder

    folder = workspace_folder(directory)
    flags = {flag: given[flag.removeprefix("--").replace("-", "_")] for flag in FLAGS}
    settings = read_settings(folder, flags, trust=trust).settings
    from ralph.cli.assemble import runner_for
    from ralph.cli.prompt import read_prompt
    from ralph.display import open_display

    task = read_prompt(prompt, file)
    shown = open_display(settings.display, look_up=_look_up(settings.store))
    runner = runner_for(settings, workspace=folder, hooks=[shown], progress=shown.progress)
    record = run_to_end(runner, task, shown, endpoint=settings.executor.base_url)
    return exit_code(record)


def run_to_end(runner: "Runner", task: str, display: "Display", *, endpoint: str | None = None) -> "RunRecord":
    """Runs a task under a display; signals end it in good order."""
    import anyio

    from ralph.cli.signals import cancelled_by_signals
    from ralph.executors.endpoint import check_endpoint

    async def whole() -> "RunRecord":
        if endpoint:
            await check_endpoint(endpoint)
        async with cancelled_by_signals(runner, display), runner:
            return await runner.run(task)

    with display:
        return anyio.run(whole)


def _look_up(store: str | None) -> str:
    """The command that shows the run later; none does where it is not kept."""
    import shlex

    if store is None:
        return "ralph show"
    return "" if store == "memory:" else f"ralph show --store {shlex.quote(store)}"


def exit_code(record: "RunRecord") -> int:
    """The exit code that a run's end means."""
    if record.stop_reason == "cancelled" and record.detail == "SIGTERM":
        return 143
    return _EXIT_CODES[record.stop_reason or "error"]
