"""Taking commits off a branch that an agent has made since a checkpoint."""

from ralph.errors import WorkspaceError
from ralph.workspace.repository import Repository
from ralph.workspace.users_git import GitFailedError, UsersGit, under_way_in

__all__ = ["commits_since", "take_off"]


async def commits_since(repository: Repository, checkpoint: str) -> int:
    """How many commits what is checked out has that it did not have at a checkpoint; 0 where that cannot be told."""
    git = UsersGit(repository)
    then = await git("rev-parse", "--quiet", "--verify", f"{checkpoint}^", fails=True)
    found = await git("rev-list", "--count", f"{then}..HEAD", "--", fails=True) if then else ""
    return int(found or 0)


async def take_off(repository: Repository, checkpoint: str, *, kept_at: str) -> str:
    """Moves what is checked out back to the commit of a checkpoint; the index follows, the files stay.

    Returns the commit that it was at before; empty where there was nothing to do.

    Args:
        kept_at: what the refs begin with that keep such commits.

    Raises:
        WorkspaceError: commits of others would go, too, or something is under way in the repository.
    """
    git = UsersGit(repository)
    remedy = "The branch stays as it is; you can move it with `git reset`."
    if under_way := under_way_in(repository):
        raise WorkspaceError(f"The branch cannot be moved: {under_way} is under way in {repository.top}.", remedy)
    try:
        then = await git("rev-parse", "--quiet", "--verify", f"{checkpoint}^", fails=True)
        now = await git("rev-parse", "--quiet", "--verify", "HEAD", fails=True)
        if then == now:
            return ""
        common = await git("merge-base", then, now, fails=True) if then and now else ""
        if not then or common != then:
            why = "what is checked out does not come after the commit of the checkpoint"
            raise WorkspaceError(f"The branch cannot be moved: {why}.", remedy)
        await git("update-ref", f"{kept_at}{now[:12]}", now)
        await git("update-ref", "-m", "ralph rollback", "HEAD", then, now)
        await git("read-tree", then)
    except GitFailedError as error:
        raise WorkspaceError(f"The branch could not be moved: {error}.", remedy) from error
    return now
