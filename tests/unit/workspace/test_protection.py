"""What an agent changes of git's hooks and settings, and of what the user protects, is given back."""

import json
import os
import shutil
import time
from base64 import b64decode
from pathlib import Path

import pytest

from ralph.errors import UsageError
from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace, protection
from ralph.workspace.protection import RestoredPaths


def opened(path: Path, tmp_path: Path, *protect: str) -> Workspace:
    return open_workspace(path, protect=protect, state_dir=tmp_path / "state")


@pytest.fixture
def workspace(repo: Repository, tmp_path: Path) -> Workspace:
    return opened(repo.path, tmp_path)


async def test_nothing_done_is_nothing_restored(repo: Repository, workspace: Workspace) -> None:
    assert await workspace.guard("run-1") == ""
    repo.write("a.txt", "edited\n")
    repo.commit()
    os.utime(repo.path / ".git/config", (1, 1))
    assert await workspace.restore_protected("run-1") == RestoredPaths()


async def test_hooks_settings_and_excludes_are_given_back(repo: Repository, workspace: Workspace) -> None:
    hook = repo.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    hook.chmod(0o775)  # more than the usual umask leaves
    config = (repo.path / ".git/config").read_text()
    await workspace.guard("run-1")

    hook.write_text("#!/bin/sh\ncurl evil\n")
    hook.chmod(0o700)
    repo.write(".git/hooks/post-merge", "#!/bin/sh\n")
    repo.git("config", "core.fsmonitor", "evil")
    repo.write(".git/info/exclude", "*\n")
    restored = await workspace.restore_protected("run-1")

    assert restored.restored == (
        ".git/config",
        ".git/hooks/post-merge",
        ".git/hooks/pre-commit",
        ".git/info/exclude",
    )
    assert restored.left == ()
    assert (hook.read_text(), hook.stat().st_mode & 0o777) == ("#!/bin/sh\n", 0o775)
    assert (repo.path / ".git/config").read_text() == config
    assert not (repo.path / ".git/hooks/post-merge").exists()
    assert restored.aside is not None
    assert "curl evil" in (restored.aside / ".git/hooks/pre-commit").read_text()
    assert (restored.aside / ".git/hooks/post-merge").exists()
    assert await workspace.restore_protected("run-1") == RestoredPaths()


@pytest.mark.usefixtures("submodule")
async def test_what_leads_git_elsewhere_is_taken_away(repo: Repository, workspace: Workspace) -> None:
    await workspace.guard("run-1")
    repo.write(".git/commondir", "../../evil\n")
    repo.git("config", "--file", ".git/modules/sub/config", "core.fsmonitor", "evil")
    repo.write(".git/modules/sub/hooks/pre-commit", "#!/bin/sh\n")
    restored = await workspace.restore_protected("run-1")
    assert restored.restored == (".git/commondir", ".git/modules/sub/config", ".git/modules/sub/hooks/pre-commit")
    (repo.path / ".git").rename(repo.path / "moved")
    (repo.path / ".git").symlink_to("moved")
    assert ".git" in (await workspace.restore_protected("run-1")).restored
    assert not (repo.path / ".git").is_symlink()


async def test_without_a_repository_nothing_of_it_is_left_to_protect(repo: Repository, workspace: Workspace) -> None:
    await workspace.guard("run-1")
    shutil.rmtree(repo.path / ".git")
    assert await workspace.restore_protected("run-1") == RestoredPaths()


async def test_head_index_and_objects_are_the_agents(repo: Repository, workspace: Workspace) -> None:
    await workspace.guard("run-1")
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a.txt", "edited\n")
    repo.commit()
    repo.git("gc", "--quiet")
    assert await workspace.restore_protected("run-1") == RestoredPaths()


async def test_settings_of_ralph_that_were_not_there_are_taken_away(repo: Repository, workspace: Workspace) -> None:
    await workspace.guard("run-1")
    repo.write("ralph.toml", 'verify = ["true"]\n')
    restored = await workspace.restore_protected("run-1")
    assert restored.restored == ("ralph.toml",)
    assert not (repo.path / "ralph.toml").exists()
    assert restored.aside is not None
    assert (restored.aside / "ralph.toml").exists()


CONFIG = """# mine
[remote "origin"]
\turl = https://example.org/a
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
[alias]
\tup = !git pull
[core]
\tpager = less  ; mine, too
"""
HARMLESS = {
    "remote add": "remote add fork https://example.org/b",
    "a remote's branches": "config remote.origin.fetch +refs/heads/*:refs/remotes/origin/*",
    "rename a remote": "remote rename origin upstream",
    "remove a remote": "remote remove origin",
    "name": "config user.name Somebody",
    "upstream": "config branch.more.remote origin",
    "a local upstream": "config branch.main.remote .",
    "editors": "config branch.main.vscode-merge-base origin/main",
    "colours": "config color.ui never",
    "line ends": "config core.autocrlf input",
    "pull": "config pull.rebase true",
    "a value of lines": r"config user.name a\nb",
    "gh": "config remote.origin.gh-resolved base",
    "git-lfs": "config lfs.repositoryformatversion 0",
    "access of git-lfs": "config lfs.https://example.org/a.access basic",
    "push to a known remote": "config remote.pushDefault origin",
    "push a branch to a known remote": "config branch.main.pushRemote origin",
    "untracked cache": "config core.untrackedCache true",
    "gc": "config gc.auto 0",
    "http": "config http.postBuffer 1",
    "submodules": "config submodule.recurse true",
    "maintenance": "config maintenance.strategy incremental",
    "settings of worktrees": "config extensions.worktreeConfig true",
}
RISKY = {
    "fsmonitor": "config core.fsmonitor evil",
    "hooks": "config core.hooksPath evil",
    "ssh": "config core.sshCommand evil",
    "include": "config include.path evil",
    "a second include": "config --add include.path evil",
    "includeIf": "config includeIf.gitdir:/.path evil",
    "filter": "config filter.e.clean evil",
    "textconv": "config diff.e.textconv evil",
    "diff": "config diff.external evil",
    "an alias": "config alias.st !evil",
    "another alias": "config alias.up !evil",
    "no alias": "config --unset alias.up",
    "pager": "config core.pager evil",
    "editor": "config core.editor evil",
    "credential": "config credential.helper !evil",
    "insteadOf": "config url.ext::evil.insteadOf https://",
    "pushInsteadOf": "config url.https://evil/.pushInsteadOf https://",
    "worktree": "config core.worktree /",
    "bare": "config core.bare true",
    "uploadpack": "config remote.origin.uploadpack evil",
    "receivepack": "config remote.origin.receivepack evil",
    "vcs": "config remote.origin.vcs evil",
    "promisor": "config remote.origin.promisor true",
    "pushurl": "config remote.origin.pushurl https://evil",
    "proxy": "config remote.origin.proxy http://evil",
    "another address": "config remote.origin.url https://evil",
    "another remote": "config branch.main.remote https://evil",
    "a transport": "config remote.new.url ext::evil",
    "extension": "config extensions.preciousObjects true",
    "partial clone": "config extensions.partialClone origin",
    "ignored files": "config core.excludesFile evil",
    "attributes": "config core.attributesFile evil",
    "update of a submodule": "config submodule.sub.update !evil",
    "signature": "config gpg.program evil",
    "protocol": "config protocol.ext.allow always",
    "merge driver": "config merge.e.driver evil",
    "trailer": "config trailer.e.command evil",
    "http": "config http.proxy http://evil",
    "push to": "config remote.pushDefault evil",
    "push a branch to": "config branch.main.pushRemote https://evil",
    "what gc deletes": "config gc.pruneExpire now",
    "no settings at all": "config --remove-section alias",
    "an unknown one": "config future.program evil",
}


def settings(repo: Repository) -> list[str]:
    return sorted(repo.git("config", "--file", ".git/config", "--no-includes", "--list").splitlines())


async def test_of_gits_settings_the_harmless_keys_are_the_users(repo: Repository, workspace: Workspace) -> None:
    path = repo.path / ".git/config"
    path.write_text(path.read_text() + CONFIG)
    begun = path.read_text()
    await workspace.guard("run-1")
    for name, command in HARMLESS.items():
        path.write_text(begun)
        repo.git(*command.split())
        changed = path.read_text()
        assert changed != begun, name
        assert await workspace.restore_protected("run-1") == RestoredPaths(), name
        assert path.read_text() == changed, name


async def test_dormant_settings_of_a_worktree_are_not_turned_on(repo: Repository, tmp_path: Path) -> None:
    other = tmp_path / "other"
    repo.git("worktree", "add", "--quiet", "-b", "other", str(other))
    begun = (repo.path / ".git/config").read_text()
    late = repo.path / ".git/worktrees/late/config.worktree"
    for place in (repo.path / ".git/config.worktree", repo.path / ".git/worktrees/other/config.worktree", late):
        place.parent.mkdir(exist_ok=True)
        evil = "[core]\n\tfsmonitor = evil\n"
        if place != late:
            place.write_text(evil)
        workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
        await workspace.guard("run-1")
        place.write_text(evil)
        repo.git("config", "--file", ".git/config", "extensions.worktreeConfig", "true")
        assert (await workspace.restore_protected("run-1")).parts == {".git/config": "extensions.worktreeconfig"}
        assert (repo.path / ".git/config").read_text().strip() == begun.strip()
        place.unlink()
        await workspace.guard("run-1")
        if place != late:
            place.write_text(evil)
            await workspace.restore_protected("run-1")
            assert not place.exists(), "one that appears is undone"


async def test_all_settings_that_are_undone_are_named_or_counted(repo: Repository, workspace: Workspace) -> None:
    path = repo.path / ".git/config"
    begun = path.read_text()
    await workspace.guard("run-1")
    for count, more in ((15, ""), (20, ""), (25, " and 5 more")):
        keys = [f"alias.a{number:02}" for number in range(count)]
        path.write_text(begun + "[alias]\n" + "".join(f"{key.removeprefix('alias.')} = !evil\n" for key in keys))
        restored = await workspace.restore_protected("run-1")
        assert restored.parts[".git/config"] == ", ".join(keys[:20]) + more


async def test_of_gits_settings_those_that_run_programs_or_redirect_are_restored(
    repo: Repository, workspace: Workspace
) -> None:
    path = repo.path / ".git/config"
    path.write_text(path.read_text() + CONFIG)
    begun, before = path.read_text(), settings(repo)
    await workspace.guard("run-1")
    for name, command in RISKY.items():
        path.write_text(begun)
        repo.git(*command.split())
        changed = path.read_text()
        repo.git("config", "user.name", "Somebody")
        repo.git("config", "remote.fork.url", "https://example.org/b")
        both = path.read_text()
        restored = await workspace.restore_protected("run-1")
        assert restored.restored == (".git/config",), name
        assert restored.parts[".git/config"], name
        assert settings(repo) == sorted([*before, "user.name=Somebody", "remote.fork.url=https://example.org/b"]), name
        assert "# mine" in path.read_text(), name
        assert restored.aside is not None
        assert (restored.aside / ".git/config").read_text() == both, name
        path.write_text(changed)
        assert (await workspace.restore_protected("run-1")).restored == (".git/config",), name
        assert settings(repo) == before, name
        path.write_text("[broken\n" + changed)
        assert (await workspace.restore_protected("run-1")).restored == (".git/config",), name
        assert path.read_text() == begun, name


async def test_settings_of_very_many_branches_are_kept_whole(repo: Repository, workspace: Workspace) -> None:
    path = repo.path / ".git/config"
    path.write_text(path.read_text() + "".join(f'[branch "b{number}"]\n\trebase = true\n' for number in range(20_000)))
    await workspace.guard("run-1")
    repo.git("config", "core.fsmonitor", "evil")
    repo.git("config", "user.name", "Somebody")
    assert (await workspace.restore_protected("run-1")).parts == {".git/config": "core.fsmonitor"}
    assert path.read_text().count("rebase = true") == 20_000
    assert "Somebody" in path.read_text()


async def test_a_flood_of_settings_is_undone_at_once(repo: Repository, workspace: Workspace) -> None:
    path = repo.path / ".git/config"
    begun = path.read_text()
    await workspace.guard("run-1")
    path.write_text(begun + "".join(f'[filter "{number}"]\n\tclean = evil\n' for number in range(5000)))
    since = time.monotonic()
    restored = await workspace.restore_protected("run-1")
    assert time.monotonic() - since < 5
    assert path.read_text() == begun
    assert len(restored.parts[".git/config"]) < 500


PROJECT = '[project]\nname = "a"\n'
OURS = '[tool.ralph]\nverify = ["pytest"]\n'
MORE = '\n[tool.ralph.sandbox]\nkind = "bwrap"\n'
LINES = '[tool.x]\na = """\n[tool]\n"""\nb = [\n  ["c"],\n]\n'


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (PROJECT + OURS, PROJECT + OURS.replace("pytest", "true"), PROJECT + OURS),
        (PROJECT + OURS, PROJECT, PROJECT + OURS),
        (PROJECT + OURS, None, PROJECT + OURS),
        (PROJECT + OURS, "[[[" + PROJECT + OURS, PROJECT + OURS),
        (PROJECT, PROJECT + OURS, PROJECT),
        (PROJECT, PROJECT + '["tool"."r\\u0061lph"]\nverify = ["true"]\n', PROJECT),
        (None, OURS, None),
        (None, PROJECT + OURS, PROJECT),
        (OURS + PROJECT, OURS.replace("pytest", "true") + PROJECT + "x = 1\n", OURS + PROJECT + "x = 1\n"),
        (PROJECT + OURS + MORE, LINES + PROJECT + "x = 1", LINES + PROJECT + "x = 1\n" + OURS + MORE),
        (OURS + MORE, OURS + LINES + MORE.replace("bwrap", "none"), OURS + MORE + LINES + "\n"),
        (OURS + PROJECT, PROJECT + LINES.replace("[tool]", "[tool.ralph]"), OURS + PROJECT),
        (OURS + PROJECT, f"{PROJECT}[ tool . 'ralph' ] # x\nverify = []\n{LINES}", f"{PROJECT}{OURS}{LINES}"),
        (OURS + PROJECT, 'tool.ralph.verify = ["true"]\n' + PROJECT, OURS + PROJECT),
        (PROJECT + OURS, PROJECT + 'dependencies = ["ralph-x"]\n' + OURS, "the agent's"),
        (PROJECT, PROJECT + "# ralph\n", "the agent's"),
        (PROJECT + OURS, PROJECT + "x = 1\n" + OURS.rstrip(), "the agent's"),
        (PROJECT, LINES + PROJECT, "the agent's"),
        (PROJECT, None, "the agent's"),
        ("[[[", PROJECT, "the agent's"),
    ],
)
async def test_of_pyproject_only_the_settings_of_ralph_are_protected(
    before: str | None, after: str | None, expected: str | None, repo: Repository, workspace: Workspace
) -> None:
    path = repo.path / "pyproject.toml"
    if before is not None:
        path.write_text(before)
    await workspace.guard("run-1")
    path.unlink(missing_ok=True)
    if after is not None:
        path.write_text(after)
    restored = await workspace.restore_protected("run-1")
    kept = expected == "the agent's"
    assert restored.restored == (() if kept else ("pyproject.toml",))
    assert (path.read_text() if path.exists() else None) == (after if kept else expected)
    if after is not None and not kept:
        assert restored.aside is not None
        assert (restored.aside / "pyproject.toml").read_text() == after
    if not kept and after is not None:
        assert restored.parts == {"pyproject.toml": "[tool.ralph]"}


async def test_what_the_user_adds_is_protected(repo: Repository, tmp_path: Path) -> None:
    workspace = opened(repo.path, tmp_path, "tests/", "*.lock")
    repo.write("tests/deep/test_a.py", "assert True\n")
    repo.write("sub/uv.lock", "1\n")
    await workspace.guard("run-1")
    (repo.path / "tests/deep/test_a.py").unlink()
    (repo.path / "tests/deep").rmdir()
    repo.write("tests/test_b.py", "pass\n")
    repo.write("sub/uv.lock", "2\n")
    repo.write("src/b.txt", "free to change\n")
    restored = await workspace.restore_protected("run-1")
    assert set(restored.restored) | set(restored.left) == {"tests/deep/test_a.py", "tests/test_b.py", "sub/uv.lock"}
    assert (repo.path / "sub/uv.lock").read_text() == "1\n"
    assert (repo.path / "tests/deep/test_a.py").read_text() == "assert True\n"
    assert not (repo.path / "tests/test_b.py").exists()
    assert (repo.path / "src/b.txt").read_text() == "free to change\n"


def _replaced(path: Path, *, by: str, outside: Path) -> None:
    """Put something of another kind in the place of a file or folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    match by:
        case "nothing":
            pass
        case "folder":
            (path / "within").mkdir(parents=True)
            (path / "within" / "x").write_text("planted\n")
        case "empty folder":
            path.mkdir()
        case "link":
            path.symlink_to(outside)
        case "broken link":
            path.symlink_to(outside / "nowhere")
        case "pipe":
            os.mkfifo(path)
        case _:
            path.write_text("planted\n")


@pytest.mark.parametrize("by", ["nothing", "folder", "empty folder", "link", "broken link", "pipe", "file"])
@pytest.mark.parametrize("place", ["tests/deep/test_a.py", "tests/deep", "tests"])
@pytest.mark.parametrize("pattern", ["tests/deep/test_a.py", "tests/**/test_*.py", "test_a.py"])
async def test_a_protected_file_returns_whatever_takes_its_place_or_that_of_its_folder(
    tmp_path: Path, place: str, by: str, pattern: str
) -> None:
    folder, outside = tmp_path / "workspace", tmp_path / "outside"
    (folder / "tests/deep").mkdir(parents=True)
    (folder / "tests/deep/test_a.py").write_text("assert True\n")
    for there in (outside, outside / "deep"):
        there.mkdir()
        (there / "test_a.py").write_text("planted\n")
    workspace = opened(folder, tmp_path, pattern)
    await workspace.guard("run-1")
    _replaced(folder / place, by=by, outside=outside)
    restored = await workspace.restore_protected("run-1")
    assert "tests/deep/test_a.py" in restored.restored
    assert not restored.left
    assert (folder / "tests/deep/test_a.py").read_text() == "assert True\n"
    assert (folder / "tests/deep").resolve() == (folder / "tests/deep")
    assert {path.read_text() for path in outside.rglob("*.py")} == {"planted\n"}, "nothing outside is touched"
    assert (await workspace.restore_protected("run-1")) == RestoredPaths()


async def test_nothing_is_written_through_a_link(repo: Repository, workspace: Workspace, tmp_path: Path) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    await workspace.guard("run-1")
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.path / ".git/hooks").rename(repo.path / "hooks-before")
    (repo.path / ".git/hooks").symlink_to(outside)
    (repo.path / ".git/config").unlink()
    (repo.path / ".git/config").symlink_to(outside / "config")
    restored = await workspace.restore_protected("run-1")
    assert restored.left == ()
    assert list(outside.iterdir()) == []
    assert not (repo.path / ".git/hooks").is_symlink()
    assert (repo.path / ".git/hooks/pre-commit").read_text() == "#!/bin/sh\n"
    assert not (repo.path / ".git/config").is_symlink()


async def test_after_a_crash_the_comparison_is_made_up_for(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    await workspace.guard("run-1")
    repo.write(".git/hooks/post-commit", "#!/bin/sh\n")
    later = opened(repo.path, tmp_path)
    assert await later.restore_protected("another-run") == RestoredPaths()
    assert (await later.restore_protected("run-1")).restored == (".git/hooks/post-commit",)


async def test_what_a_person_changed_after_the_crash_is_left_alone(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    await workspace.guard("run-1")
    died = time.time() - 60
    repo.write("ralph.toml", 'verify = ["true"]\n')
    os.utime(repo.path / "ralph.toml", (died - 60, died - 60))
    restored = await opened(repo.path, tmp_path).restore_protected("run-1", until=died)
    assert (restored.restored, restored.left) == ((), ("ralph.toml",))
    assert (repo.path / "ralph.toml").exists()


async def test_what_is_too_large_is_told(repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protection, "LARGEST", 100)
    workspace = opened(repo.path, tmp_path, "model.bin")
    repo.write("model.bin", "x" * 101)
    await workspace.guard("run-1")
    repo.write("model.bin", "y" * 101)
    assert (await workspace.restore_protected("run-1")).left == ("model.bin",)


async def test_what_is_too_much_together_is_told(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(repo.path, tmp_path, "data/*.bin")
    await workspace.guard("run-1")
    [memory] = (tmp_path / "state").rglob("protected.json")
    contents = (content for _, content in json.loads(memory.read_text())["paths"].values())
    monkeypatch.setattr(protection, "MOST", sum(len(b64decode(content or "")) for content in contents) + 150)
    for name in ("data/1.bin", "data/2.bin"):
        repo.write(name, "x" * 100)
    await workspace.guard("run-1")
    for name in ("data/1.bin", "data/2.bin"):
        repo.write(name, "changed")
    found = await workspace.restore_protected("run-1")
    assert (found.restored, found.left) == (("data/1.bin",), ("data/2.bin",))


async def test_a_worktree_has_the_hooks_of_its_repository(repo: Repository, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", "-b", "side", str(tree))
    workspace = opened(tree, tmp_path)
    await workspace.guard("run-1")
    repo.write(".git/hooks/post-commit", "#!/bin/sh\n")
    (tree / ".git").write_text("gitdir: /elsewhere\n")
    restored = await workspace.restore_protected("run-1")
    assert set(restored.restored) == {".git", f"{repo.path}/.git/hooks/post-commit"}
    assert repo.git("-C", str(tree), "status", "--porcelain") == ""


async def test_a_folder_without_git_has_protected_paths_too(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "ralph.toml").write_text("")
    workspace = opened(folder, tmp_path)
    await workspace.guard("run-1")
    (folder / "ralph.toml").unlink()
    assert (await workspace.restore_protected("run-1")).restored == ("ralph.toml",)
    assert (folder / "ralph.toml").read_text() == ""


async def test_in_a_folder_with_nothing_to_protect_new_settings_are_taken_away(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    workspace = opened(folder, tmp_path)
    await workspace.guard("run-1")
    (folder / "ralph.toml").write_text('verify = ["true"]\n')
    killed = opened(folder, tmp_path)  # the record says that nothing was there
    assert (await killed.restore_protected("run-1")).restored == ("ralph.toml",)
    assert not (folder / "ralph.toml").exists()
    await killed.unguard()
    (folder / "ralph.toml").write_text('verify = ["true"]\n')
    assert await killed.restore_protected("run-1") == RestoredPaths(), "without a record, nothing is known"


async def test_a_memory_that_is_broken_is_none(repo: Repository, workspace: Workspace, tmp_path: Path) -> None:
    await workspace.guard("run-1")
    (memory,) = (tmp_path / "state").rglob("protected.json")
    memory.write_text('{"run": "run-1", "paths": {"x": 1}}')
    assert await opened(repo.path, tmp_path).restore_protected("run-1") == RestoredPaths()


async def test_links_in_a_circle_and_a_folder_in_a_files_place_harm_nobody(
    repo: Repository, workspace: Workspace
) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    await workspace.guard("run-1")
    (repo.path / ".git/hooks").rename(repo.path / "hooks-before")
    (repo.path / ".git/hooks").symlink_to("hooks")
    (repo.path / ".git/config").unlink()
    repo.write(".git/config/inside", "x\n")
    assert (await workspace.restore_protected("run-1")).left == ()
    assert (repo.path / ".git/hooks/pre-commit").read_text() == "#!/bin/sh\n"
    assert repo.git("status", "--porcelain") == "?? hooks-before/"


async def test_a_path_may_be_absolute_or_begin_with_a_dot(repo: Repository, tmp_path: Path) -> None:
    """However the user names a path in the workspace, it is protected; one outside is refused."""
    (tmp_path / "link").symlink_to(repo.path)
    patterns = (
        f"{repo.path}/deep/a.txt",
        f"{tmp_path}/link/linked/*.txt",
        f"{repo.path}/golden/",
        "./top.txt",
        "/etc.txt",
    )
    kept = ("deep/a.txt", "linked/b.txt", "golden/c/d.txt", "top.txt", "etc.txt")
    for name in (*kept, "deep/top.txt", "deep/etc.txt"):
        repo.write(name, "before\n")
    workspace = opened(repo.path, tmp_path, *patterns)
    assert await workspace.guard("run-1") == ""
    for name in (*kept, "deep/top.txt", "deep/etc.txt"):
        repo.write(name, "after\n")
    assert (await workspace.restore_protected("run-1")).restored == tuple(sorted(kept))
    for outside in (f"{tmp_path}/x.txt", f"!{tmp_path}/*", str(repo.path)):
        with pytest.raises(UsageError, match="leads out of the workspace") as refused:
            opened(repo.path, tmp_path, outside)
        assert repr(outside) in refused.value.problem


async def test_patterns_mean_what_git_means_and_those_without_a_match_are_reported(
    repo: Repository, tmp_path: Path
) -> None:
    kept = {"tests/test_a.py": "assert a\n", "tests/deep/test_b.py": "assert b\n", "a b/[x].lock": "1\n"}
    for name, text in kept.items():
        repo.write(name, text)
    free = repo.write("tests/scratch/test_c.py", "assert c\n")
    patterns = ("tests/**/test_*.py", "!tests/scratch/*", "*.lock", "test/*.py", "golden/")
    workspace = opened(repo.path, tmp_path, *patterns)
    problem = await workspace.guard("run-1")
    assert problem == "Nothing matches 'test/*.py' or 'golden/' yet, so --protect restores nothing there."
    assert await workspace.guard("run-1") == "", "it is reported once"
    for name in (*kept, "tests/scratch/test_c.py", "tests/new/test_d.py"):
        repo.write(name, "pass\n")
    restored = await workspace.restore_protected("run-1")
    assert restored.restored == tuple(sorted([*kept, "tests/new/test_d.py"]))
    assert {name: (repo.path / name).read_text() for name in kept} == kept
    assert free.read_text() == "pass\n"
