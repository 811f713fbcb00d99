"""What the attack tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user of git with a name, and with nothing of this machine's settings and state."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "person@localhost")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "users-state"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
