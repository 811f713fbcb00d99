"""Provisioning with the real npm, the real package and the real SDK."""

import hashlib
import io
import os
import shutil
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ralph.errors import ProvisionError
from ralph.executors.copilot.provision import PINNED, provide_cli, provide_runtime
from ralph.executors.npm import platform_name
from ralph.system.process import run


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """Without a CLI that might be on PATH; the CLI unpacks itself below `tmp_path`."""
    path = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("copilot", path=folder)
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COPILOT_")}
    return kept | {"PATH": path, "COPILOT_CACHE_HOME": str(tmp_path / "unpacked"), "COPILOT_OFFLINE": "true"} | more


@pytest.fixture
def roomy(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed at once: a whole CLI takes half a gigabyte."""
    folder = tmp_path / "roomy"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.mark.timeout(600)
@pytest.mark.long
async def test_the_pinned_package_is_fetched_checked_found_again_and_runs(roomy: Path) -> None:
    if not shutil.which("npm") and not os.environ.get("CI"):
        pytest.skip("there is no npm here")
    env, cache = environment(roomy), roomy / "cache"
    told: list[tuple[str, int, int | None]] = []

    def progress(step: str, done_bytes: int, total_bytes: int | None) -> None:
        told.append((step, done_bytes, total_bytes))

    fetched = await provide_cli(env=env, cache=cache, progress=progress)
    assert (fetched.source, fetched.version) == ("fetched", PINNED)
    assert {step for step, _, _ in told} == {"download", "check", "unpack"}
    downloaded = [done for step, done, _ in told if step == "download"]
    assert downloaded == sorted(downloaded)
    assert downloaded[-1] > 1_000_000

    no_npm = {**env, "PATH": str(roomy)}
    again = await provide_cli(env=no_npm, cache=cache)
    assert (again.source, again.path) == ("cache", fetched.path)
    done = await run([str(again.path), "--no-auto-update", "--version"], cwd=roomy, env=env, timeout=60)
    assert f"GitHub Copilot CLI {PINNED}." in done.stdout

    runtime = await provide_runtime(replace(again, runtime=None), env={**env, "HOME": str(roomy)})
    assert runtime is not None
    assert runtime.is_relative_to(roomy / "unpacked")
    assert os.access(runtime, os.X_OK)


def test_the_fixtures_give_programs_that_can_be_run(copilot_cli: Path, copilot_runtime: Path) -> None:
    assert os.access(copilot_cli, os.X_OK)
    assert os.access(copilot_runtime, os.X_OK)


@pytest.fixture
def releases(tmp_path: Path) -> Iterator[str]:
    """A release page on loopback that holds a small runtime; its address."""
    folder, name = tmp_path / "releases" / f"v{PINNED}", platform_name()
    folder.mkdir(parents=True)
    bundle = folder / f"github-copilot-{PINNED}-{name}.tgz"
    with tarfile.open(bundle, "w:gz") as archive:
        for file in ("copilot-runtime", "runtime.node"):
            member = tarfile.TarInfo(f"package/prebuilds/{name}/{file}")
            member.size, member.mode = 4, 0o755
            archive.addfile(member, io.BytesIO(b"\x7fELF"))
    (folder / "SHA256SUMS.txt").write_text(f"{hashlib.sha256(bundle.read_bytes()).hexdigest()}  {bundle.name}\n")

    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "releases"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


async def test_without_npm_the_sdk_downloads_its_runtime_into_our_cache(tmp_path: Path, releases: str) -> None:
    env = environment(tmp_path, PATH="", COPILOT_CLI_DOWNLOAD_BASE_URL=releases, no_proxy="127.0.0.1")
    found = await provide_cli(env=env, cache=tmp_path / "cache")
    assert (found.source, found.version, found.takes_prompts) == ("fetched", PINNED, False)
    assert found.path.is_relative_to(tmp_path / "cache")
    assert await provide_runtime(found, env=env) == found.path
    assert (await provide_cli(env=env, cache=tmp_path / "cache")).source == "cache"


@pytest.mark.long
async def test_an_unreachable_download_without_npm_is_a_clear_error(tmp_path: Path) -> None:
    env = environment(tmp_path, PATH="", COPILOT_CLI_DOWNLOAD_BASE_URL="http://127.0.0.1:1", no_proxy="127.0.0.1")
    with pytest.raises(ProvisionError) as caught:
        await provide_cli(env=env, cache=tmp_path / "cache")
    for part in ("no npm on PATH", "npm install -g @github/copilot", "COPILOT_CLI_PATH", "executor.cli_path"):
        assert part in str(caught.value)
    assert [path.name for path in (tmp_path / "cache" / "copilot-cli").iterdir()] == ["lock"]
