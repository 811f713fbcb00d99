"""A tree that an agent has wrecked, seen and taken back, by the commands that a person types; worktrees; commits."""

import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import ModelRequest, ModelServer, Say, Shell, Step, WriteFile

pytestmark = pytest.mark.timeout(120)

STATUS = "\n---RALPH_STATUS---\nEXIT_SIGNAL: {}\nREASON: {}\n---END_RALPH_STATUS---"
GOES_ON = STATUS.format("false", "more to do")
DONE = STATUS.format("true", "all written")
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@localhost")
WRECKS = """rm README.md
printf 'wrecked\\n' > parser.py
printf 'scratch\\n' > scratch.txt
printf '#!/bin/sh\\ntouch owned\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
git -c core.hooksPath=/dev/null -c user.name=agent -c user.email=agent@localhost commit -qam wrecked
"""


def git(folder: Path, *words: str) -> str:
    ran = subprocess.run(["git", *IDENTITY, *words], cwd=folder, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def against(server: ModelServer, workspace: Path, *more: str) -> tuple[str, ...]:
    own = ("--base-url", server.base_url, "--model", "m", "--permission", "approve-all", "--display", "json")
    return ("-C", str(workspace), *own, "--verify", "none", *more)


def test_a_wrecked_tree_is_rolled_back_to_an_iteration(ralph: Callable[..., Any], workspace: Path) -> None:
    steps = [WriteFile("parser.py", "PARSER = 1\n"), Say("I wrote the parser." + GOES_ON)]
    steps += [Shell(WRECKS), Say("I tidied up." + GOES_ON)]
    with ModelServer(steps) as server:
        ran = ralph("run", "Write a parser.", *against(server, workspace, "--max-iterations", "2"))
    assert ran.code == 5, ran.stderr
    assert ran.of("protected_restored")[0]["paths"] == [".git/hooks/post-commit"]
    assert not (workspace / ".git/hooks/post-commit").exists()
    assert not (workspace / "README.md").exists()
    wrecked = ralph("diff", "last", "--iteration", "2", "--json")
    files = {file["path"]: (file["added"], file["removed"]) for file in json.loads(wrecked.stdout)["files"]}
    assert files == {"README.md": (0, 1), "parser.py": (1, 1), "scratch.txt": (1, 0)}
    assert "-PARSER = 1\n+wrecked\n" in ralph("diff", "last", "--iteration", "2").stdout
    assert "+wrecked\n" in ralph("diff", "last").stdout

    (workspace / "notes.txt").write_text("a person's, from the morning after\n")
    refused = ralph("rollback", "last", "--to", "1")
    assert refused.code == 2
    assert "has changes that no checkpoint contains: notes.txt" in refused.stderr
    assert (workspace / "parser.py").read_text() == "wrecked\n"
    (workspace / "notes.txt").unlink()

    back = ralph("rollback", "last", "--to", "1", "--reset-branch", "--json")
    assert back.code == 0, back.stderr
    assert (workspace / "README.md").read_text() == "# Project\n"
    assert (workspace / "parser.py").read_text() == "PARSER = 1\n"
    assert not (workspace / "scratch.txt").exists()
    assert git(workspace, "log", "--format=%s") == "start"
    assert git(workspace, "status", "--porcelain") == "?? parser.py"

    told = json.loads(back.stdout)
    assert ralph("rollback", "last", "--to", told["before"][:12]).code == 0
    assert (workspace / "scratch.txt").exists()
    assert ralph("rollback", "last", "--to", "0").code == 0
    assert not (workspace / "parser.py").exists()
    assert git(workspace, "status", "--porcelain") == ""


@pytest.mark.long
def test_rolling_back_to_what_is_not_there_is_told(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer([Say("I looked." + DONE)]) as server:
        ralph("run", "Look.", *against(server, workspace, "--max-iterations", "1"))
    for to, why in (("7", "has no iteration 7"), ("nonsense", "has no checkpoint 'nonsense'")):
        ran = ralph("rollback", "last", "--to", to)
        assert ran.code == 2
        assert why in ran.stderr


@pytest.mark.long
def test_what_a_run_has_changed_is_committed_and_what_was_dirty_before_is_not(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    (workspace / "dirty.txt").write_text("mine\n")
    hook = workspace / ".git/hooks/commit-msg"
    hook.write_text('#!/bin/sh\necho checked >> "$GIT_DIR/hook-ran"\n')
    hook.chmod(0o755)
    steps = [WriteFile("parser.py", "PARSER = 1\n"), Say("I wrote the parser." + GOES_ON)]
    steps += [WriteFile("lexer.py", "LEXER = 1\n"), Say("I wrote the lexer." + DONE)]
    identity = {f"GIT_CONFIG_{key}": value for key, value in (("GLOBAL", str(workspace.parent / "gitconfig")),)}
    (workspace.parent / "gitconfig").write_text("[user]\nname = A Person\nemail = person@localhost\n")
    with ModelServer(steps) as server:
        ran = ralph("run", "Write.", *against(server, workspace, "--commit", "iteration"), **identity)
    assert ran.code == 0, ran.stderr
    assert git(workspace, "log", "--format=%an", "-2").splitlines() == ["A Person", "A Person"]
    assert git(workspace, "show", "--format=", "--name-only", "HEAD") == "lexer.py"
    assert git(workspace, "show", "--format=", "--name-only", "HEAD^") == "parser.py"
    assert "Ralph-Run: " in git(workspace, "log", "--format=%B", "-1")
    assert git(workspace, "status", "--porcelain") == "?? dirty.txt"
    assert not (workspace / ".git/hook-ran").exists(), "not without --commit-hooks"


def with_an_author(workspace: Path) -> None:
    """Somebody in whose name can be committed, whoever runs the tests."""
    git(workspace, "config", "user.name", "test")
    git(workspace, "config", "user.email", "test@localhost")


@pytest.mark.long
def test_a_hook_that_fails_is_told_and_ends_nothing(ralph: Callable[..., Any], workspace: Path) -> None:
    with_an_author(workspace)
    hook = workspace / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho the linter is not content >&2\nexit 1\n")
    hook.chmod(0o755)
    with ModelServer([WriteFile("parser.py", "PARSER = 1\n"), Say("I wrote it." + DONE)]) as server:
        ran = ralph("run", "Write.", *against(server, workspace, "--commit", "completion", "--commit-hooks"))
    assert ran.code == 0, ran.stderr
    told = [event["text"] for event in ran.of("diagnosed")]
    refused = "`git commit`, which runs the repository's hook pre-commit, refused: the linter is not content."
    assert any(text.startswith(f"The changes are not committed: {refused}") for text in told)
    assert git(workspace, "log", "--format=%s") == "start"
    assert git(workspace, "status", "--porcelain") == "?? parser.py"


@pytest.mark.long
def test_two_runs_in_two_worktrees_of_one_repository_at_once(ralph: Callable[..., Any], workspace: Path) -> None:
    with_an_author(workspace)
    ended: dict[str, Any] = {}
    met = threading.Barrier(2)

    def work(name: str, end: str) -> None:
        steps = iter([WriteFile(f"{name}.py", f"{name}\n"), Say("I wrote it." + DONE)])

        def when_both_are_here(_: ModelRequest) -> Step:
            met.wait(40)
            return next(steps)

        with ModelServer(when_both_are_here) as server:
            more = ("--worktree", "--worktree-end", end)
            ended[name] = ralph("run", "Write.", *against(server, workspace, *more), timeout=90)

    threads = [threading.Thread(target=work, args=args) for args in (("one", "merge"), ("two", "keep"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ran.code for ran in ended.values()] == [0, 0], [ran.stderr for ran in ended.values()]
    assert (workspace / "one.py").read_text() == "one\n"
    assert not (workspace / "two.py").exists()
    assert "The work is merged into" in ended["one"].stderr
    assert "git merge ralph/" in ended["two"].stderr
    kept = Path(ended["two"].of("run_started")[0]["workspace"])
    assert (kept / "two.py").read_text() == "two\n"
    assert len(git(workspace, "worktree", "list").splitlines()) == 2
    one = ended["one"].end["run_id"]
    assert "+one\n" in ralph("diff", one).stdout


@pytest.mark.parametrize("end", ["merge", "keep"])
@pytest.mark.long
def test_what_becomes_of_a_worktree_is_carried_out_after_a_resumption(
    ralph: Callable[..., Any], workspace: Path, end: str
) -> None:
    with_an_author(workspace)
    more = ("--worktree", "--worktree-end", end, "--max-iterations", "1")
    steps = [WriteFile("one.py", "one\n"), Say("I wrote one." + GOES_ON)]
    steps += [WriteFile("two.py", "two\n"), Say("I wrote two." + DONE)]
    with ModelServer(steps) as server:
        first = ralph("run", "Write.", *against(server, workspace, *more))
        tree = Path(first.of("run_started")[0]["workspace"])
        assert first.code == 5, first.stderr
        assert tree.exists()
        again = ralph("resume", "-C", str(workspace), "--max-iterations", "3", "--display", "json")
    assert again.code == 0, again.stderr
    assert tree.exists() is (end == "keep")
    assert (workspace / "two.py").exists() is (end == "merge")
