"""With the sandbox on, Ralph finds a git that works there, or says what to do."""

import os
import shutil
from pathlib import Path

import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.workspace import open_workspace

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap")

BARE = '#!/bin/sh\nexec {git} "$@"\n'
NEEDS_HOME = '#!/bin/sh\n. {home}/settings.sh\nexec "$GIT" "$@"\n'
BROKEN = "#!/bin/sh\nexit 127\n"


@pytest.mark.parametrize(
    ("wrapper", "alone", "refused"),
    [
        (BARE, False, ""),
        (BARE, True, ""),
        (NEEDS_HOME, False, ""),
        (NEEDS_HOME, True, r"does not work in the sandbox, which has no home folder: .*settings\.sh"),
        (BROKEN, True, "it ended with status 127"),
    ],
)
async def test_a_git_in_the_home_folder(
    wrapper: str, alone: bool, refused: str, repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git, bwrap = str(shutil.which("git")), str(shutil.which("bwrap"))
    home, tools = tmp_path / "home", tmp_path / "tools"
    (home / "bin").mkdir(parents=True)
    tools.mkdir()
    (tools / "bwrap").symlink_to(bwrap)
    (home / "settings.sh").write_text(f"GIT={git}\n")
    (home / "bin" / "git").write_text(wrapper.format(git=git, home=home))
    (home / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    rest = str(tools) if alone else os.environ["PATH"]
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{rest}")
    if refused:
        with pytest.raises(WorkspaceError, match=refused):
            open_workspace(repo.path, state_dir=tmp_path / "state", confined=True)
        return
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state", confined=True)
    repo.write("a.txt", "edited\n")
    seen = await workspace.snapshot()
    assert (seen.problem, list(seen.files)) == ("", ["a.txt"])
    assert (await workspace.checkpoint("run-1", 1, "before", seen=seen)).commit
