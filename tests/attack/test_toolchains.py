"""Toolchains in the home folder, under the sandbox: their programs run, and the secrets beside them stay hidden."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.errors import UsageError
from ralph.system.bubblewrap import credentials
from ralph.system.sandbox import Confinement, Sandbox
from ralph.testing import own_environment, run_ralph
from ralph.verifiers.base import Subject
from ralph.verifiers.command import CommandVerifier

pytestmark = [pytest.mark.attack, pytest.mark.timeout(120)]

FILES = {
    ".pyenv/shims/one": '#!/bin/sh\nexec "$HOME/.pyenv/libexec/one"\n',
    ".pyenv/libexec/one": "#!/bin/sh\necho one\n",
    ".cargo/bin/two": '#!/bin/sh\nexec "$HOME/.rustup/toolchains/stable/bin/two"\n',
    ".rustup/toolchains/stable/bin/two": "#!/bin/sh\necho two\n",
    ".local/share/uv/tools/three/bin/three": '#!/bin/sh\nexec "$HOME/.local/share/uv/python/three"\n',
    ".local/share/uv/python/three": "#!/bin/sh\necho three\n",
    "conda/bin/four": '#!/bin/sh\nexec "$HOME/conda/lib/four"\n',
    "conda/lib/four": "#!/bin/sh\necho four\n",
    "conda/conda-meta/history": "",
    ".nvm/versions/node/v22/bin/five": '#!/bin/sh\nexec "$HOME/.nvm/versions/node/v22/lib/five"\n',
    ".nvm/versions/node/v22/lib/five": "#!/bin/sh\necho five\n",
    ".mine/shims/six": '#!/bin/bash\nexec "$HOME/.mine/libexec/six"\n',
    ".mine/libexec/six": "#!/bin/sh\n[ -e done ]\n",
}
ON_PATH = (".pyenv/shims", ".cargo/bin", ".local/bin", "conda/bin", ".nvm/versions/node/v22/bin", ".mine/shims")
SECRETS = (
    *(".cargo/credentials.toml", ".cargo/credentials", ".nvm/versions/node/v22/etc/npmrc", ".pyenv/.pypirc"),
    *(".ssh/id", ".asdf/private", ".local/share/keyrings/login", ".local/share/uv/credentials/one", "project/.env"),
    *(".mine/libexec/six", ".local/state/ralph/ralph.db"),
    *(".cargo/config.toml", ".cargo/config", ".cargo/.env", ".cargo/.crates2.json", ".cargo/git/db/a-1/config"),
    *(".cargo/git/db/a-1/FETCH_HEAD", ".cargo/registry/index/x-1/.git/config", "go/pkg/mod/cache/vcs/1/config"),
    *(".nodenv/versions/22/etc/npmrc", ".volta/tools/image/node/22/etc/npmrc", ".asdf/installs/nodejs/22/etc/npmrc"),
    *(".local/share/fnm/node-versions/v22/installation/etc/npmrc", ".proto/tools/node/22/etc/npmrc"),
    *(".nvm/versions/node/v22/lib/node_modules/.npmrc", ".pyenv/.git/config", ".pyenv/versions/3.12/pip.conf"),
    *("conda/.condarc", "conda/pkgs/urls.txt", "conda/pkgs/urls", "conda/envs/a/.condarc", "conda/envs/a/pip.conf"),
    *("conda/envs/a/conda-meta/state", "conda/envs/a/etc/conda/activate.d/env_vars.sh", "conda/.netrc"),
    *(".local/share/uv/tools/three/uv-receipt.toml", ".local/share/pipx/venvs/a/pipx_metadata.json"),
)
OTHERS = (".nodenv/shims", ".volta/bin", ".asdf/shims", ".local/share/fnm/bin", ".proto/bin", "go/bin")
LINKED = ".local/share/pipx/venvs/a/bin/four"
SHOWN = {
    ".nodenv/versions/22/lib/node_modules/a/.env": "needed by a package\n",
    ".cargo/git/checkouts/a-1/9f/.env": "needed by a crate\n",
    ".cargo/registry/src/x-1/a-1.0/.npmrc": "needed by a crate\n",
    "go/pkg/mod/example.org/a@v1/testdata/.env": "needed by a module\n",
    ".cargo/git/db/a-1/HEAD": "ref: refs/heads/main\n",
    ".cargo/git/db/a-1/objects/pack/a.idx": "pack\n",
    ".pyenv/version": "3.12\n",
    LINKED: "#!/bin/sh\necho pipx\n",
}

PLUGIN = """
from ralph import Answered, Executor
from ralph.plugins import Provider, hookimpl


class Quiet(Executor):
    name = "quiet"
    confines = frozenset({"sandbox"})

    async def execute(self, prompt, turn):
        (turn.workspace / "done").touch()
        said = "---RALPH_STATUS---\\nEXIT_SIGNAL: true\\n---END_RALPH_STATUS---"
        return turn.transcript.finish(Answered(), text=said)


@hookimpl
def ralph_executors():
    yield Provider("quiet", "works", lambda context: Quiet())
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with toolchains, secrets, and a PATH that leads into it."""
    try:
        anyio.run(Confinement(sandbox=Sandbox(kind="bwrap")).require, tmp_path)
    except UsageError as error:
        pytest.skip(str(error))
    folder = tmp_path / "home"
    for name, text in {**dict.fromkeys(SECRETS, "secret"), **FILES, **SHOWN}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name in (".pyenv/.git", "go/pkg/mod/cache/vcs/1", ".cargo/registry/index/x-1/.git"):
        (folder / name / "objects").mkdir()
        (folder / name / "HEAD").touch()
    (folder / ".local/bin").mkdir()
    (folder / ".local/bin/pipxed").symlink_to(folder / LINKED)
    (folder / ".local/bin/three").symlink_to(folder / ".local/share/uv/tools/three/bin/three")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", os.pathsep.join([*(str(folder / name) for name in ON_PATH), os.environ["PATH"]]))
    return folder


def said(workspace: Path, text: str, **settings: Any) -> str:
    workspace.mkdir(exist_ok=True)
    within = Confinement(sandbox=Sandbox.model_validate({"kind": "bwrap", **settings}), workspace=workspace)
    command = within.command(["/bin/sh", "-c", text], cwd=workspace)
    return subprocess.run(command, cwd=workspace, capture_output=True, text=True, timeout=30, check=False).stdout


def test_programs_behind_shims_run_and_secrets_stay_hidden(home: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    assert said(workspace, "for name in one two three four five six; do $name; done; true").split() == [
        *("one", "two", "three", "four", "five")
    ]
    reading = f"cd {home}; cat {' '.join(SECRETS)}; for name in .pyenv .cargo .nvm; do touch $name/x; done; true"
    assert said(workspace, reading) == ""
    assert not [*home.glob("*/x")]
    assert said(workspace, f"cat {home}/.cargo/credentials", readable=["~/.cargo/credentials"]) == "secret"
    (home / ".cargo" / "bin").rename(home / "elsewhere")
    assert said(workspace, f"ls -A {home}/.rustup") == "", "only what PATH leads into is shown"


def test_credentials_anywhere_in_a_toolchain_stay_hidden_and_its_packages_are_whole(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in OTHERS:
        (home / name).mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("PATH", os.pathsep.join([*(str(home / name) for name in OTHERS), os.environ["PATH"]]))
    (home / ".nodenv" / "real").write_text("secret")
    (home / ".nodenv" / ".npmrc").symlink_to("real")
    (home / ".nodenv").rename(home / "elsewhere")
    (home / ".nodenv").symlink_to(home / "elsewhere")
    names = " ".join(({*SECRETS} - {".asdf/private"}) | {".nodenv/.npmrc", ".nodenv/real"})
    assert said(tmp_path / "work", f"cd {home}; for name in {names}; do grep -s secret $name && echo $name; done") == ""
    assert said(tmp_path / "work", f"cd {home}; cat {' '.join(SHOWN)}") == "".join(SHOWN.values())
    opened = said(tmp_path / "work", f"cat {home}/.cargo/config.toml", readable=["~/.cargo/config.toml"])
    assert opened == "secret"


def test_a_large_toolchain_is_searched_within_a_bound(home: Path) -> None:
    large = home / ".nvm" / "a"
    large.mkdir()
    for number in range(25_000):
        os.mkfifo(large / str(number))
    (home / ".nvm" / ".npmrc").touch()
    started = time.monotonic()
    covered = [*credentials([home / ".nvm"], ())]
    assert time.monotonic() - started < 2
    assert str(home / ".nvm" / ".npmrc") in covered


def test_the_workspace_chooses_no_folder_of_the_home(home: Path, tmp_path: Path) -> None:
    """Links in its `.venv` open a known toolchain at most: not what they lead to, even if that looks like a Python."""
    (home / "project" / "pyvenv.cfg").touch()
    (home / "project" / "bin").mkdir()
    (home / "project" / "bin" / "python").touch()
    (tmp_path / "work" / ".venv" / "bin").mkdir(parents=True)
    for number, name in enumerate(("project/bin/python", ".ssh/id", ".local/share/keyrings/login")):
        (tmp_path / "work" / ".venv" / "bin" / f"link{number}").symlink_to(home / name)
    assert said(tmp_path / "work", "cat .venv/bin/*; cat ~/project/.env; true") == ""


def test_a_check_whose_toolchain_is_hidden_is_refused_at_the_start(home: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "plugin.py").write_text(PLUGIN)
    environment: Mapping[str, str] = {**own_environment(tmp_path), "RALPH_SANDBOX__KIND": "bwrap"}
    words = ("run", "Work.", "--executor", "quiet", "--trust", "--verify", "six", "--max-iterations", "2")
    refused = run_ralph(words, environment, workspace)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "The verifier 'six' cannot start in the sandbox" in refused.stderr
    assert "[sandbox] readable" in refused.stderr
    doctor = run_ralph(("doctor",), {**environment, "RALPH_VERIFY": '["six", "one"]'}, workspace)
    assert "program 'six' cannot start in it" in doctor.stdout, doctor.stdout + doctor.stderr
    assert "program 'one'" not in doctor.stdout
    opened = {**environment, "RALPH_SANDBOX__READABLE": '["~/.mine"]'}
    verified = run_ralph(words, opened, workspace)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_check_that_ends_with_127_by_itself_is_only_red(home: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    script = tmp_path / "work" / "check"
    script.write_text("#!/bin/bash\njest\n")
    script.chmod(0o755)
    within = Confinement(sandbox=Sandbox(kind="bwrap"), workspace=tmp_path / "work")
    verdict = anyio.run(CommandVerifier([str(script)], confinement=within).verify, Subject(tmp_path / "work"))
    assert not verdict.passed
    assert "status 127" in verdict.output
