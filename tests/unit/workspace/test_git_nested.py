"""New settings and hooks of nested repositories are taken away, as far as they could run a program."""

from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace, nested, open_workspace
from ralph.workspace.protection import RestoredPaths


@pytest.mark.parametrize("staged", [True, False])
async def test_new_settings_and_hooks_of_nested_repositories_are_taken_away(
    repo: Repository, submodule: Path, workspace: Workspace, tmp_path: Path, staged: bool
) -> None:
    theirs = Repository.begin(repo.path / "theirs")
    theirs.write("x", "x\n")
    theirs.commit("x")
    theirs.git("config", "core.pager", "less")
    seen = await workspace.snapshot()
    assert await workspace.guard("run-1") == ""
    await workspace.checkpoint("run-1", 1, "before", seen=seen)

    inner = Repository.begin(repo.path / "own")
    inner.write("inner.txt", "x\n")
    inner.commit("inner")
    inner.git("config", "branch.main.remote", "origin")
    if staged:
        repo.git("add", "own")
    for number in (1, 2):
        assert await workspace.restore_protected("run-1") == RestoredPaths(), number
        await workspace.checkpoint("run-1", number, "after", seen=await workspace.snapshot())
        await workspace.guard("run-1")

    def plant() -> None:
        inner.git("config", "core.fsmonitor", "./evil")
        inner.git("config", "user.name", "upstream")
        Repository(submodule).git("config", "include.path", "evil")
        hook = inner.write(".git/hooks/post-index-change", "#!/bin/sh\n")
        hook.chmod(0o755)
        theirs.git("config", "core.pager", "more")

    plant()
    killed = workspace
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state") if staged else killed
    restored = await workspace.restore_protected("run-1")
    found = {".git/modules/sub/config", "own/.git/config", "own/.git/hooks/post-index-change", "theirs/.git/config"}
    assert set(restored.restored) == found
    assert restored.parts["own/.git/config"] == "core.fsmonitor"
    assert "upstream" in inner.git("config", "--list", "--local")
    assert "fsmonitor" not in inner.git("config", "--list", "--local")
    assert restored.aside is not None
    assert "fsmonitor" in (restored.aside / "own/.git/config").read_text()
    assert await workspace.restore_protected("run-1") == RestoredPaths()


def test_a_folder_outside_that_a_nested_repository_leads_to_is_left_alone(tmp_path: Path) -> None:
    top, other = tmp_path.resolve() / "top", tmp_path.resolve() / "other project"
    for folder in (top / "own/.git", other):
        folder.mkdir(parents=True)
        (folder / "config").write_text("[core]\n")
    (top / "own/.git/commondir").write_text("../../../other project\n")
    found = nested.Nested(top, top / ".git").find([b"own"])
    assert not [path for path in found.paths() if path.startswith(str(other))]
    assert found.strays == {top / "own/.git/commondir"}


async def test_what_is_found_while_no_turn_ran_is_no_one_elses(repo: Repository, workspace: Workspace) -> None:
    """One that the agent made after it was last looked at is not taken for the user's at the next turn."""
    await workspace.snapshot()
    await workspace.guard("run-1")
    await workspace.restore_protected("run-1")
    inner = Repository.begin(repo.path / "own")
    inner.git("config", "core.fsmonitor", "./evil")
    await workspace.snapshot()
    await workspace.guard("run-1")
    assert (await workspace.restore_protected("run-1")).restored == ("own/.git/config",)


async def test_the_index_is_read_again_only_if_it_has_changed(
    repo: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[Path]()
    found = nested._gitlinks  # pyright: ignore[reportPrivateUsage]

    def seen(index: Path) -> list[bytes]:
        read.append(index)
        return found(index)

    monkeypatch.setattr(nested, "_gitlinks", seen)
    for _ in range(3):
        await workspace.guard("run-1")
        await workspace.restore_protected("run-1")
    repo.write("c.txt", "c\n")
    repo.git("add", "c.txt")
    await workspace.restore_protected("run-1")
    assert len(read) == 2


async def test_what_is_beyond_those_that_are_looked_at_is_named(
    repo: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested, "_REPOSITORIES", 2)
    await workspace.guard("run-1")
    for name in "abc":
        Repository.begin(repo.path / name).git("commit", "--quiet", "--allow-empty", "-m", "x")
        repo.git("add", name)
    assert (await workspace.restore_protected("run-1")).left == ("c",)


async def test_folders_that_are_not_looked_at_are_named(
    repo: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested, "_FOLDERS", 20)
    await workspace.guard("run-1")
    for number in range(40):
        (repo.path / f"{number}").mkdir()
    left = (await workspace.restore_protected("run-1")).left
    assert left
    assert all(name.isdigit() for name in left)
