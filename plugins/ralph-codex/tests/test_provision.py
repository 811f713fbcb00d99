"""Having the Codex CLI."""

from pathlib import Path

import pytest

from ralph.errors import ProvisionError
from ralph_codex.home import OwnHome
from ralph_codex.provision import PINNED, provide_codex


async def provided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npm: str) -> Path:
    if npm:
        (tmp_path / "npm").write_text(f"#!/bin/sh\n{npm}\n")
        (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin" if npm else str(tmp_path))
    return await provide_codex(cache=tmp_path / "cache")


async def test_a_failed_fetch_is_reported_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    npm = f"for p in x64 arm64; do for s in linux darwin; do : > openai-codex-{PINNED}-$s-$p.tgz; done; done"
    with pytest.raises(ProvisionError, match="checksum"):
        await provided(tmp_path, monkeypatch, npm)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["lock"]


async def test_without_npm_it_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ProvisionError, match=r"not on PATH(.|\n)*plugins\.codex\.program"):
        await provided(tmp_path, monkeypatch, "")


async def test_it_is_fetched_once(codex: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await provide_codex() == codex


def test_the_home_of_a_run_that_was_killed_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    killed, alive = OwnHome(""), OwnHome("")
    killed._lock.close()
    OwnHome("").close()
    assert (killed.path.exists(), alive.path.exists()) == (False, True)
    alive.close()
    assert not alive.path.exists()
