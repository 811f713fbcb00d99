"""Finding the Copilot CLI and fetching it, with an npm that copies a small package."""

import base64
import hashlib
import io
import json
import os
import shutil
import stat
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ralph.errors import ProvisionError, UsageError
from ralph.executors.copilot import provision
from ralph.executors.copilot.doctor import findings
from ralph.executors.copilot.provision import CLI, PINNED, Found, find_cli, provide_cli, provide_runtime
from ralph.executors.npm import NpmPackage, platform_name

NATIVE = b"\x7fELF not really"
PLATFORM = platform_name()
SPEC = f"@github/copilot-{PLATFORM}@{PINNED}"


def executable(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(0o755)
    return path


def package(folder: Path, version: str = PINNED, name: str = f"@github/copilot-{PLATFORM}") -> Path:
    """An unpacked platform package, as npm installs it."""
    program = executable(folder / "copilot", NATIVE)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))
    return program


def script(path: Path, *, says: str = "", then: str = "") -> Path:
    return executable(path, f"#!/bin/sh\n{then}\n{shutil.which('cat')} <<'END'\n{says}\nEND\n")


def integrity(path: Path) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


@dataclass
class Machine:
    """A user's machine in a temporary folder: home, cache, PATH, and an npm that counts how often it is called."""

    root: Path

    def __post_init__(self) -> None:
        self.bin, self.cache = self.root / "bin", self.root / "cache"
        self.bin.mkdir()
        self.tarball = self.root / "package.tgz"
        self.calls = self.root / "npm-calls"
        self.env = {"HOME": str(self.root / "home"), "PATH": str(self.bin)}

    def publish(self, program: bytes = NATIVE) -> NpmPackage:
        with tarfile.open(self.tarball, "w:gz") as archive:
            for name, content in {"copilot": program, "package.json": b"{}", "evil": b"not to be unpacked"}.items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return NpmPackage(SPEC, integrity(self.tarball), self.tarball.stat().st_size)

    def install_npm(self, then: str = "") -> None:
        copy = f"{shutil.which('cp')} {self.tarball} github-copilot-{PLATFORM}-{PINNED}.tgz"
        script(self.bin / "npm", then=then or f'echo "$@" >> {self.calls}; {copy}')

    @property
    def left(self) -> list[str]:
        """What lies in the cache, the lock aside."""
        return sorted(path.name for path in (self.cache / "copilot-cli").iterdir() if path.name != "lock")


class Steps:
    """A progress report that is kept."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, step: str, done_bytes: int, total_bytes: int | None) -> None:
        assert total_bytes is None or 0 <= done_bytes <= total_bytes
        self.seen.append(step)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setattr(provision, "CLI", replace(CLI, packages={**CLI.packages, PLATFORM: machine.publish()}))
    return machine


def find(machine: Machine, setting: Path | None = None, /, **env: str) -> Found | None:
    return find_cli(setting, {**machine.env, **env}, machine.cache)


async def provide(machine: Machine, setting: Path | None = None, /, **env: str) -> Found:
    return await provide_cli(setting, env={**machine.env, **env}, cache=machine.cache)


def test_the_setting_goes_before_the_environment_before_path_before_the_cache(machine: Machine) -> None:
    assert find(machine) is None
    cached = package(machine.cache / "copilot-cli" / f"{PINNED}-{PLATFORM}")
    assert find(machine) == Found(cached, "cache", PINNED)
    on_path = package(machine.bin, "1.0.100")
    assert find(machine) == Found(on_path, "PATH", "1.0.100")
    named = package(machine.root / "named", "1.0.99")
    assert find(machine, COPILOT_CLI_PATH=str(named)) == Found(named, "environment", "1.0.99")
    assert find(machine, cached, COPILOT_CLI_PATH=str(named)) == Found(cached, "setting", PINNED)


@pytest.mark.parametrize("what", ["executor.cli_path", "COPILOT_CLI_PATH"])
@pytest.mark.parametrize(("exists", "problem"), [(False, "does not exist"), (True, "cannot be executed")])
async def test_a_named_program_that_is_no_use_is_an_error_that_names_it(
    machine: Machine, what: str, exists: bool, problem: str
) -> None:
    package(machine.bin)
    path = machine.root / "given"
    if exists:
        path.write_text("plain")
    setting, env = (path, {}) if what == "executor.cli_path" else (None, {"COPILOT_CLI_PATH": str(path)})
    with pytest.raises(UsageError) as caught:
        find(machine, setting, **env)
    assert what in str(caught.value)
    assert str(path) in str(caught.value)
    assert problem in str(caught.value)
    with pytest.raises(UsageError):
        await provide(machine, setting, **env)


@pytest.mark.parametrize(
    "layout",
    [
        "lib/node_modules/@github/copilot/node_modules/@github",  # npm install --global
        "lib/node_modules/@github",  # hoisted
    ],
)
def test_the_node_loader_on_path_stands_for_the_native_program_beside_it(machine: Machine, layout: str) -> None:
    loader = script(machine.root / "lib/node_modules/@github/copilot/npm-loader.js")
    (machine.bin / "copilot").symlink_to(loader)
    native = package(machine.root / layout / f"copilot-{PLATFORM}")
    assert find(machine) == Found(native, "PATH", PINNED)


def test_a_script_on_path_that_stands_for_no_native_program_is_passed_over(machine: Machine) -> None:
    script(machine.bin / "copilot")
    assert find(machine) is None
    native = package(machine.root / "further")
    assert find(machine, PATH=f"{machine.bin}{os.pathsep}{native.parent}") == Found(native, "PATH", PINNED)


def test_a_workspace_cannot_put_its_own_program_in_front(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    package(machine.root / "workspace")
    monkeypatch.chdir(machine.root / "workspace")
    assert find(machine, PATH=os.pathsep.join([".", "", str(machine.bin)])) is None


def test_a_version_on_path_that_is_known_not_to_work_is_passed_over(machine: Machine) -> None:
    package(machine.bin, "1.0.80")
    assert find(machine) is None
    package(machine.bin, "1.1.0")
    assert find(machine) is None


def test_a_package_file_of_something_else_tells_no_version(machine: Machine) -> None:
    native = package(machine.bin, "0.1.0", name="some-project")
    assert find(machine) == Found(native, "PATH", None)


@pytest.mark.parametrize("content", ["[1]", '"x"', "{", '{"name": 3, "version": "1"}', "\x00", "[" * 50_000])
def test_a_broken_package_file_does_no_harm(machine: Machine, content: str) -> None:
    package(machine.bin)
    (machine.bin / "package.json").write_text(content)
    assert find(machine) == Found(machine.bin / "copilot", "PATH", None)


@pytest.mark.parametrize(
    ("says", "version"),
    [("GitHub Copilot CLI 1.0.95.\nRun 'copilot update'", "1.0.95"), ("GitHub Copilot CLI 1.0.102", PINNED)],
)
async def test_a_version_that_only_a_launch_tells_is_asked_for(machine: Machine, says: str, version: str) -> None:
    named = script(machine.root / "mine", says=says)
    assert (await provide(machine, named)).version == version


@pytest.mark.parametrize(
    ("says", "problem"),
    [
        ("GitHub Copilot CLI 1.0.80.", "is version 1.0.80"),
        ("GitHub Copilot CLI 2.0.0.", "is version 2.0.0"),
        ("copilot version: v1.34.1", "does not say that it is a Copilot CLI"),
    ],
)
async def test_a_named_program_of_another_version_is_refused(machine: Machine, says: str, problem: str) -> None:
    named = script(machine.root / "mine", says=says)
    with pytest.raises(UsageError, match=problem):
        await provide(machine, named)


async def test_another_program_called_copilot_on_path_does_not_stand_in_the_way(machine: Machine) -> None:
    shutil.copy(shutil.which("echo") or "/bin/echo", machine.bin / "copilot")
    machine.install_npm()
    assert (await provide(machine)).source == "fetched"


async def test_it_is_fetched_once_and_found_from_then_on(machine: Machine) -> None:
    machine.install_npm()
    steps = Steps()
    found = await provide_cli(env=machine.env, cache=machine.cache, progress=steps)
    assert (found.source, found.version) == ("fetched", PINNED)
    assert found.path.read_bytes() == NATIVE
    assert found.path.stat().st_mode & stat.S_IXUSR
    assert list(dict.fromkeys(steps.seen)) == ["download", "check", "unpack"]
    assert sorted(path.name for path in found.path.parent.iterdir()) == ["copilot", "package.json"]
    assert machine.left == [f"{PINNED}-{PLATFORM}"]
    assert (await provide(machine)).source == "cache"
    (call,) = machine.calls.read_text().splitlines()
    assert call.startswith(f"pack @github/copilot-{PLATFORM}@{PINNED} --ignore-scripts")


async def test_what_npm_says_of_its_failure_is_passed_on(machine: Machine) -> None:
    machine.install_npm(then="echo npm error code ENOTFOUND >&2; exit 1")
    with pytest.raises(ProvisionError) as caught:
        await provide(machine)
    for part in (f"@github/copilot-{PLATFORM}@{PINNED}", "ENOTFOUND", "npm install -g", "executor.cli_path"):
        assert part in str(caught.value)
    assert machine.left == []


async def test_a_cache_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.install_npm()
    machine.cache.write_text("a file")
    with pytest.raises(ProvisionError) as caught:
        await provide(machine)
    assert str(machine.cache) in str(caught.value)


@pytest.mark.long
async def test_without_npm_the_sdks_own_download_is_tried(machine: Machine) -> None:
    with pytest.raises(ProvisionError) as caught:
        await provide(machine, COPILOT_SKIP_CLI_DOWNLOAD="1")
    for part in ("no npm on PATH", "automatic downloads are disabled", "npm install -g @github/copilot"):
        assert part in str(caught.value)
    assert machine.left == []


async def test_a_home_that_the_cli_cannot_unpack_itself_into_is_named(machine: Machine) -> None:
    home = machine.root / "home"
    home.write_text("a file")
    found = Found(package(machine.bin), "PATH", PINNED)
    with pytest.raises(ProvisionError) as caught:
        await provide_runtime(found, env=machine.env)
    assert str(home) in str(caught.value)
    assert "COPILOT_CACHE_HOME" in str(caught.value)


@pytest.mark.parametrize("variable", ["COPILOT_PKG_CACHE_HOME", "COPILOT_CACHE_HOME"])
async def test_the_runtime_is_found_where_the_cli_was_told_to_unpack_itself(machine: Machine, variable: str) -> None:
    folder = machine.root / "there" / "pkg" / PLATFORM / PINNED / "prebuilds" / PLATFORM
    runtime = executable(folder / "copilot-runtime", NATIVE)
    package(machine.bin)
    machine.env[variable] = str(machine.root / "there")
    assert find(machine) == Found(machine.bin / "copilot", "PATH", PINNED)
    (folder / "runtime.node").write_bytes(b"x")
    found = find(machine)
    assert found is not None
    assert found.takes_prompts
    assert (found.runtime, await provide_runtime(found, env=machine.env)) == (runtime, runtime)


def test_the_runtime_named_as_the_cli_takes_no_prompts(machine: Machine) -> None:
    folder = machine.root / PINNED
    package(folder)
    runtime = executable(folder / "prebuilds" / PLATFORM / "copilot-runtime", NATIVE)
    found = find(machine, runtime)
    assert found is not None
    assert found == Found(runtime, "setting", PINNED, runtime)
    assert not found.takes_prompts


async def test_a_named_runtime_that_states_no_version_is_left_to_the_sdk(machine: Machine) -> None:
    runtime = executable(machine.root / "copilot-runtime", NATIVE)
    assert await provide(machine, runtime) == Found(runtime, "setting", None, runtime)


def test_a_machine_without_a_cli_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ProvisionError, match="riscv64"):
        CLI.platform()


def test_every_pin_is_a_sha512() -> None:
    for pin in CLI.packages.values():
        scheme, _, digest = pin.integrity.partition("-")
        assert (scheme, len(base64.b64decode(digest, validate=True))) == ("sha512", 64)


async def test_findings_say_what_is_there_without_telling_secrets(machine: Machine) -> None:
    package(machine.bin)
    script(machine.bin / "npm", says="11.2.0")
    found = {each.name: each for each in await findings(env={**machine.env, "GH_TOKEN": "s3cret"}, cache=machine.cache)}
    assert found["copilot"].detail == f"{PINNED}, {machine.bin / 'copilot'} (PATH)"
    assert found["npm"].detail == f"11.2.0, {machine.bin / 'npm'}"
    assert not found["git"].ok
    assert found["git"].remedy
    assert found["login"].ok
    assert "GH_TOKEN" in found["login"].detail
    assert "s3cret" not in repr(found)


async def test_findings_on_a_bare_machine_come_with_remedies(machine: Machine) -> None:
    found = {each.name: each for each in await findings(env=machine.env, cache=machine.cache)}
    assert not found["copilot"].ok
    assert "npm install -g @github/copilot" in found["copilot"].remedy
    assert not found["login"].ok
    assert "`ralph login`" in found["login"].remedy
    machine.install_npm()
    found = {each.name: each for each in await findings(env=machine.env, cache=machine.cache)}
    assert found["copilot"].ok, "the first run fetches it"


async def test_a_wrong_setting_is_a_finding_not_an_error(machine: Machine) -> None:
    (copilot, *_) = await findings(machine.root / "nothing", env=machine.env, cache=machine.cache)
    assert (copilot.name, copilot.ok) == ("copilot", False)
    assert "executor.cli_path" in copilot.detail
    assert copilot.remedy


async def test_a_runtime_that_was_changed_after_its_first_start_is_not_started(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(machine.root / "state"))
    folder = machine.root / "cache" / "copilot" / "pkg" / PLATFORM / PINNED / "prebuilds" / PLATFORM
    machine.env["XDG_CACHE_HOME"] = str(machine.root / "cache")
    runtime = executable(folder / "copilot-runtime", NATIVE)
    (folder / "runtime.node").write_bytes(b"half")
    program = package(machine.root / "package")
    as_found = Found(program, "setting", PINNED, runtime)
    assert find(machine, program) == as_found
    (folder / "runtime.node").write_bytes(b"true")
    (folder.parents[1] / ".extraction-complete").touch()
    assert find(machine, program) == as_found, "it was still being unpacked"
    (folder / "runtime.node").write_bytes(b"evil")
    for _ in range(2):
        with pytest.raises(ProvisionError, match=f"no longer what it was .*remove {folder.parents[1]}: it unpacks"):
            find(machine, program)
