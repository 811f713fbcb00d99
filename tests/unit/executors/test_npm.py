"""A pinned program from an npm package, with an npm that copies a small package."""

import base64
import hashlib
import io
import os
import shutil
import stat
import tarfile
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from ralph.errors import ProvisionError
from ralph.executors.npm import NpmPackage, NpmProgram, Progress, platform_name

PLATFORM = platform_name()
CONTENT = {"bin/agent": b"\x7fELF not really", "lib/needed": b"n", "voice/needless": b"v"}


class Registry:
    """A package, and an npm on a PATH of its own that hands it out and counts its calls."""

    def __init__(self, root: Path) -> None:
        self.root, self.cache, self.calls = root, root / "cache", root / "calls"
        (root / "bin").mkdir()
        self.env = {"PATH": str(root / "bin")}
        self.tarball = root / "package.tgz"
        self.publish(CONTENT)
        digest = base64.b64encode(hashlib.sha512(self.tarball.read_bytes()).digest()).decode()
        self.program = NpmProgram(
            label="Agent",
            version="1.2.3",
            packages={PLATFORM: NpmPackage(f"@maker/agent@1.2.3-{PLATFORM}", f"sha512-{digest}", 1_000)},
            program="bin/agent",
            place=lambda name: None if "voice" in name else name.removeprefix("package/"),
            remedy="Install it yourself.",
        )

    def publish(self, files: Mapping[str, bytes]) -> None:
        with tarfile.open(self.tarball, "w:gz") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))

    def npm(self, script: str = "") -> None:
        copy = f"{shutil.which('cp')} {self.tarball} maker-agent-1.2.3-{PLATFORM}.tgz"
        counted = f'echo "$@" >> {self.calls}; {copy}'
        (self.root / "bin" / "npm").write_text(f"#!/bin/sh\n{script or counted}\n")
        (self.root / "bin" / "npm").chmod(0o755)

    async def fetch(self, progress: Progress | None = None, limit: float = 30) -> Path:
        return await self.program.fetch(self.cache, env=self.env, progress=progress, limit=limit)

    @property
    def left(self) -> list[str]:
        return sorted(path.name for path in self.cache.iterdir() if path.name != "lock")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path)


async def test_it_is_unpacked_by_a_python_whose_tarfile_has_no_filter(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.delattr(tarfile.TarInfo, "replace", raising=False)
    registry.npm()
    with warnings.catch_warnings(action="ignore"):  # newer versions of Python speak of the missing filter
        folder = await registry.fetch()
    assert (folder / "bin/agent").stat().st_mode & stat.S_IXUSR


async def test_it_is_fetched_once_with_what_it_needs_and_nothing_else(registry: Registry):
    registry.npm()
    steps: list[str] = []
    folder = await registry.fetch(lambda step, _done, _total: steps.append(step))
    assert folder == registry.program.folder(registry.cache)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "bin/agent",
        "lib/needed",
    ]
    assert (folder / "bin/agent").stat().st_mode & stat.S_IXUSR
    assert list(dict.fromkeys(steps)) == ["download", "check", "unpack"]
    assert await registry.fetch() == folder
    assert registry.left == [f"1.2.3-{PLATFORM}"]
    (call,) = registry.calls.read_text().splitlines()
    assert call.startswith(f"pack @maker/agent@1.2.3-{PLATFORM} --ignore-scripts")


async def test_two_that_need_it_at_once_fetch_it_once(registry: Registry):
    registry.npm()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(registry.fetch)
        tasks.start_soon(registry.fetch)
    assert len(registry.calls.read_text().splitlines()) == 1


async def test_what_is_not_the_published_package_is_thrown_away(registry: Registry):
    registry.npm()
    registry.publish({"bin/agent": b"tampered with"})
    with pytest.raises(ProvisionError, match="checksum") as caught:
        await registry.fetch()
    assert "Install it yourself." in str(caught.value)
    assert registry.left == []


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo ENOTFOUND >&2; exit 1", "ENOTFOUND"),
        ("echo on its output; exit 3", "on its output"),
        ("exit 3", "exit code 3"),
        ("exit 0", "it left no package"),
    ],
)
async def test_an_npm_that_fails_is_reported_with_its_words(registry: Registry, script: str, problem: str):
    registry.npm(script)
    with pytest.raises(ProvisionError, match=problem) as caught:
        await registry.fetch()
    assert f"@maker/agent@1.2.3-{PLATFORM}" in str(caught.value)
    assert registry.left == []


async def test_a_package_without_the_program_is_an_error(registry: Registry):
    registry.npm()
    registry.program = replace(registry.program, program="bin/another")
    with pytest.raises(ProvisionError, match="does not contain bin/another"):
        await registry.fetch()
    assert registry.left == []


def _outside(name: str) -> str:
    return f"../../../{name.rpartition('/')[2]}"


async def test_a_file_that_would_leave_the_folder_is_refused(registry: Registry):
    registry.npm()
    registry.program = replace(registry.program, place=_outside)
    with pytest.raises(ProvisionError, match="does not contain"):
        await registry.fetch()
    assert not (registry.root / "agent").exists()
    assert registry.left == []


async def test_no_npm_is_an_error_unless_there_is_another_way(registry: Registry):
    with pytest.raises(ProvisionError, match="npm, which is not on PATH"):
        await registry.fetch()

    async def otherwise(folder: Path, _env: Mapping[str, str], _report: Progress) -> None:
        (folder / "runtime").write_text("another way")

    folder = await registry.program.fetch(registry.cache, env=registry.env, without_npm=otherwise)
    assert (folder / "runtime").read_text() == "another way"


async def test_a_download_without_end_is_ended_and_leaves_nothing(registry: Registry):
    registry.npm(f"exec {shutil.which('sleep')} 50")
    with pytest.raises(ProvisionError, match=r"longer than 0\.3 seconds"):
        await registry.fetch(limit=0.3)
    assert registry.left == []


async def test_what_a_killed_download_left_is_removed(registry: Registry):
    registry.npm()
    (registry.cache / "fetching-killed" / "whole").mkdir(parents=True)
    await registry.fetch()
    assert registry.left == [f"1.2.3-{PLATFORM}"]


async def test_waiting_for_another_download_is_reported_and_bounded(registry: Registry):
    registry.npm(f"exec {shutil.which('sleep')} 50")
    begun, waiting = anyio.Event(), set[str]()

    def begin(_step: str, _done: int, _total: int | None) -> None:
        begun.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(registry.fetch, begin)
        await begun.wait()
        with pytest.raises(ProvisionError, match="longer than"):
            await registry.fetch(lambda step, _done, _total: waiting.add(step), 0.3)
        tasks.cancel_scope.cancel()
    assert waiting == {"wait"}


async def test_a_cache_that_cannot_be_written_is_named(registry: Registry):
    registry.npm()
    registry.cache.write_text("a file")
    with pytest.raises(ProvisionError, match=str(registry.cache)):
        await registry.fetch()


def test_a_machine_without_a_package_is_told_what_there_is(registry: Registry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ProvisionError, match=r"riscv64(.|\n)*" + PLATFORM):
        registry.program.platform()


@pytest.mark.parametrize(("musl_package", "chosen"), [(True, "linuxmusl-x64"), (False, "linux-x64")])
def test_a_static_build_serves_a_machine_with_musl(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, musl_package: bool, chosen: str
):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("ralph.executors.npm._has_musl", lambda: True)
    (package,) = registry.program.packages.values()
    packages = {"linux-x64": package} | ({"linuxmusl-x64": package} if musl_package else {})
    assert replace(registry.program, packages=packages).platform() == chosen


def test_the_process_environment_is_the_default(registry: Registry, monkeypatch: pytest.MonkeyPatch):
    registry.npm()
    monkeypatch.setenv("PATH", os.pathsep.join([registry.env["PATH"], os.environ["PATH"]]))
    assert anyio.run(registry.program.fetch, registry.cache).is_dir()


async def test_a_cached_program_is_checked_before_it_is_used(registry: Registry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(registry.root / "state"))
    registry.npm()
    assert registry.program.present(registry.cache) is None
    program = await registry.fetch() / "bin/agent"
    assert registry.program.present(registry.cache) == program
    program.write_text("changed\n")
    with pytest.raises(ProvisionError, match=r"no longer what Ralph fetched: bin/agent"):
        registry.program.present(registry.cache)
    shutil.rmtree(program.parent.parent)
    assert await registry.fetch() / "bin/agent" == registry.program.present(registry.cache)
