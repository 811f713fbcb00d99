"""`ralph run`: run the loop, and read its task from the command line, a file or standard input."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import Folder, NoPlugins, Trust
from ralph.cli.settings import ask_at_terminal, with_settings
from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.system.declarations import WORK
from ralph.types import evolve
from ralph.types.plan import read_plan

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractContextManager

    from ralph.hooks import Hooks
    from ralph.loop.runner import Runner
    from ralph.plugins import Plugins
    from ralph.records.record import RunRecord
    from ralph.settings import Settings
    from ralph.watch import Display
    from ralph.workspace.worktree import Worktree

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

_MOST_BYTES = 1_000_000
_HOW = 'Give the task as an argument (`ralph run "Make the tests pass"`), with -f FILE, or with - from standard input.'

_SIGNALS = {"SIGHUP": 129, "SIGTERM": 143}
"""Any other signal is SIGINT."""

Prompt = Annotated[str | None, typer.Argument(metavar="PROMPT", help="The task; - reads it from standard input.")]
File = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the task from a file.")]
TaskSource = Annotated[
    str | None,
    typer.Option("--task", metavar="NAME:PLACE", help="Take the task from plan:FILE, prd:FILE or a plug-in's source."),
]
InWorktree = Annotated[
    bool,
    typer.Option("--worktree", rich_help_panel=WORK, help="Work in a new worktree, on a branch ralph/RUN."),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", rich_help_panel=WORK, help="Work in a folder even if it is a home folder, the disk, or very large."
    ),
]


@with_settings()
def run(
    *,
    prompt: Prompt = None,
    file: File = None,
    task: TaskSource = None,
    directory: Folder = Path(),
    flags: dict[str, Any],
    worktree: InWorktree = False,
    force: Force = False,
    trust: Trust = False,
    no_plugins: NoPlugins = False,
) -> int:
    """Work on a task until the evidence says that it is done.

    Exits with 0 when completed, 1 after an internal error, 2 for wrong usage,
    3 when stuck, 4 with an open circuit, 5 at a limit, 6 when no executor can
    work, 7 when the agent needs you, 130 or 143 after a signal.
    """
    from ralph.plugins.loading import load_plugins
    from ralph.settings import FLAGS, read_settings, workspace_folder

    if flags["--worktree-end"] and not worktree:
        raise UsageError("--worktree-end is only for a run in a worktree.", "Add --worktree.")
    folder = workspace_folder(directory)
    if flags["--verify"] == ["none"]:
        flags |= {name: flags[name] or [] for name in ("--verify-shell", "--verifier")}
    found = read_settings(folder, flags, trust=trust, ask=ask_at_terminal)
    settings = found.settings
    plugins = load_plugins(found, folder, off=no_plugins, trust=trust, ask=ask_at_terminal)
    text = read_prompt(prompt, file, task)
    shown = display_for(settings, plugins, look_up=look_up(settings.store))
    for flag, value in flags.items():
        if FLAGS[flag].is_duration and isinstance(value, str) and value.isdecimal() and int(value) < 60:
            shown.note(f"{flag} {value} is {value} seconds. Write {value}m or {value}h if you mean minutes or hours.")
    if not worktree:
        return exit_code(_run_in(folder, settings, text, plugins, shown, source=task, force=force), shown)
    from ralph.cli.worktree import end_worktree, new_worktree

    if settings.worktree_end == "merge" and settings.commit == "none":
        settings = evolve(settings, commit="completion")
    with new_worktree(folder, hooks=settings.commit_hooks, confined=settings.sandbox.used) as made:
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
    force: bool = False,
    made: "Worktree | None" = None,
) -> "RunRecord":
    """Run a task, or that of a source, in a folder, which may be a worktree made for the run."""
    if source is not None:
        given = plugins.task(source, folder)
        task, settings = given.text, evolve(settings, plan=given.plan or settings.plan)
    look_at_plan(folder, settings.plan)
    origin: dict[str, Any] = {"origin": made.origin, "onto": made.onto} if made else {}
    run_id = made.run_id if made else None
    wide = force or made is not None
    return run_shown(
        shown, settings, folder, lambda runner: runner.run(task, run_id=run_id), wide=wide, plugins=plugins, **origin
    )


def run_shown(
    shown: "Display",
    settings: "Settings",
    folder: Path,
    work: "Callable[[Runner], Awaitable[RunRecord]]",
    *,
    wide: bool = True,
    hooks: "Sequence[Hooks]" = (),
    **more: Any,
) -> "RunRecord":
    """Let a runner with these settings work in a folder under a display; a signal ends it in order.

    A sandbox that does not work is an error before anything is written, and so is an endpoint that does not answer,
    unless the run has time to wait for it.

    Args:
        work: starts or resumes the run.
        wide: the folder may be a home folder, the disk, or very large.
        hooks: observers in addition to the display.
        more: further arguments of `runner_arguments`.
    """
    import anyio

    from ralph.cli.signals import cancelled_by_signals
    from ralph.executors.endpoint import check_endpoint
    from ralph.loop.assembly import confinement_for, runner_arguments
    from ralph.loop.runner import Runner
    from ralph.workspace.extent import require_narrow

    seen = {"progress": shown.progress, "verifying": shown.verifying, "scanning": shown.scanning}
    with _telemetry(shown.note, settings, more.get("plugins")) as observers:
        hooks = [shown, *observers, *hooks]
        arguments = runner_arguments(settings, workspace=folder, hooks=hooks, **seen, **more)
        runner = Runner(**arguments)
        runner.note = shown.note

        async def whole() -> "RunRecord":
            if not wide:
                await require_narrow(arguments["workspace"])
            if settings.executor.base_url:
                try:
                    await check_endpoint(settings.executor.base_url)
                except ExecutorUnavailableError as down:
                    if settings.limits.max_duration is None:
                        raise
                    shown.note(f"{down.problem} The run waits for it, until --max-duration is over.")
            await confinement_for(settings, folder).require()
            # until the store is open, a signal ends the program at once
            async with arguments["store"], cancelled_by_signals(runner, shown), runner:
                return await work(runner)

        with shown:
            return anyio.run(whole)


def _telemetry(
    note: "Callable[[str], None]", settings: "Settings", plugins: "Plugins | None"
) -> "AbstractContextManager[list[Hooks]]":
    """Return the observers that the standard variables of OpenTelemetry want; loads nothing without one."""
    if not any(name.startswith("OTEL_") for name in os.environ):
        return nullcontext([])
    from ralph.loop.assembly import redactor_for
    from ralph.watch.telemetry import exporting

    return exporting(note, redactor_for(settings, plugins))


def display_for(settings: "Settings", plugins: "Plugins", *, look_up: str) -> "Display":
    """Return the display that the settings name."""
    from ralph.cli.json_stream import begin_stream
    from ralph.plugins import BuildContext

    context = BuildContext(look_up=look_up, endpoint=bool(settings.executor.base_url))
    shown = plugins.display(settings.display, context)
    begin_stream(shown)
    return shown


def look_up(store: str | None) -> str:
    """Return the command that shows the run later, without a password; empty if the run is not stored."""
    from ralph.cli.lookup import store_option

    return "" if store == "memory:" else f"ralph show{store_option(store)}"


def exit_code(record: "RunRecord", shown: "Display | None" = None) -> int:
    """Return the exit code for the end of a run; 1 for a completed run whose output could not all be written."""
    if record.stop_reason == "cancelled" and record.detail in _SIGNALS:
        return _SIGNALS[record.detail]
    code = _EXIT_CODES[record.stop_reason or "error"]
    return _EXIT_CODES["error"] if code == 0 and shown is not None and shown.out.refused else code


def read_prompt(text: str | None, file: Path | None, source: str | None = None) -> str:
    """Return the task; empty if a source of tasks gives it.

    Raises:
        UsageError: there is no task, there is more than one, or it cannot be read.
    """
    if text is not None and file is not None:
        raise UsageError("The task is given twice: as an argument and with -f.", "Give it once.")
    if source is not None:
        if text is not None or file is not None:
            raise UsageError("The task is given twice: with --task and in another way.", "Give it once.")
        return ""
    if file is not None and str(file) != "-":
        task, source = _from_file(file), f"The file {str(file)!r}"
    elif text == "-" or file is not None:
        task, source = _decoded(sys.stdin.buffer.read(_MOST_BYTES + 1), "Standard input"), "Standard input"
    elif text is None:
        raise UsageError("There is no task.", _HOW)
    elif len(text) < 200 and not any(map(str.isspace, text)) and os.path.isfile(text):  # noqa: PTH113 - never raises
        raise UsageError(f"The task {text!r} names a file.", f"`ralph run -f {quote(text)}` reads the task from it.")
    else:
        task, source = text, "The task"
    if not task.strip():
        raise UsageError(f"{source} is empty.", _HOW)
    return task


def look_at_plan(workspace: Path, name: str | None) -> None:
    """Warn about a named plan that does not exist yet: it counts as soon as the agent has written it.

    Raises:
        UsageError: the file exists, but no plan can be read from it.
    """
    if name is None:
        return
    plan = read_plan(workspace, name)
    named = f"The plan {name[:200]!r}"
    if plan is None:
        sys.stderr.write(f"ralph: {named} is not in the workspace yet; it counts once it is there.\n")
    elif plan.problem and not plan.items:
        raise UsageError(f"{named} cannot be used: {plan.problem}.", "Name a file of the workspace, or leave it out.")


def _from_file(path: Path) -> str:
    named = f"The file {str(path)!r}"
    try:
        with path.open("rb") as file:
            return _decoded(file.read(_MOST_BYTES + 1), named)
    except FileNotFoundError:
        raise UsageError(f"{named} does not exist.", "Name the file that holds the task.") from None
    except OSError as error:
        raise UsageError(f"{named} cannot be read: {error.strerror}.", "Name a file that can be read.") from error


def _decoded(content: bytes, named: str) -> str:
    if len(content) > _MOST_BYTES:
        raise UsageError(
            f"{named} is larger than {_MOST_BYTES:,} bytes.",
            "Keep what the agent should read in the workspace, and name it in the task.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{named} is not UTF-8: line {line} has other bytes.", "Save it as UTF-8.") from None
