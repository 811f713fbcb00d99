"""The files that a verify command depends on: what is known of them, and which are restored."""

import time
from pathlib import Path

import pytest

from ralph.testing import ScriptedExecutor
from ralph.types.choices import ProtectChecks
from ralph.types.verification import CheckFiles
from ralph.verifiers import CommandVerifier, ReviewVerifier, parse_command
from ralph.verifiers.check_files import Checks, check_files, is_judge
from ralph.workspace import open_workspace

Files = dict[str, str]

PROJECT: Files = {
    "check.sh": "#!/bin/sh\n. ./lib/common.sh\npython -m pytest -q\n",
    "lib/common.sh": "set -e\n",
    "verify.py": "print('ok')\n",
    "main.py": "print('the work')\n",
    "data.txt": "1\n",
    "Makefile": "test:\n\tgo test ./...\n\tpython scripts/report.py\nall: test\n",
    "scripts/report.py": "",
    "package.json": '{"version": "1", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}}',
    "pyproject.toml": '[project]\nname = "a"\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    "tests/test_a.py": "def test_a(): assert 1\n",
    "tests/data.json": "{}",
    "lib/a_test.go": "package lib\n",
    "web/a.test.ts": "test()\n",
    "web/Makefile": "test:\n\t./run.sh\n",
    "web/run.sh": "#!/bin/sh\n",
    "web/package.json": '{"scripts": {"test": "./run.sh"}}',
    "tools/verify.py": "import os\n",
    "tools/__main__.py": "import os\n",
    "conftest.py": "",
    "node_modules/jest/a.test.js": "",
}


def write(top: Path, files: Files) -> None:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    write(folder, PROJECT)
    return folder


def checks_of(folder: Path, command: str, restore: ProtectChecks = "auto", *, shell: bool = False) -> Checks:
    verifier = CommandVerifier(command if shell else parse_command(command))
    workspace = open_workspace(folder, state_dir=folder.parent / "state")
    return Checks(workspace, [verifier], restore, ReviewVerifier(ScriptedExecutor()))


@pytest.mark.parametrize(
    ("command", "change", "told"),
    [
        ("./check.sh", {"check.sh": "true"}, ["check.sh"]),
        ("sh check.sh", {"check.sh": "true"}, ["check.sh"]),
        ("./check.sh", {"lib/common.sh": "exit 0"}, ["lib/common.sh"]),
        ("./check.sh", {"tests/test_a.py": "def test_a(): pass"}, ["tests/test_a.py"]),
        ("bash -c './check.sh --all'", {"check.sh": "true"}, ["check.sh"]),
        ("timeout 60 ./check.sh", {"check.sh": "true"}, ["check.sh"]),
        ("python3.12 -X dev verify.py", {"verify.py": ""}, ["verify.py"]),
        ("python verify.py data.txt", {"data.txt": "2"}, []),
        ("./new.sh", {"new.sh": "true"}, ["new.sh"]),
        ("python -m pytest -q", {"tests/test_a.py": ""}, ["tests/test_a.py"]),
        ("pytest tests/test_a.py", {"tests/data.json": "[]"}, ["tests/data.json"]),
        ("pytest", {"tests/test_new.py": "", "tests/more.json": ""}, []),
        ("pytest", {"tests/conftest.py": ""}, ["tests/conftest.py"]),
        ("pytest", {"pytest.py": ""}, ["pytest.py"]),
        ("pytest", {"sitecustomize.py": ""}, ["sitecustomize.py"]),
        ("pytest", {"conftest.py": "x"}, ["conftest.py"]),
        ("pytest", {"pyproject.toml": '[project]\nname = "b"\n[tool.pytest.ini_options]\naddopts = "-q"\n'}, []),
        ("pytest", {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-k nothing"\n'}, ["pyproject.toml"]),
        ("pytest", {"main.py": "", "Makefile": "", "web/a.test.ts": ""}, []),
        ("make test", {"Makefile": "test:\n\ttrue\n"}, ["Makefile"]),
        ("make test", {"GNUmakefile": "test:\n\ttrue\n"}, ["GNUmakefile"]),
        ("make test", {"lib/a_test.go": "", "tests/test_a.py": ""}, ["lib/a_test.go"]),
        ("make test", {"scripts/report.py": "x"}, ["scripts/report.py"]),
        ("npm test", {"package.json": '{"version": "2", "scripts": {"test": "jest"}, "dependencies": {}}'}, []),
        ("npm test", {"package.json": '{"version": "1", "scripts": {"test": "true"}}'}, ["package.json"]),
        ("npm test", {".npmrc": "script-shell=./x"}, [".npmrc"]),
        ("npm test", {"web/a.test.ts": "", "node_modules/jest/a.test.js": "x"}, ["web/a.test.ts"]),
        ("go test ./...", {"lib/a_test.go": "", "lib/new_test.go": ""}, ["lib/a_test.go"]),
        ("cargo test", {"build.rs": ""}, ["build.rs"]),
        ("make -C web test", {"web/Makefile": "test:\n\ttrue\n"}, ["web/Makefile"]),
        ("make --directory=web test", {"web/run.sh": "exit 0"}, ["web/run.sh"]),
        ("npm --prefix web test", {"web/package.json": '{"scripts": {"test": "true"}}'}, ["web/package.json"]),
        ("python3 -m tools.verify", {"tools/verify.py": ""}, ["tools/verify.py"]),
        ("python3 -m tools", {"tools/__main__.py": ""}, ["tools/__main__.py"]),
        ("python3 -Im web", {"web/__init__.py": "x"}, ["web/__init__.py"]),
        ("true", {"check.sh": "", "tests/test_a.py": ""}, []),
        ("test -f data.txt", {"data.txt": "x"}, []),
        ("grep . data.txt", {"data.txt": "x"}, []),
    ],
)
def test_what_a_check_depends_on_is_known(command: str, change: Files, told: list[str], project: Path) -> None:
    checks = checks_of(project, command)
    checks.begin("run-1", "Do it.")
    assert checks.changed() == {}
    assert [each.name for each in checks.judges({})] == [checks.verifiers[0].name]
    write(project, change)
    changed = checks.changed()
    assert changed == ({checks.verifiers[0].name: tuple(told)} if told else {})
    assert [each.name for each in checks.judges(changed)][1:] == (["review"] if told else [])


@pytest.mark.parametrize(
    ("text", "change", "told"),
    [
        ("cd . && ./check.sh | tee log; ! grep -q TODO data.txt", "check.sh", True),
        ("cd web && ./run.sh", "web/run.sh", True),
        ("(cd web; ./run.sh)", "web/run.sh", True),
        ("(cd web; true); ./check.sh", "check.sh", True),
        ("pushd web && ./run.sh && popd && sh check.sh", "check.sh", True),
        ("cd web && cd .. && ./check.sh", "check.sh", True),
        ("cd tools && python3 -m verify", "tools/verify.py", True),
        ("cd web && make test", "web/run.sh", True),
        ("cd web && npm test", "web/package.json", True),
        ("cd tools && ./check.sh", "check.sh", False),
        ("cd /; ./check.sh", "check.sh", False),
        ("cd $HOME && ./check.sh", "check.sh", True),
    ],
)
def test_a_shells_text_is_read_too(text: str, change: str, told: bool, project: Path) -> None:
    checks = checks_of(project, text, shell=True)
    checks.begin("run-1", "Do it.")
    write(project, {change: "", "data.txt": ""})
    assert list(checks.changed().values()) == ([(change,)] if told else [])


@pytest.mark.parametrize(
    ("script", "change", "told"),
    [
        ('set -euo pipefail\ncd "$(dirname "$0")"\n./lib.sh\n', "ci/lib.sh", True),
        ("set -e; cd $(dirname $0)/..; ./run.sh", "run.sh", True),
        ('cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && bash lib.sh', "ci/lib.sh", True),
        ('cd "${0%/*}/.." || exit 1\nsh run.sh', "run.sh", True),
        ("cd `dirname $0`; python verify.py", "ci/verify.py", True),
        ('cd "$(dirname "$(readlink -f "$0")")"; . ./lib.sh', "ci/lib.sh", True),
        ('HERE="$(cd "$(dirname "$0")" >/dev/null 2>&1 && pwd -P)"\nsource "$HERE/lib.sh"', "ci/lib.sh", True),
        ('readonly ROOT=$(cd "$(dirname "$0")/.."; pwd)\ncd "${ROOT}"\n./run.sh', "run.sh", True),
        ('DIR=$(dirname "$(realpath "${BASH_SOURCE[0]:-$0}")")\npython3 "$DIR"/verify.py', "ci/verify.py", True),
        ('cd "$(git rev-parse --show-toplevel)/web" && ./run.sh', "web/run.sh", True),
        ('cd "$(dirname "$0")" && ./lib.sh', "lib.sh", False),
        ('cd "$(dirname "$0")"/../.. && ./run.sh', "run.sh", False),
        ('cd "$1" && ./lib.sh', "ci/lib.sh", False),
    ],
)
def test_a_script_that_finds_its_own_folder_is_followed(script: str, change: str, told: bool, project: Path) -> None:
    program = "#!/bin/sh\n"
    write(project, {"ci/check.sh": f"{program}{script}\n", "ci/lib.sh": program, "ci/verify.py": "", "run.sh": program})
    write(project, {"lib.sh": program, "data.txt": ""})
    checks = checks_of(project, "ci/check.sh")
    checks.begin("run-1", "Do it.")
    write(project, {change: "exit 0"})
    assert list(checks.changed().values()) == ([(change,)] if told else [])


@pytest.mark.parametrize("piece", ["$(", "$(dirname ", "$(cd @here@", "${BASH_SOURCE[0]", "A=@here@/", "$A", "`", '"'])
def test_a_hostile_script_is_read_in_linear_time(piece: str, project: Path) -> None:
    write(project, {"check.sh": "#!/bin/sh\n" + piece * (1_000_000 // len(piece))})
    began = time.process_time()
    assert check_files("./check.sh", project).named == ("check.sh",)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("command", "restore", "kept"),
    [
        ("./check.sh", "auto", ["check.sh"]),
        ("python verify.py", "auto", ["verify.py"]),
        ("python main.py", "auto", []),
        ("pytest", "auto", []),
        ("./new.sh", "auto", []),
        ("./check.sh", "off", []),
        ("python main.py", "on", ["main.py"]),
        ("go test", "on", ["lib/a_test.go"]),
        ("pytest", "on", ["conftest.py", "pyproject.toml", "tests/data.json", "tests/test_a.py"]),
    ],
)
async def test_what_is_restored_existed_and_is_a_check(
    command: str, restore: ProtectChecks, kept: list[str], project: Path
) -> None:
    checks = checks_of(project, command, restore)
    checks.begin("run-1", "Do it.")
    assert await checks.workspace.guard("run-1") == ""
    write(project, dict.fromkeys(PROJECT, "changed by the agent\n") | {"tests/test_new.py": "", "new.sh": ""})
    restored = await checks.workspace.restore_protected("run-1")
    assert sorted({*restored.restored} - {"pyproject.toml"} | ({"pyproject.toml"} & {*kept})) == kept
    assert (project / "tests/test_new.py").exists()
    assert (project / "new.sh").exists()
    undone = f"{', '.join(kept[:3])} must stay as before: changes are undone"
    assert checks.conditions[1:] == ([undone] if kept else [])


def test_a_resumed_run_compares_with_its_start(project: Path) -> None:
    checks_of(project, "./check.sh").begin("run-1", "Do it.")
    write(project, {"check.sh": "true", "conftest.py": "x"})
    later = checks_of(project, "./check.sh")
    later.recall("run-1", "")
    assert later.changed() == {"./check.sh": ("check.sh", "conftest.py")}
    later.recall("another", "")
    assert later.changed() == {}
    assert later.conditions == ["`./check.sh` must pass"]


def test_what_the_user_changes_between_stop_and_resume_is_not_the_runs(project: Path) -> None:
    stopped = checks_of(project, "./check.sh")
    stopped.begin("run-1", "Do it.")
    write(project, {"conftest.py": "the agent's"})
    stopped.rest()
    write(project, {"check.sh": "the user's", "lib/common.sh": "the user's", "conftest.py": "the user's, too"})
    (project / "tests/data.json").unlink()
    resumed = checks_of(project, "./check.sh")
    resumed.recall("run-1", "Do it.")
    assert resumed.changed() == {"./check.sh": ("conftest.py",)}
    write(project, {"tests/test_a.py": "the agent's"})
    crashed = checks_of(project, "./check.sh")
    crashed.recall("run-1", "Do it.")
    assert crashed.changed() == {"./check.sh": ("conftest.py", "tests/test_a.py")}


@pytest.mark.parametrize(
    ("task", "kept"),
    [
        ("Make the tests pass.", ["check.sh"]),
        ("Let check.shell be.", ["check.sh"]),
        ("Add a case to check.sh.", []),
        ("Rewrite `./check.sh` in Python", []),
    ],
)
def test_what_the_task_names_is_not_restored(task: str, kept: list[str], project: Path) -> None:
    checks = checks_of(project, "./check.sh")
    checks.begin("run-1", task)
    assert checks.workspace.protection is not None
    also = dict.fromkeys([project / name for name in kept], "the check `./check.sh` runs")
    assert checks.workspace.protection.also == also


@pytest.mark.parametrize("name", ["check.sh", "verify.py", "tests/run.py", "ci/gate.sh", "done.sh", "gradlew", "qa.js"])
def test_a_check_is_known_by_its_name(name: str) -> None:
    assert is_judge(name)


@pytest.mark.parametrize(
    "name", ["main.py", "contest.py", "latest.py", "build.sh", "scripts/build.sh", "app.js", "run.sh"]
)
def test_the_work_itself_is_no_check(name: str) -> None:
    assert not is_judge(name)


def test_hostile_commands_and_files_are_read_with_bounds(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("./check.sh " * 200_000)
    assert check_files(["./check.sh"], tmp_path) == CheckFiles(named=("check.sh",), fixed=("/check.sh",))
    assert check_files("sh 'open", tmp_path) == CheckFiles()
    assert check_files(["sh", "../outside.sh"], tmp_path) == CheckFiles()
    assert check_files(["x" * 5000, "/", ".", "", "\0"], tmp_path) == CheckFiles()
