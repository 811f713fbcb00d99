"""A run of the fleet works in a copy of its own; its work is saved, delivered and removed."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import pytest

from ralph.errors import WorkspaceBusyError, WorkspaceError
from ralph.fleet.checkout import checkout, remove_leftovers
from ralph.fleet.mirror import TOKEN, Source
from ralph.fleet.task import Task
from ralph.testing import Repository


@pytest.fixture(autouse=True)
def state_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "users-state"))
    for name in (TOKEN, *(name for name in os.environ if name.startswith("GIT_"))):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    repository = Repository.begin(tmp_path / "source")
    repository.write("a.txt", "one\n")
    repository.write("build/kept.txt", "tracked, though such folders are usually ignored\n")
    repository.write(".gitignore", "*.log\n")
    repository.commit("begin")
    return repository


def task(repository: Repository | str, *, ref: str | None = None, branch: str | None = None) -> Task:
    address = repository if isinstance(repository, str) else str(repository.path)
    return Task(task="Do it.", repository=address, ref=ref, branch=branch)


def files(repository: Repository, commit: str) -> set[str]:
    return set(repository.git("ls-tree", "-r", "--name-only", commit).split("\n"))


async def test_the_result_is_on_its_branch(source: Repository, tmp_path: Path) -> None:
    before = source.git("rev-parse", "main")
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        assert place.branch == "ralph/r1"
        assert Repository(place.path).git("branch", "--show-current") == "ralph/r1"
        (place.path / "a.txt").write_text("two\n")
        (place.path / "new.txt").write_text("new\n")
        (place.path / "x.log").write_text("ignored\n")
        made = await place.deliver()
    assert (made.kind, made.branch, made.problem) == ("pushed", "ralph/r1", "")
    assert source.git("rev-parse", "ralph/r1") == made.commit
    assert source.git("show", "ralph/r1:a.txt") == "two"
    assert files(source, "ralph/r1") == {"a.txt", "build/kept.txt", ".gitignore", "new.txt"}
    assert source.git("rev-parse", "main") == before
    assert not source.git("status", "--porcelain")
    assert not list((tmp_path / "state" / "checkouts").iterdir())


async def test_commits_of_the_agent_are_kept_and_the_rest_is_added(source: Repository, tmp_path: Path) -> None:
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        inside = Repository(place.path)
        inside.write("b.txt", "b\n")
        inside.commit("The agent's own")
        inside.write("c.txt", "c\n")
        made = await place.deliver()
    assert source.git("log", "--format=%s", "ralph/r1").split("\n")[1:] == ["The agent's own", "begin"]
    assert files(source, made.commit) >= {"a.txt", "b.txt", "c.txt"}


async def test_a_removed_repository_costs_no_work(source: Repository, tmp_path: Path) -> None:
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        shutil.rmtree(place.path / ".git")
        (place.path / "a.txt").unlink()
        (place.path / "b.txt").write_text("b\n")
        made = await place.deliver()
    assert made.kind == "pushed"
    assert files(source, "ralph/r1") == {"b.txt", "build/kept.txt", ".gitignore"}


async def test_a_later_attempt_continues_from_what_was_saved(source: Repository, tmp_path: Path) -> None:
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        (place.path / "done.txt").write_text("of the first iteration\n")
        saved = await place.save("Iteration 1")
        (place.path / "half.txt").write_text("of the one that was cut off\n")
    for state in ("state", "state of another machine"):
        async with checkout(task(source), 2, tmp_path / state, run="r1") as place:
            assert place.start == saved
            assert (place.path / "done.txt").exists()
            assert not (place.path / "half.txt").exists()
            again = await place.deliver()
            assert again.commit == saved


async def test_a_run_without_a_change_delivers_nothing(source: Repository, tmp_path: Path) -> None:
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        assert (await place.deliver()).kind == "nothing"
    assert source.git("branch", "--format=%(refname:short)") == "main"


async def test_a_branch_that_went_on_is_not_overwritten(source: Repository, tmp_path: Path) -> None:
    source.git("branch", "wanted")
    async with checkout(task(source, branch="wanted"), 1, tmp_path / "state", run="r1") as place:
        (place.path / "a.txt").write_text("mine\n")
        source.git("checkout", "-q", "wanted")
        source.write("theirs.txt", "theirs\n")
        theirs = source.commit("theirs")
        source.git("checkout", "-q", "main")
        made = await place.deliver()
    assert source.git("rev-parse", "wanted") == theirs
    assert made.kind == "pushed"
    assert made.branch.startswith("wanted-")
    assert made.problem == "The branch 'wanted' cannot be pushed: it has commits that are not in the result."
    assert source.git("show", f"{made.branch}:a.txt") == "mine"


async def test_a_result_that_cannot_be_pushed_is_a_bundle(source: Repository, tmp_path: Path) -> None:
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        (place.path / "a.txt").write_text("two\n")
        (source.path / ".git").rename(source.path / "gone")
        made = await place.deliver()
    (source.path / "gone").rename(source.path / ".git")
    assert made.kind == "bundle"
    assert "cannot be pushed" in made.problem
    source.git("fetch", "-q", made.where, "refs/ralph/runs/r1:refs/heads/result")
    assert source.git("show", "result:a.txt") == "two"


async def test_a_task_begins_with_its_ref(source: Repository, tmp_path: Path) -> None:
    first = source.git("rev-parse", "HEAD")
    source.git("tag", "v1")
    source.write("later.txt", "later\n")
    source.commit()
    for ref in ("v1", first):
        async with checkout(task(source, ref=ref), 1, tmp_path / "state", run="r1") as place:
            assert not (place.path / "later.txt").exists()
    for ref in ("nowhere", "a..b", "@{-1}"):
        with pytest.raises(WorkspaceError, match="has no branch, tag or commit"):
            async with checkout(task(source, ref=ref), 1, tmp_path / "state", run="r1"):
                pass


async def test_a_bare_repository_is_a_source(source: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    source.git("clone", "-q", "--bare", ".", str(bare))
    async with checkout(task(str(bare), branch="main"), 1, tmp_path / "state", run="r1") as place:
        assert place.path.name == "bare"
        (place.path / "a.txt").write_text("two\n")
        assert (await place.deliver()).problem == ""
    assert Repository(bare).git("show", "main:a.txt") == "two"


async def test_submodules_stay_in_the_result(source: Repository, tmp_path: Path) -> None:
    link = source.git("rev-parse", "HEAD")
    source.git("update-index", "--add", "--cacheinfo", f"160000,{link},sub")
    source.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ../sub\n')
    source.git("add", ".gitmodules")
    source.git("commit", "-qm", "sub")
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        (place.path / "a.txt").write_text("two\n")
        made = await place.deliver()
    assert made.problem == "The agent worked without the submodules sub."
    assert "sub" in files(source, "ralph/r1")


async def test_files_of_git_lfs_stay_pointers_and_the_result_says_so(source: Repository, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    source.write("media/.gitattributes", "# what is large\n*.bin filter=lfs diff=lfs merge=lfs -text\n")
    source.write("media/a.bin", pointer)
    source.commit("large files")
    async with checkout(task(source), 1, tmp_path / "state", run="r1") as place:
        assert (place.path / "media/a.bin").read_text() == pointer
        (place.path / "a.txt").write_text("two\n")
        made = await place.deliver()
    assert made.problem == "The agent worked without the files of git-lfs, but for their pointers."
    assert source.git("show", "ralph/r1:media/a.bin") == pointer.strip()


async def test_what_a_dead_attempt_left_is_removed(source: Repository, tmp_path: Path) -> None:
    state = tmp_path / "state"
    dead = state / "checkouts" / "r0-1-abc"
    (dead / "work" / "locked").mkdir(parents=True)
    (dead / "work" / "locked" / "file").touch()
    (dead / "work" / "locked").chmod(0)
    (dead / "lock").touch()
    (dead / "work" / "out").symlink_to(source.path)
    async with checkout(task(source), 1, state, run="r1") as place:
        assert remove_leftovers(state) == 0
        assert place.path.exists()
        assert not dead.exists()
    assert (source.path / "a.txt").exists()


async def test_a_plain_folder_is_locked(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    given = Task(task="Do it.", folder=folder)
    async with checkout(given, 1, tmp_path / "state", run="r1") as place:
        assert (place.path, place.branch) == (folder, "")
        with pytest.raises(WorkspaceBusyError, match="run r1"):
            async with checkout(given, 1, tmp_path / "another state", run="r2"):
                pass
        assert (await place.deliver()).kind == "folder"
    async with checkout(given, 1, tmp_path / "state", run="r2"):
        pass
    with pytest.raises(WorkspaceError, match="does not exist"):
        async with checkout(Task(task="x", folder=tmp_path / "no"), 1, tmp_path / "state", run="r3"):
            pass


@pytest.mark.parametrize(
    "text", ["ext::sh -c touch% /tmp/x", "-u.git", "fd::3", "http://example.com/x", "ssh://-oProxyCommand=x/y", "a\nb"]
)
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(WorkspaceError, match="is not an address"):
        Source.parse(text)


def test_a_login_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(WorkspaceError, match=TOKEN) as caught:
        Source.parse("https://me:sesame@example.com/x.git")
    assert "sesame" not in str(caught.value)
    with pytest.raises(WorkspaceError, match="contains a login"):
        Source.parse("https://ghp_sesame@example.com/x.git")


@pytest.mark.parametrize(
    ("text", "protocol", "name"),
    [
        ("https://example.com/a/b.git", "https", "b"),
        ("ssh://git@example.com:22/a/b", "ssh", "b"),
        ("git@example.com:a/b.git", "ssh", "b"),
    ],
)
def test_addresses_name_their_protocol(text: str, protocol: str, name: str) -> None:
    found = Source.parse(text)
    assert (found.protocol, found.name, found.local) == (protocol, name, None)


class _Server(BaseHTTPRequestHandler):
    """A git server that asks for a login, with git's own program behind it."""

    root: Path
    asked: list[str | None]

    def _answer(self) -> None:
        self.asked.append(self.headers.get("Authorization"))
        if self.headers.get("Authorization") != "Basic eC1hY2Nlc3MtdG9rZW46c2VzYW1lLTEyMw==":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "x",
        }
        body = self._chunks() if self.headers.get("Transfer-Encoding") == "chunked" else self._body()
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(int(dict(fields).get("Status", "200").split()[0]))
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer  # noqa: N815

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def server(source: Repository, tmp_path: Path) -> Iterator[tuple[str, type[_Server]]]:
    root = tmp_path / "served"
    root.mkdir()
    source.git("clone", "-q", "--bare", ".", str(root / "project.git"))
    Repository(root / "project.git").git("config", "http.receivepack", "true")
    handler = type("Handler", (_Server,), {"root": root, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/project.git", handler
        served.shutdown()
        thread.join()


def written(folder: Path, text: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


async def test_the_token_comes_from_the_environment_and_is_written_nowhere(
    server: tuple[str, type[_Server]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = server
    monkeypatch.setenv(TOKEN, "sesame-123")
    async with checkout(task(address), 1, tmp_path / "state", run="r1") as place:
        (place.path / "a.txt").write_text("two\n")
        made = await place.deliver()
        assert made.kind == "pushed"
        assert made.problem == ""
        assert written(tmp_path, b"sesame") == []
    served = Repository(tmp_path / "served" / "project.git")
    assert served.git("show", "ralph/r1:a.txt") == "two"


async def test_a_server_that_refuses_says_what_to_set(server: tuple[str, type[_Server]], tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be read") as caught:
        async with checkout(task(server[0]), 1, tmp_path / "state", run="r1"):
            pass
    assert TOKEN in caught.value.remedy


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_runs_of_one_source_do_not_disturb_each_other(source: Repository, tmp_path: Path) -> None:
    async def one(number: int) -> None:
        async with checkout(task(source), 1, tmp_path / "state", run=f"r{number}") as place:
            (place.path / f"{number}.txt").write_text("x\n")
            assert (await place.deliver()).problem == ""

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(one, number)
    for number in range(6):
        assert f"{number}.txt" in files(source, f"ralph/r{number}")
        assert f"{(number + 1) % 6}.txt" not in files(source, f"ralph/r{number}")


KILLED = """
import sys, time
from pathlib import Path
import anyio
from ralph.fleet.checkout import checkout
from ralph.fleet.task import Task

async def main():
    async with checkout(Task(task="x", repository=sys.argv[1]), 1, Path(sys.argv[2]), run="r1") as place:
        (place.path / "saved.txt").write_text("x")
        await place.save("Iteration 1")
        (place.path / "lost.txt").write_text("x")
        print(place.path, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


async def test_the_next_attempt_continues_after_a_kill_and_cleans_up(source: Repository, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", KILLED, str(source.path), str(tmp_path / "state")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as worker:  # noqa: ASYNC220 - it only prints a line
        assert worker.stdout
        left = Path(worker.stdout.readline().strip())
        assert remove_leftovers(tmp_path / "state") == 0
        worker.kill()
    assert (left / "lost.txt").exists()
    async with checkout(task(source), 2, tmp_path / "state", run="r1") as place:
        assert names(tmp_path / "state" / "checkouts") == [place.path.parent.name]
        assert (place.path / "saved.txt").exists()
        assert not (place.path / "lost.txt").exists()


async def test_a_source_over_ssh(source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssh"
    program.write_text('#!/bin/sh\nfor word in "$@"; do last=$word; done\nexec sh -c "$last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    async with checkout(task(f"ssh://git@localhost{source.path}"), 1, tmp_path / "state", run="r1") as place:
        (place.path / "new.txt").write_text("x\n")
        made = await place.deliver()
    assert (made.kind, made.problem) == ("pushed", "")
    assert "new.txt" in files(source, "ralph/r1")
