"""`ralph resume`: continue a run that was stopped, has crashed or is paused."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.lookup import find_run, opened_store, owner_text, require_meant, run_state
from ralph.cli.options import AnyFolder, Folder, NoPlugins, RunId, Trust, Yes
from ralph.cli.output import print_paragraph
from ralph.cli.run import display_for, exit_code, look_up, run_shown
from ralph.cli.settings import ask_at_terminal, stored_settings, usable_settings, with_settings
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.settings import SettingsFound
    from ralph.watch import Display

FromCheckpoint = Annotated[
    bool,
    typer.Option("--from-checkpoint", help="First restore the files as they were before the interrupted iteration."),
]


@with_settings(lambda each: bool(each.flag and each.flag.resume))
def resume(
    *,
    run: RunId = "last",
    any_folder: AnyFolder = False,
    directory: Folder = Path(),
    from_checkpoint: FromCheckpoint = False,
    flags: dict[str, Any],
    trust: Trust = False,
    no_plugins: NoPlugins = False,
    yes: Yes = False,
) -> int:
    """Continue a run that was stopped, has crashed or is paused.

    It keeps the settings that it started with, except for those that the options
    here change. A limit applies to the whole run, including what is used already.
    Exits with the same codes as `ralph run`.
    """
    import anyio

    from ralph.settings import workspace_folder

    folder, store = workspace_folder(directory), flags["--store"]
    record = anyio.run(partial(_find, run, folder, store, any_folder=any_folder))
    if record.stop_reason == "completed":
        return _show_completed(record, folder, flags)
    if run_state(record) == "paused":
        return _continue_paused(record, folder, flags)
    _require_resumable(record)
    require_meant("let an agent work", [record], folder, yes=yes)
    return _continue(record, folder, flags, from_checkpoint=from_checkpoint, trust=trust, no_plugins=no_plugins)


async def _find(name: str, folder: Path, store: str | None, *, any_folder: bool) -> "RunRecord":
    async with opened_store(store, folder) as opened:
        return await find_run(opened, name, folder, any_folder=any_folder)


def _continue_paused(run: "RunRecord", folder: Path, flags: Mapping[str, object]) -> int:
    """Ask the owner of a run to continue; for a reader of JSON, follow the run to its end."""
    import anyio

    from ralph.cli.control import send_request
    from ralph.cli.show import show_events

    found = usable_settings(folder, _of_now(flags))
    now = found.settings

    async def ask(shown: "Display | None") -> "RunRecord":
        async with opened_store(now.store, folder) as opened:
            before = await opened.last_seq(run.id)
            await send_request(opened, run, "resume")
            if shown is None:
                return run
            async for event in opened.events(run.id):
                shown.show(event)
                break
            return await show_events(opened, run, shown, after=max(1, before - 1))

    if now.display != "json":
        anyio.run(ask, None)
        print_paragraph(f"Run {run.id} continues, in {owner_text(run)}.")
        return 0
    with _display(found, folder) as shown:
        ended = anyio.run(ask, shown)
        if run_state(ended) == "crashed":
            raise UsageError(f"The process of run {run.id} is gone.", f"`ralph resume {run.id}` continues it.")
        return exit_code(ended, shown) if ended.stop_reason else 0


def _display(found: "SettingsFound", folder: Path) -> "Display":
    from ralph.plugins.loading import load_plugins

    shown = display_for(found.settings, load_plugins(found, folder), look_up=look_up(found.settings.store))
    shown.begun = True
    return shown


def _require_resumable(run: "RunRecord") -> None:
    """Raise `UsageError` if another process owns the run, or a program other than the command line has started it."""
    if run_state(run) == "running":
        raise UsageError(
            f"Run {run.id} is running, in {owner_text(run)}.",
            f"`ralph logs -f {run.id}` follows it; `ralph stop {run.id}` ends it, and then it can be resumed.",
        )
    if not run.settings:
        raise UsageError(
            f"Run {run.id} was started by a program, and only that program knows its agent and settings.",
            "Resume it there, with `Runner.resume`.",
        )


def _show_completed(run: "RunRecord", folder: Path, flags: Mapping[str, object]) -> int:
    """Report that there is nothing to do, as at the end of the run: it is not an error, so no script tries again."""
    import anyio

    from ralph.records.events import RunFinished, RunStarted

    found = usable_settings(folder, _of_now(flags))

    async def show_ends(shown: "Display") -> None:
        async with opened_store(found.settings.store) as opened:
            for before in (0, await opened.last_seq(run.id) - 1):
                async for event in opened.events(run.id, after=before):
                    if isinstance(event, RunStarted | RunFinished):
                        shown.show(event)
                    break

    with _display(found, folder) as shown:
        shown.note(f"Run {run.id} is completed already. Start another one for what is left.")
        anyio.run(show_ends, shown)
    return exit_code(run, shown)


def _continue(
    run: "RunRecord", here: Path, flags: Mapping[str, object], *, from_checkpoint: bool, trust: bool, no_plugins: bool
) -> int:
    from ralph.plugins.loading import load_plugins
    from ralph.settings import FLAGS, workspace_folder

    folder = workspace_folder(Path(run.workspace or ""))
    found = _settings(run, here, flags, trust=trust)
    settings = found.settings
    plugins = load_plugins(found, Path(run.origin or folder), off=no_plugins, trust=trust, ask=ask_at_terminal)
    shown = display_for(settings, plugins, look_up=look_up(settings.store))
    given = [FLAGS[flag].key for flag, value in flags.items() if value]
    anew = [key.removeprefix("limits.") for key in given if key.startswith("limits.")]
    record = run_shown(
        shown,
        settings,
        folder,
        lambda runner: runner.resume(run.id, anew=anew, from_checkpoint=from_checkpoint),
        plugins=plugins,
    )
    if record.origin:
        from ralph.cli.worktree import end_resumed_worktree

        confined = settings.sandbox.used
        end_resumed_worktree(record, settings.worktree_end, hooks=settings.commit_hooks, confined=confined)
    return exit_code(record, shown)


def _of_now(flags: Mapping[str, object]) -> dict[str, object]:
    """Return the flags that are about this call and not about the run."""
    return {name: flags.get(name) for name in ("--store", "--display")}


def _settings(run: "RunRecord", here: Path, flags: Mapping[str, object], *, trust: bool = False) -> "SettingsFound":
    """Return the settings that the run was started with, changed by the flags.

    Secrets are not stored with the run: they come from the settings in force. Store and display are those of this call.
    """
    from ralph.settings import Source, read_settings, with_flags

    now = usable_settings(here, _of_now(flags)).settings
    origin = Path(run.origin or run.workspace or here)
    there = (read_settings(origin, trust=True) if trust else usable_settings(origin)).settings
    executor = there.executor
    secret = {"headers": executor.headers, **({"api_key": executor.api_key} if executor.api_key else {})}
    present = Source("the settings in force", {"executor": secret, "store": now.store, "display": now.display})
    found = with_flags(
        [Source("the settings in force", {"plugins": there.plugins}), stored_settings(run), present], flags
    )
    settings = found.settings
    before = run.settings.get("executor", {})
    missing = [f"the header {name!r}" for name in before.get("headers", {}) if name not in settings.executor.headers]
    if before.get("api_key") and settings.executor.api_key is None:
        missing.append("the endpoint's key (RALPH_EXECUTOR__API_KEY)")
    if missing:
        raise UsageError(
            f"Run {run.id} used {' and '.join(missing)}, which is not stored with the run and is not set now.",
            "Set it as before, then resume the run.",
        )
    return found
