"""`ralph rollback`: the files of a workspace as a run's iteration left them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import AsJson, RunId, StoreName

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.workspace.restore import Restored

__all__ = ["app"]

app = typer.Typer(add_completion=False)

To = Annotated[
    str,
    typer.Option(
        "--to", metavar="N", help="The iteration to go back to (0: before the run), or a checkpoint's commit."
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Go back even if no checkpoint holds some changes; they are saved first.")
]
ResetBranch = Annotated[
    bool, typer.Option("--reset-branch", help="Also remove the commits made since from the branch; a ref keeps them.")
]


@app.command()
def rollback(
    run: RunId,
    *,
    to: To,
    force: Force = False,
    reset_branch: ResetBranch = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Restore the files as they were after an iteration.

    Branch, commits, index and ignored files stay as they are. Nothing is
    discarded unless a checkpoint holds it.
    """
    import anyio

    told = anyio.run(_roll_back, run, to, force, reset_branch, store)
    if as_json:
        from ralph.cli.output import print_json

        print_json(told)
    else:
        _print(told, store)


async def _roll_back(name: str, to: str, force: bool, reset_branch: bool, store: str | None) -> dict[str, Any]:  # noqa: FBT001
    from ralph.cli.checkpoints import commit_after, workspace_of
    from ralph.cli.lookup import find_run, opened_store
    from ralph.cli.own_files import own_files

    async with opened_store(store) as opened:
        run = await find_run(opened, name)
        _require_over(run)
        async with workspace_of(run, apart=own_files(store)) as workspace:
            workspace.hold(run.id)
            commit = await commit_after(opened, run, workspace, to)
            restored = await workspace.restore(commit, force=force)
            off = await workspace.take_off(run.id, commit) if reset_branch else ""
            return _told(run, commit, restored, off=off, ahead=await workspace.commits_since(commit))


def _require_over(run: "RunRecord") -> None:
    from ralph.cli.lookup import is_alive
    from ralph.errors import UsageError

    if is_alive(run):
        raise UsageError(f"Run {run.id} is at work in {run.workspace}.", f"`ralph stop {run.id}` ends it.")


def _told(run: "RunRecord", commit: str, restored: "Restored", *, off: str, ahead: int) -> dict[str, Any]:
    return {
        "run": run.id,
        "workspace": run.workspace,
        "checkpoint": commit,
        "written": restored.written,
        "removed": restored.removed,
        "before": restored.saved,
        "aside": str(restored.aside) if restored.aside else None,
        "repositories_inside": list(restored.inner),
        "problem": restored.problem,
        "commits_since": ahead,
        "branch_was_at": off or None,
    }


def _print(told: dict[str, Any], store: str | None) -> None:
    from rich.text import Text

    from ralph.cli.output import console
    from ralph.cli.store_url import named
    from ralph.watch.terminal import one_line

    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(Text(one_line(text, 1000), style=style), soft_wrap=True)

    changed = f"{told['written']} written, {told['removed']} removed"
    same = not (told["written"] or told["removed"])
    say(
        "The files are already in that state."
        if same
        else f"{told['workspace']} is back at checkpoint {told['checkpoint'][:12]}: {changed}."
    )
    if told["before"]:
        back = f"ralph rollback{named(store)} {told['run']} --to {told['before'][:12]}"
        say(f"To undo this: {back}")
    if told["aside"]:
        say(f"What was in the way is now in {told['aside']}.", "yellow")
    if told["repositories_inside"]:
        say(f"Left unchanged, as repositories of their own: {', '.join(told['repositories_inside'])}.", "yellow")
    if told["branch_was_at"]:
        was = told["branch_was_at"][:12]
        say(f"The branch was at {was}: `git reset {was}` brings its commits back.")
    elif told["commits_since"]:
        commits = "a commit" if told["commits_since"] == 1 else f"{told['commits_since']} commits"
        say(f"The branch still has {commits} made since; --reset-branch removes what came since.", "yellow")
    if told["problem"]:
        say(told["problem"], "red")
