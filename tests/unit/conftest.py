"""A real repository to run in, and real distributions on the path: what `pip install` leaves behind, without pip."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace

Install = Callable[..., None]


@pytest.fixture(scope="session")
def repository_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository to copy: a copy takes a tenth of the time that `git` takes to make one."""
    repository = Repository.begin(tmp_path_factory.mktemp("template") / "repository")
    repository.commit("start")
    return repository.path


@pytest.fixture
def repository(repository_template: Path, tmp_path: Path) -> Repository:
    """A repository with one commit and no files."""
    copied = shutil.copytree(repository_template, tmp_path / "repository", symlinks=True)
    return Repository(copied)


@pytest.fixture
def workspace(repository: Repository, tmp_path: Path) -> Workspace:
    """The repository as Ralph sees it."""
    return open_workspace(repository.path, state_dir=tmp_path / "state")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a distribution with one plug-in: `install("echo", "code of its module")`."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delenv("RALPH_PLUGINS", raising=False)

    def add(name: str, code: str, *, entry: str | None = None, distribution: str | None = None) -> None:
        distribution = distribution or f"ralph-{name}"
        module = distribution.replace("-", "_")
        (place / f"{module}.py").write_text(dedent(code), encoding="utf-8")
        info = place / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[ralph]\n{name} = {entry or module}\n")
        monkeypatch.delitem(sys.modules, module, raising=False)

    return add
