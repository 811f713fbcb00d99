"""`ralph diff` and `ralph rollback`: the files of a run by its checkpoints, compared and restored."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.lookup import find_iteration, is_alive, opened_run, require_meant, store_option
from ralph.cli.options import AnyFolder, AsJson, RunId, StoreName, Yes
from ralph.cli.output import console, print_json, print_paragraph
from ralph.errors import UsageError
from ralph.system.text import one_line, printable

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.workspace import Workspace
    from ralph.workspace.checkpoints import FileChange, Restored

_MOST = 20_000_000
_APART = " is a repository of its own: what the run changed in it is not part of this."

_STYLES = (("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))
_SHORTEST_ID = 7

Iteration = Annotated[
    int | None, typer.Option("--iteration", metavar="N", min=1, help="Only that iteration; else the whole run.")
]
Stat = Annotated[bool, typer.Option("--stat", help="Only the files, with the numbers of added and removed lines.")]
Patch = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", resolve_path=True, help="Patch for `git apply`.")
]
To = Annotated[
    str,
    typer.Option(
        "--to", metavar="N", help="The iteration to go back to (0: before the run), or a checkpoint's commit."
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Go back even if no checkpoint contains some changes; they are saved first.")
]
ResetBranch = Annotated[
    bool, typer.Option("--reset-branch", help="Also remove the commits made since from the branch; a ref keeps them.")
]


async def diff(
    *,
    run: RunId = "last",
    any_folder: AnyFolder = False,
    iteration: Iteration = None,
    stat: Stat = False,
    output: Patch = None,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Show what a run has changed, in commits and in uncommitted files, according to its checkpoints."""
    async with opened_run(run, store, any_folder=any_folder) as (opened, record):
        limit = 1 if stat or output else _MOST
        before, after, files, text, inner = await difference_of(opened, record, iteration, limit, output)
    if as_json:
        changed = [file._asdict() for file in files]
        ends = {"iteration": iteration, "before": before, "after": after}
        whole = {} if stat or output else {"diff": text}
        print_json({"run": record.id, **ends, "files": changed, **whole, "repositories_changed": inner})
        return
    for each in inner:  # standard output has the difference alone
        sys.stderr.write(f"{printable(each)}{_APART}\n")
    if stat and files:
        from ralph.watch.report_stats import diffstat

        print_paragraph("\n".join(diffstat(files)))
    elif files and output:
        print_paragraph(f"Wrote {one_line(str(output), 400)}.")
    elif text:
        _print_diff(text)
    else:
        changer = f"Run {record.id}" if iteration is None else f"Iteration {iteration} of run {record.id}"
        sys.stderr.write(f"{changer} has changed no files in {printable(str(record.workspace))}.\n")


async def difference_of(
    store: "Store", run: "RunRecord", iteration: int | None, limit: int = _MOST, patch: Path | None = None
) -> "tuple[str, str, list[FileChange], str, list[str]]":
    """Return the checkpoints around an iteration or the run, the changed files, the difference, nested repositories."""
    from ralph.loop.retention import workspace_of

    before, after = await _ends(store, run, iteration)
    async with workspace_of(run, read_only=True) as workspace:
        checkpoints = workspace.checkpoints
        files = await checkpoints.files(before, after) if checkpoints else []
        text = await workspace.difference(before, after, limit=limit)
        await _require(run, workspace, before, after)
        if patch and checkpoints:
            await checkpoints.write_patch(before, after, patch)
        numbers = range(iteration or 1, (iteration or sys.maxsize - 1) + 1)
        return before, after, files, text, await _changed_inside(store, run, workspace, after, numbers)


async def _changed_inside(
    store: "Store", run: "RunRecord", workspace: "Workspace", commit: str, numbers: range
) -> list[str]:
    """Return the nested repositories in a checkpoint in which these iterations changed something."""
    names = await workspace.checkpoints.repositories(commit) if workspace.checkpoints else []
    found: set[str] = set()
    async for each in store.iterations(run.id):
        if not names:
            break
        if each.number in numbers:
            found |= {name for name in names if any(path.startswith(f"{name}/") for path in each.changes.files)}
    return sorted(found)


async def _require(run: "RunRecord", workspace: "Workspace", *commits: str) -> None:
    """Raise `UsageError` if one of a run's checkpoints no longer exists, with the reason if it is known."""
    for commit in commits:
        if workspace.checkpoints is not None and not await workspace.checkpoints.holds(commit):
            gone = f"Checkpoint {commit[:12]} of run {run.id} no longer exists"
            if run.pruned:
                raise UsageError(f"{gone}: it was {run.pruned}.", "A greater state_limit keeps more of them.")
            raise UsageError(f"{gone}.", "`ralph logs` still shows what the run did.")


async def _ends(store: "Store", run: "RunRecord", number: int | None) -> tuple[str, str]:
    """Return the checkpoints before and after an iteration, or the whole run. Raises `UsageError` if one is missing."""
    from ralph.loop.recovery import checkpoint_before

    last: str | None = None
    if number is None:
        first = run.checkpoint
        async for iteration in store.iterations(run.id):
            last = iteration.checkpoint.commit or last
    else:
        last = (await find_iteration(store, run, number)).checkpoint.commit
        first = await checkpoint_before(store, run.id, number)
    if first is None or last is None:
        what = "the run" if number is None else f"iteration {number}"
        raise UsageError(
            f"Run {run.id} lacks a checkpoint from before or after {what}.", f"`ralph show {run.id}` says why."
        )
    return first, last


def _print_diff(text: str) -> None:
    """Print a difference without control characters: coloured on a terminal, else as git prints it."""
    lines = [printable(line, len(line) + 1) for line in text.split("\n")[:-1]]
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    from rich.text import Text

    out = console()
    for line in lines:
        style = next((style for start, style in _STYLES if line.startswith(start)), "")
        out.print(Text(line, style=style), soft_wrap=True)


async def rollback(
    *,
    run: RunId,
    any_folder: AnyFolder = False,
    to: To,
    force: Force = False,
    reset_branch: ResetBranch = False,
    yes: Yes = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Restore the files as they were after an iteration.

    Branch, commits, index and ignored files stay as they are. Nothing is
    discarded unless a checkpoint holds it.
    """
    from ralph.loop.assembly import own_files
    from ralph.loop.retention import workspace_of

    async with opened_run(run, store, any_folder=any_folder) as (opened, record):
        if is_alive(record):
            raise UsageError(f"Run {record.id} is running in {record.workspace}.", f"`ralph stop {record.id}` ends it.")
        require_meant("change files", [record], yes=yes)
        async with workspace_of(record, excluded=own_files(store)) as workspace:
            workspace.acquire(record.id)
            commit = await _commit_after(opened, record, workspace, to)
            await _require(record, workspace, commit)
            result = _as_json(record, commit, await workspace.restore(commit, force=force))
            branch_was_at = await workspace.reset_branch(record.id, commit) if reset_branch else ""
            later = range(int(to) + 1 if len(to) < _SHORTEST_ID else 1, sys.maxsize)
            result["repositories_changed"] = await _changed_inside(opened, record, workspace, commit, later)
            result["commits_since"] = await workspace.commits_since(commit)
    result["branch_was_at"] = branch_was_at or None
    if as_json:
        print_json(result)
    else:
        _print_result(result, store)


def _as_json(run: "RunRecord", commit: str, restored: "Restored") -> dict[str, Any]:
    where = {"run": run.id, "workspace": run.workspace, "checkpoint": commit}
    counts = {"written": restored.written, "removed": restored.removed, "before": restored.saved}
    aside = str(restored.aside) if restored.aside else None
    return {**where, **counts, "aside": aside, "repositories_inside": [*restored.inner], "problem": restored.problem}


def _print_result(result: dict[str, Any], store: str | None) -> None:
    from rich.text import Text

    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(Text(one_line(text, 1000), style=style), soft_wrap=True)

    if result["written"] or result["removed"]:
        changed = f"{result['written']} written, {result['removed']} removed"
        say(f"{result['workspace']} is back at checkpoint {result['checkpoint'][:12]}: {changed}.")
    else:
        say("The files are already in that state.")
    if result["before"]:
        say(f"To undo this: ralph rollback{store_option(store)} {result['run']} --to {result['before'][:12]}")
    if result["aside"]:
        say(f"Files that were in the way are now in {result['aside']}.", "yellow")
    if result["repositories_inside"]:
        say(f"Left unchanged, as repositories of their own: {', '.join(result['repositories_inside'])}.", "yellow")
    for each in result["repositories_changed"]:
        say(f"{each}{_APART}", "yellow")
    if result["branch_was_at"]:
        was = result["branch_was_at"][:12]
        say(f"The branch was at {was}: `git reset {was}` brings its commits back.")
    elif result["commits_since"]:
        commits = "a commit" if result["commits_since"] == 1 else f"{result['commits_since']} commits"
        say(f"The branch still has {commits} made since; --reset-branch removes them.", "yellow")
    if result["problem"]:
        say(result["problem"], "red")


async def _commit_after(store: "Store", run: "RunRecord", workspace: "Workspace", to: str) -> str:
    """Return the checkpoint after an iteration, before the run for "0", or with an id that starts so."""
    if not (to.isascii() and to.isdigit() and len(to) < _SHORTEST_ID):
        found = await workspace.checkpoints.find(run.id, to.lower()) if workspace.checkpoints else None
        if found is None or len(to) < _SHORTEST_ID:
            raise UsageError(
                f"Run {run.id} has no checkpoint {to[:80]!r}.",
                "Name an iteration, as in --to 3, or 0 for before the run.",
            )
        return found
    if int(to) == 0:
        commit, problem, when = run.checkpoint, "", "before its first iteration"
    else:
        checkpoint = (await find_iteration(store, run, int(to))).checkpoint
        commit, problem, when = checkpoint.commit, checkpoint.problem, f"after iteration {int(to)}"
    if commit is None:
        raise UsageError(f"Run {run.id} has no checkpoint from {when}. {problem}".strip(), "Name another one.")
    return commit
